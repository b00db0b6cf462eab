"""ISO-2022-JP, as the Encoding Standard reads it (section 12.2)."""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gregor.worker.web.encodings import indexes as encoding_indexes
from gregor.worker.web.encodings.indexes import MALFORMED
from gregor.worker.web.encodings.several import NOTHING, Mask, Octets, Places, Points, Several, alternate, but

_SHIFT: Final = re.compile(rb"[\x0e\x0f\x1b]")
_JIS: Final = 3
_ESCAPES: Final = ((b"(B", 0), (b"(J", 1), (b"(I", 2), (b"$@", _JIS), (b"$B", _JIS))
"""What ISO-2022-JP switches to: ASCII, JIS X 0201's Roman letters and its Katakana, JIS X 0208."""


class Iso2022Jp(Several):
    """Octets of ASCII alone, read by the last escape before them. Any escape octet ends what is before it."""

    def __init__(self) -> None:
        super().__init__()
        self._mode = 0
        self._escaped = False
        """Whether the last of what was read is an escape: of two in a row the second is malformed."""
        self._escapes: Places = np.empty(0, np.intp)
        self._modes: NDArray[np.int8] = np.empty(0, np.int8)

    def _plain(self, block: bytes) -> bool:
        return not self._mode and not self._escaped and block.isascii() and not _SHIFT.search(block)

    def _look(self, octets: Octets, size: int) -> tuple[Points, Mask]:
        self._find_escapes(octets, size)
        spans = np.diff(self._escapes, prepend=0, append=size)
        mode = np.repeat(np.concatenate(([np.int8(self._mode)], self._modes)), spans)
        points, pair = _by_mode(octets[:size], octets[1 : size + 1], mode)
        points[self._escapes] = NOTHING
        again = self._escapes[np.diff(self._escapes, prepend=-3 if self._escaped else -4) == 3]
        points[again] = MALFORMED
        inside = but(size, self._escapes, self._escapes + 1, self._escapes + 2)
        pairs = alternate(np.flatnonzero(pair & inside))
        return points, but(size, pairs + 1, self._escapes + 1, self._escapes + 2)

    def _find_escapes(self, octets: Octets, size: int) -> None:
        places = np.flatnonzero(octets[:size] == 0x1B)
        modes = np.full(len(places), -1, np.int8)
        for (second, third), mode in _ESCAPES:
            modes[(octets[places + 1] == second) & (octets[places + 2] == third)] = mode
        self._escapes, self._modes = places[modes >= 0], modes[modes >= 0]

    def _pass(self, passed: int) -> None:
        done = int(np.searchsorted(self._escapes, passed))
        if done:
            self._mode = int(self._modes[done - 1])
        self._escaped = bool(done) and int(self._escapes[done - 1]) + 3 == passed


def _by_mode(first: Octets, second: Octets, mode: NDArray[np.int8]) -> tuple[Points, Mask]:
    """What ISO-2022-JP reads at each octet but its escapes, and whether it takes the next octet too."""
    points = encoding_indexes.iso2022_singles()[mode, first]
    lead = (mode == _JIS) & (first > 0x20) & (first < 0x7F)
    pair = np.flatnonzero(lead & (second > 0x20) & (second < 0x7F))
    points[pair] = encoding_indexes.jis0208()[first[pair] - 0x21, second[pair] - 0x21]
    return points, lead & (second != 0x1B)
