"""Content-Encoding removed step by step (RFC 9110 section 8.4), bounded at every step.

However much a body would expand to, no more than the limit and one piece of a stage (128 KiB) is ever in memory; and
whatever little it expands to, it is taken apart into no more than a number of pieces.
"""

import math
from collections.abc import Iterator
from typing import Final

from gregor.worker.fetch.inflaters import HEAD, STEP, Corrupt, Stage, stage

__all__ = ["CODINGS", "Corrupt", "Decoder", "TooLarge"]

CODINGS: Final = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd"})
"""What can be removed; worth an Accept-Encoding."""
MAX_CODINGS: Final = 5
"""How many codings one body may have."""
MAX_STEPS: Final = 100_000
"""Pieces of a body beyond those in which it was received (some 0.4 s): gzip members, zstd frames and blocks may be
empty, and then cost time but no size."""
_SLICE = 16 * 1024


class TooLarge(Exception):
    """The body decodes to more than the limit, or takes more steps."""


class Decoder:
    """Decodes one body, piece by piece.

    What could be decoded before a fault is returned first: the fault itself (TooLarge, Corrupt) is raised by the first
    call that has nothing to return, and by every later one. A body that is plainly not coded, whatever its header
    says, passes as it is.
    """

    def __init__(self, content_encoding: str, limit: int) -> None:
        """``content_encoding`` is the header, all its values joined by commas; ``limit`` the largest decoded size in
        bytes. Between two codings twice as much may pass, since what is compressed twice need not get smaller."""
        names = [name for word in content_encoding.lower().split(",") if (name := word.strip()) not in ("", "identity")]
        self.unknown: str | None = next((name for name in reversed(names) if name not in CODINGS), None)
        """The last coding that nobody here can remove (often an encoding of text, or nonsense). Browsers ignore it, and
        so does this: it stays, with all that were applied before it."""
        to_undo = names[len(names) - names[::-1].index(self.unknown) :] if self.unknown is not None else names
        self._steps = _Steps()
        bounds = [2 * limit + STEP if depth else None for depth in range(len(to_undo))]
        self._layers = [_Layer(name, most, self._steps) for name, most in zip(to_undo, bounds, strict=True)][::-1]
        self._left = limit
        self._fault: TooLarge | Corrupt | None = None
        if len(to_undo) > MAX_CODINGS:
            self._fault = Corrupt(f"more than {MAX_CODINGS} content codings")

    def feed(self, data: bytes) -> bytes:
        """What the next piece of the body decodes to; may be empty."""
        self._steps.left += len(self._layers)
        slices = (data[start : start + _SLICE] for start in range(0, len(data), _SLICE))
        return self._collect(piece for each in slices for piece in self._decoded(each, 0))

    def finish(self) -> bytes:
        """The rest, after the last piece; raises Corrupt if the body is not whole."""
        return self._collect(self._rest())

    def _collect(self, pieces: Iterator[bytes]) -> bytes:
        if self._fault is not None:
            raise self._fault
        decoded = []
        try:
            for piece in pieces:
                decoded.append(piece[: self._left])
                if len(piece) > self._left:
                    raise TooLarge
                self._left -= len(piece)
        except (TooLarge, Corrupt) as fault:
            self._fault = fault
        data = b"".join(decoded)
        if self._fault is not None and not data:
            raise self._fault
        return data

    def _decoded(self, data: bytes, depth: int) -> Iterator[bytes]:
        if depth == len(self._layers):
            yield data
            return
        for piece in self._layers[depth].feed(data):
            if piece:
                yield from self._decoded(piece, depth + 1)

    def _rest(self) -> Iterator[bytes]:
        for depth, layer in enumerate(self._layers):
            for piece in layer.finish():
                yield from self._decoded(piece, depth + 1)


class _Steps:
    """What is left of `MAX_STEPS` for all codings of a body."""

    def __init__(self) -> None:
        self.left = MAX_STEPS


class _Layer:
    """One coding, told by the first octets whether it is there at all."""

    def __init__(self, coding: str, limit: int | None, steps: _Steps) -> None:
        self._coding = coding
        self._steps = steps
        self._left = math.inf if limit is None else limit
        self._head = b""
        self._stage: Stage | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stage is None:
            self._head += data
            if len(self._head) < HEAD:
                return
            yield from self._begin()
        else:
            yield from self._capped(self._stage.feed(data))

    def finish(self) -> Iterator[bytes]:
        if self._stage is None:
            yield from self._begin()
        if self._stage is not None:
            yield from self._capped(self._stage.finish())

    def _begin(self) -> Iterator[bytes]:
        self._stage = stage(self._coding, self._head[:HEAD])
        data, self._head = self._head, b""
        return self._capped(self._stage.feed(data))

    def _capped(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._left -= len(piece)
            self._steps.left -= 1
            if self._left < 0 or self._steps.left < 0:
                raise TooLarge
            yield piece
