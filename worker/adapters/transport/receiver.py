"""The body of one answer on its way in: content codings removed step by step, every size capped."""

from collections.abc import Callable

from gregor.worker.adapters.transport.framing import Framing
from gregor.worker.adapters.transport.http1 import Head
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Limits, Response, Truncation
from gregor.worker.fetch.content_coding import Corrupt, Decoder, TooLarge


class Receiver:
    """Takes the pieces of a body as they arrive.

    After `finish`, `truncated` says why the body is not whole, and `corrupt` why nothing of it could be decoded.
    """

    def __init__(self, headers: list[tuple[str, str]], limits: Limits, framing: Framing) -> None:
        coding = ", ".join(value for name, value in headers if name.lower() == "content-encoding").strip()
        self._decoder = Decoder(coding, limits.max_body) if coding and coding.lower() != "identity" else None
        self._room = limits.max_wire if self._decoder else min(limits.max_wire, limits.max_body)
        self.wire = SpooledBody(cap=self._room)
        self.body = SpooledBody(cap=limits.max_body) if self._decoder else self.wire
        self._framing = framing
        self.truncated: Truncation | None = None
        self.corrupt: str | None = None

    def feed(self, piece: bytes) -> bool:
        """Take a piece as received; False when no more is wanted. What comes after the stated length is no body."""
        if (length := self._framing.length) is not None:
            piece = piece[: max(0, length - self.wire.size)]
        if len(piece) > self._room:
            piece = piece[: self._room]
            self.truncated = "size"
        self._room -= len(piece)
        self.wire.write(piece)
        if (decoder := self._decoder) is not None:
            self._decode(lambda: decoder.feed(piece))
        return self.truncated is None and self.corrupt is None

    def finish(self, truncated: Truncation | None) -> None:
        """No more comes; `truncated` says why, None at the regular end. The length has to be as stated."""
        self.truncated = self.truncated or truncated
        if self.truncated is None and self._framing.length not in (None, self.wire.size):
            self.truncated = "cut"
        elif self.truncated is None and self._framing.unclear:
            self.truncated = "length"
        if self._decoder is not None and self.truncated is None and self.corrupt is None:
            self._decode(self._decoder.finish)

    @property
    def complete(self) -> bool:
        """As much has come as was stated."""
        return self._framing.length == self.wire.size

    def response(
        self,
        head: Head,
        *,
        request_head: bytes,
        response_head: bytes,
        address: str,
        latency: float,
        elapsed: float,
        connect: float = 0.0,
        tls: float = 0.0,
    ) -> Response:
        """The answer with this head, whose bodies are these: see `Response`."""
        return Response(
            status=head.status,
            reason=head.reason,
            headers=head.headers,
            http_version=head.version,
            body=self.body,
            wire_body=None if self.wire is self.body else self.wire,
            request_head=request_head,
            response_head=response_head,
            address=address,
            latency=latency,
            elapsed=elapsed,
            truncated=self.truncated,
            connect=connect,
            tls=tls,
        )

    def close(self) -> None:
        """Drop what was received."""
        self.wire.close()
        self.body.close()

    def _decode(self, step: Callable[[], bytes]) -> None:
        try:
            self.body.write(step())
        except TooLarge:
            self.truncated = self.truncated or "size"
        except Corrupt as fault:
            # What was decoded before the fault is kept, with a mark, as browsers show it.
            if self.body.size:
                self.truncated = self.truncated or "cut"
            else:
                self.corrupt = str(fault)
