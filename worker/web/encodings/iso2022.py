"""ISO-2022-JP, as the Encoding Standard reads it (section 12.2)."""

import codecs
import re
from functools import lru_cache
from typing import Final

from gregor.worker.web.encodings import indexes as encoding_indexes
from gregor.worker.web.encodings.indexes import MALFORMED

_SHIFT: Final = re.compile(rb"[\x0e\x0f\x1b]")
_ESCAPE: Final = re.compile(rb"\x1b(\([BJI]|\$[@B])")
_CUT: Final = re.compile(rb"\x1b[($]?\Z")
_PAIR: Final = re.compile(rb"[\x21-\x7e][^\x1b]|[\x00-\xff]", re.DOTALL)
_ASCII: Final = b"(B"
_JIS: Final = frozenset((b"$@", b"$B"))
_TABLES: Final = {
    _ASCII: "".join(MALFORMED if octet in b"\x0e\x0f\x1b" else chr(octet) for octet in range(0x80)) + 128 * MALFORMED,
    b"(I": MALFORMED * 0x21 + "".join(map(chr, range(0xFF61, 0xFFA0))) + 160 * MALFORMED,
}
_TABLES[b"(J"] = _TABLES[_ASCII].replace("\\", "\xa5").replace("~", "\u203e")
"""What an octet is in ASCII, in JIS X 0201's Katakana and in its Roman letters."""


class Iso2022Jp:
    """Octets of ASCII alone, read by the last escape before them. Any escape octet ends what is before it."""

    def __init__(self) -> None:
        self._mode = _ASCII
        self._escaped = False
        """Whether the last of what was read is an escape: of two in a row the second is malformed."""
        self._rest = b""

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        octets, self._rest = self._rest + octets, b""
        if self._mode == _ASCII and not self._escaped and octets.isascii() and not _SHIFT.search(octets):
            return octets.decode("ascii")
        if not final and (cut := _CUT.search(octets)):
            octets, self._rest = octets[: cut.start()], octets[cut.start() :]
        first, *others = _ESCAPE.split(octets)
        texts = [self._text(first)]
        for mode, between in zip(others[::2], others[1::2], strict=True):
            if self._escaped:
                texts.append(MALFORMED)
            self._mode, self._escaped = mode, True
            if between:
                texts.append(self._text(between))
        last = others[-1] if others else first
        if not final and self._lead_is_cut(last):
            texts[-1] = texts[-1][:-1]
            self._rest = last[-1:] + self._rest
            self._escaped = len(last) == 1 and bool(others)
        return "".join(texts)

    def _lead_is_cut(self, octets: bytes) -> bool:
        """Whether what follows an escape, or began before, ends in the first of two octets."""
        if self._mode not in _JIS or not octets:
            return False
        last = _PAIR.findall(octets)[-1]
        return len(last) == 1 and b"\x21" <= last <= b"\x7e"

    def _text(self, octets: bytes) -> str:
        """What stands between two escapes."""
        self._escaped = self._escaped and not octets
        return (_read_often if len(octets) < _OFTEN else _read)(octets, self._mode)


def _read(octets: bytes, mode: bytes) -> str:
    if mode not in _JIS:
        return codecs.charmap_decode(octets, "strict", _TABLES[mode])[0]
    return "".join(map(encoding_indexes.jis0208().__getitem__, _PAIR.findall(octets)))


_OFTEN: Final = 5
_read_often = lru_cache(4096)(_read)
"""Nonsense is escapes around a few octets, again and again."""
