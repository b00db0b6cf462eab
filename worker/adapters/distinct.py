"""Counting distinct fingerprints in bounded memory."""

import tempfile
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Final, Self

import numpy as np
import numpy.typing as npt

# Fingerprints (8 bytes each) that are held at a time.
_HELD: Final = 1 << 19
_BLOCK: Final = 1 << 16


class Distinct:
    """Fingerprints wait in an unnamed file; they are counted in as many passes as the bound on memory asks for."""

    def __init__(self, held: int = _HELD) -> None:
        self._held = held
        self._total = 0
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the object

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def add(self, fingerprints: Sequence[int]) -> None:
        """Add unsigned 64-bit numbers."""
        self._total += len(fingerprints)
        self._file.write(np.array(fingerprints, dtype=np.uint64).tobytes())

    def count(self) -> int:
        """How many different ones were added."""
        passes = np.uint64(self._total // self._held + 1)
        return sum(self._count(number, passes) for number in range(int(passes)))

    def _count(self, number: int, passes: np.uint64) -> int:
        parts = [block[block % passes == number] for block in self._blocks()]
        return int(np.unique(np.concatenate(parts)).size) if parts else 0

    def _blocks(self) -> Iterator[npt.NDArray[np.uint64]]:
        self._file.seek(0)
        while data := self._file.read(_BLOCK * 8):
            yield np.frombuffer(data, dtype=np.uint64)
