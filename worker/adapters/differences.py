"""Which numbers are in one set and not in another, in bounded memory."""

import tempfile
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

# Numbers of the left set that are held at a time.
_HELD: Final = 1 << 19
_BLOCK: Final = 1 << 16


class Differences:
    """`Sets`: numbers wait in unnamed files, and are compared in as many passes as the bound on memory asks for."""

    def __init__(self, held: int = _HELD) -> None:
        self._held = held
        self._files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115 - closed with the object
        self._totals = [0, 0]

    def left(self, numbers: Sequence[int]) -> None:
        """Add unsigned 64-bit numbers to the left set."""
        self._add(0, numbers)

    def right(self, numbers: Sequence[int]) -> None:
        """Add unsigned 64-bit numbers to the right set."""
        self._add(1, numbers)

    def only_left(self, most: int) -> tuple[set[int], int]:
        """See `Sets.only_left`."""
        passes = self._totals[0] // self._held + 1
        numbers: set[int] = set()
        count = 0
        for number in range(passes):
            alone = self._of(0, number, passes)
            for block in self._blocks(1):
                alone.difference_update(block)
            count += len(alone)
            numbers.update(sorted(alone)[: max(0, most - len(numbers))])
        return numbers, count

    def close(self) -> None:
        """Free what was kept."""
        for file in self._files:
            file.close()

    def _add(self, side: int, numbers: Sequence[int]) -> None:
        self._totals[side] += len(numbers)
        self._files[side].write(array("Q", numbers).tobytes())

    def _of(self, side: int, number: int, passes: int) -> set[int]:
        if passes == 1:
            return set(chain.from_iterable(self._blocks(side)))
        return {value for block in self._blocks(side) for value in block if value % passes == number}

    def _blocks(self, side: int) -> Iterator["array[int]"]:
        file = self._files[side]
        file.seek(0)
        while data := file.read(_BLOCK * 8):
            yield array("Q", data)
        file.seek(0, 2)
