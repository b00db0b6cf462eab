"""Which numbers are in one set and not in another, in bounded memory."""

import tempfile
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

# Numbers (8 bytes each) of one set that are held at a time.
_HELD: Final = 1 << 20
_BLOCK: Final = 1 << 17


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
        passes = np.uint64(max(self._totals) // self._held + 1)
        numbers: set[int] = set()
        count = 0
        for number in range(int(passes)):
            alone = np.setdiff1d(self._of(0, number, passes), self._of(1, number, passes))
            count += int(alone.size)
            numbers.update(int(left) for left in alone[: max(0, most - len(numbers))])
        return numbers, count

    def close(self) -> None:
        """Free what was kept."""
        for file in self._files:
            file.close()

    def _add(self, side: int, numbers: Sequence[int]) -> None:
        self._totals[side] += len(numbers)
        self._files[side].write(np.array(numbers, dtype=np.uint64).tobytes())

    def _of(self, side: int, number: int, passes: np.uint64) -> npt.NDArray[np.uint64]:
        parts = [block[block % passes == number] for block in self._blocks(side)]
        return np.unique(np.concatenate(parts)) if parts else np.array([], dtype=np.uint64)

    def _blocks(self, side: int) -> Iterator[npt.NDArray[np.uint64]]:
        file = self._files[side]
        file.seek(0)
        while data := file.read(_BLOCK * 8):
            yield np.frombuffer(data, dtype=np.uint64)
        file.seek(0, 2)
