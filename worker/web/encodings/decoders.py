"""Texts in other encodings than UTF-8, as the decoders of the Encoding Standard read them (sections 9 to 14).

Python's codecs part ways with the standard in some characters, in how many U+FFFD stand for octets that are no
character, and in where reading goes on behind them. Where an octet is a character, a table does; where several are,
a regular expression cuts the octets into characters and faults, and a dictionary reads them.
"""

import codecs
import re
from contextlib import suppress
from functools import cache
from typing import Final, Protocol

from gregor.worker.web.encodings import indexes as encoding_indexes
from gregor.worker.web.encodings.indexes import MALFORMED
from gregor.worker.web.encodings.iso2022 import Iso2022Jp
from gregor.worker.web.encodings.several import Several

_PIECE: Final = 1 << 20
_HALVES: Final = bytes(ord("H" if octet >> 2 == 0x36 else "L" if octet >> 2 == 0x37 else " ") for octet in range(256))
"""Which half of a character the higher octet of two of UTF-16 begins, if any: the first (H), or the last (L)."""
_ALONE: Final = bytes(0xFF if octet in b"HL" else 0 for octet in range(256))
_FOUR: Final = rb"[\x81-\xfe][0-9][\x81-\xfe][0-9]|[\x81-\xfe][0-9][\x81-\xfe]?\Z"
"""Four octets of gb18030, or what the end cuts of them: one fault, of which a digit is no character of its own."""
_THREE: Final = rb"\x8f[\xa1-\xfe](?:[\x80-\xff]|\Z|(?=[\x00-\x7f]))"
"""Three octets of EUC-JP, or two of them before one of ASCII."""

_ALIKE: Final[dict[str, tuple[str, re.Pattern[str] | None]]] = {
    "utf-16le": ("utf-16-le", None),
    "utf-16be": ("utf-16-be", None),
    "shift_jis": ("cp932", re.compile("[\uf8f0-\uf8f3]")),
    "euc-kr": ("cp949", None),
    "big5": ("big5hkscs", re.compile("[\xa2\xa3\xa5\u2022\u203e\u223c\u2609\u2641\uff0f\uff3c\uff64]")),
    "gb18030": (
        "gb18030",
        re.compile("[\u1e3f\ue5e5\ue78d-\ue796\ue7c7\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864]"),
    ),
}
"""Python's codecs whose text, where they find no fault, is that of the standard if none of some characters is in it."""


class TextDecoder(Protocol):
    """Reads a text piece by piece."""

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        """The text of the next piece as far as it is certain; with ``final`` of all that is left."""


def text(octets: bytes, encoding: str) -> str:
    """The whole of a text: at the speed of Python's codec where that agrees, as most texts are without fault."""
    codec, other = _ALIKE.get("gb18030" if encoding == "gbk" else encoding, ("", None))
    if codec:
        with suppress(UnicodeDecodeError):
            decoded = octets.decode(codec)
            if other is None or not other.search(decoded):
                return decoded
    reader = decoder(encoding)
    pieces = [reader.decode(octets[at : at + _PIECE]) for at in range(0, len(octets), _PIECE)]
    return "".join([*pieces, reader.decode(b"", True)])


def decoder(encoding: str) -> TextDecoder:
    """A new decoder for an encoding by its name in the Encoding Standard. No octets make one raise."""
    match encoding:
        case "utf-8":
            return codecs.getincrementaldecoder(encoding)("replace")
        case "utf-16le" | "utf-16be":
            return _Utf16(encoding)
        case "replacement":
            return _Refused()
        case "gbk" | "gb18030":
            return Several(_pattern("gb18030"), _gb18030().__getitem__)
        case "euc-jp":
            return Several(_pattern(encoding), _euc_jp().__getitem__)
        case "shift_jis" | "euc-kr" | "big5":
            return Several(_pattern(encoding), encoding_indexes.pairs(encoding).__getitem__)
        case "iso-2022-jp":
            return Iso2022Jp()
        case _:
            return _Single(encoding)


class _Single:
    """An octet is a character."""

    def __init__(self, encoding: str) -> None:
        self._table = encoding_indexes.single(encoding)

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        return codecs.charmap_decode(octets, "strict", self._table)[0]


class _Utf16:
    """Two octets are half of a character at least. Halves that stand alone are found for all of a piece at once:
    Python's decoder asks for each what to do."""

    def __init__(self, encoding: str) -> None:
        self._low = 0 if encoding == "utf-16le" else 1
        self._rest = b""

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        octets = self._rest + octets
        even = len(octets) // 2 * 2
        half = even and octets[even - 1 - self._low] & 0xFC == 0xD8  # its other half may still come
        if half and not final:
            even -= 2
        self._rest = octets[even:]
        high, low = octets[1 - self._low : even : 2], octets[self._low : even : 2]
        halves = high.translate(_HALVES).replace(b"HL", b"  ")
        if b"H" in halves or b"L" in halves:
            alone = int.from_bytes(halves.translate(_ALONE), "little")
            high = (int.from_bytes(high, "little") | alone).to_bytes(len(high), "little")  # U+FFFD
            marks = alone // 0xFF * 0xFD
            low = (int.from_bytes(low, "little") & ~alone | marks).to_bytes(len(low), "little")
        units = bytearray(even)
        units[0::2], units[1::2] = low, high
        cut = final and self._rest and not half  # one fault, be it also of a half
        return units.decode("utf-16-le") + (MALFORMED if cut else "")


class _Refused:
    """Whatever there is, is one U+FFFD."""

    def __init__(self) -> None:
        self._begun = False

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        if self._begun or not octets:
            return ""
        self._begun = True
        return "\ufffd"


@cache
def _pattern(encoding: str) -> re.Pattern[bytes]:
    longer = {"gb18030": _FOUR + b"|", "euc-jp": _THREE + b"|"}.get(encoding, b"")
    return re.compile(rb"[\x00-\x7f]+|" + longer + encoding_indexes.pair_pattern(encoding), re.DOTALL)


@cache
def _euc_jp() -> encoding_indexes.EncodingIndex:
    """As pairs; and 0x8F before those of JIS X 0212."""
    return encoding_indexes.EncodingIndex({**encoding_indexes.pairs("euc-jp"), **encoding_indexes.jis0212()})


class _Fours(encoding_indexes.EncodingIndex):
    """As pairs; and four octets, which are read when they are met."""

    def __missing__(self, octets: bytes) -> str:
        if len(octets) != 4 or octets.isascii():
            return super().__missing__(octets)
        if octets == b"\x81\x35\xf4\x37":
            return "\ue7c7"
        return octets.decode("gb18030", "replace")[0]


@cache
def _gb18030() -> encoding_indexes.EncodingIndex:
    return _Fours(encoding_indexes.pairs("gb18030"))
