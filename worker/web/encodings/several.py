"""Encodings in which several octets may be a character: a block is read at once, by what would begin at each octet."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_BLOCK: Final = 1 << 16
_LONGEST: Final = 4
"""Octets of a character at most."""
NOTHING: Final = 0xFFFFFFFF
"""Stands for the code point of what is read and is no character."""

Points = NDArray[np.uint32]
Octets = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


class Several:
    """Several octets may be a character."""

    def __init__(self) -> None:
        self._rest = b""

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        octets, at, texts = self._rest + octets, 0, []
        while len(octets) - at >= (1 if final else _LONGEST):
            block = octets[at : at + _BLOCK]
            text, passed = self._read(block, last=final and at + len(block) == len(octets))
            texts.append(text)
            at += passed
        self._rest = octets[at:]
        return "".join(texts)

    def _read(self, block: bytes, *, last: bool) -> tuple[str, int]:
        """The text of what begins before the last octets, which may be cut, and how many octets that is."""
        until = len(block) if last else len(block) - _LONGEST + 1
        if self._plain(block):
            return block[:until].decode("ascii"), until
        points, begins = self._look(np.frombuffer(block + bytes(_LONGEST), np.uint8), len(block))
        if last:
            self._end(block, begins)
        further = np.flatnonzero(begins[until:])
        passed = until + int(further[0]) if len(further) else len(block)
        self._pass(passed)
        characters = points[:until][begins[:until]]
        return characters[characters != NOTHING].astype("<u4").tobytes().decode("utf-32-le"), passed

    def _plain(self, block: bytes) -> bool:
        return block.isascii()

    def _look(self, octets: Octets, size: int) -> tuple[Points, Mask]:
        """What would begin at each of the first ``size`` octets, which zeros follow; and whether it does."""
        raise NotImplementedError

    def _end(self, block: bytes, begins: Mask) -> None:
        """Corrects where the end of the text is not what an octet of ASCII would be."""

    def _pass(self, passed: int) -> None:
        """So many octets of the block are done with."""


def alternate(places: Places, step: int = 1) -> Places:
    """The first, third, fifth, … of places that lie in a row, ``step`` from one to the next: the others are taken."""
    numbers = np.arange(len(places))
    opens = np.ones(len(places), np.bool_)
    opens[1:] = places[1:] - places[:-1] != step
    first = np.maximum.accumulate(np.where(opens, numbers, 0))
    odd: Mask = (numbers - first) % 2 == 0
    return places[odd]


def but(size: int, *covered: Places) -> Mask:
    """All places but these, of which some may be behind the last."""
    mask = np.ones(size + _LONGEST, np.bool_)
    for places in covered:
        mask[places] = False
    return mask[:size]
