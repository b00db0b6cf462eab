"""Texts in other encodings than UTF-8, as the decoders of the Encoding Standard read them (sections 9 to 14).

Python's codecs part ways with the standard in some characters, in how many U+FFFD stand for octets that are no
character, and in where reading goes on behind them. Where an octet is a character, a table does; where several are,
what would begin at each octet is looked up for all of a block at once, and one pass takes what really begins.
"""

import codecs
import re
from contextlib import suppress
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gregor.worker.web.encodings import indexes as encoding_indexes
from gregor.worker.web.encodings.indexes import MALFORMED
from gregor.worker.web.encodings.iso2022 import Iso2022Jp
from gregor.worker.web.encodings.several import Mask, Octets, Points, Several, alternate, but

_PIECE: Final = 1 << 20
_CUT_FOUR: Final = re.compile(rb"[\x81-\xfe][0-9][\x81-\xfe]?\Z")

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


class Decoder(Protocol):
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


def decoder(encoding: str) -> Decoder:
    """A new decoder for an encoding by its name in the Encoding Standard. No octets make one raise."""
    match encoding:
        case "utf-8":
            return codecs.getincrementaldecoder(encoding)("replace")
        case "utf-16le" | "utf-16be":
            return _Utf16(encoding)
        case "replacement":
            return _Refused()
        case "gbk" | "gb18030":
            return _Gb18030("gb18030")
        case "euc-jp":
            return _EucJp(encoding)
        case "shift_jis" | "euc-kr" | "big5":
            return _Paired(encoding)
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
        self._order = "<u2" if encoding == "utf-16le" else ">u2"
        self._rest = b""

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        octets = self._rest + octets
        units = np.frombuffer(octets, self._order, len(octets) // 2).astype("<u2")
        high, low = (units & 0xFC00) == 0xD800, (units & 0xFC00) == 0xDC00
        held = 0 if final or not len(units) else int(high[-1])  # its other half may still come
        paired = np.zeros(len(units) + 1, bool)
        paired[:-2] = high[:-1] & low[1:]
        units[(high & ~paired[:-1]) | (low & ~np.roll(paired, 1)[:-1])] = 0xFFFD
        self._rest = octets[2 * (len(units) - held) :]
        text = units[: len(units) - held].tobytes().decode("utf-16-le")
        cut = final and len(octets) % 2 and not (len(units) and high[-1])  # one fault, be it also of a half
        return f"{text}\ufffd" if cut else text


class _Refused:
    """Whatever there is, is one U+FFFD."""

    def __init__(self) -> None:
        self._begun = False

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        if self._begun or not octets:
            return ""
        self._begun = True
        return "\ufffd"


class _Paired(Several):
    """Pairs of octets, and single ones."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._index = encoding_indexes.pairs(encoding)
        self._sequences = encoding_indexes.SEQUENCES if encoding == "big5" else {}

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        text = super().decode(octets, final)
        for private, sequence in self._sequences.items():
            text = text.replace(private, sequence)
        return text

    def _look(self, octets: Octets, size: int) -> tuple[Points, Mask]:
        keys = _keys(octets)[:size]
        pairs = alternate(np.flatnonzero(self._index.pairs[keys]))
        return self._index.points[keys], but(size, pairs + 1)


def _keys(octets: Octets) -> NDArray[np.uint16]:
    """Each octet with the next one: the indexes' keys."""
    return (octets[:-1].astype(np.uint16) << np.uint16(8)) | octets[1:]


class _EucJp(_Paired):
    """As pairs; and 0x8F before those of JIS X 0212."""

    def _look(self, octets: Octets, size: int) -> tuple[Points, Mask]:
        if not (octets == 0x8F).any():
            return super()._look(octets, size)
        keys = _keys(octets)
        points, lengths = self._index.points[keys[:size]], self._index.pairs[keys[:size]] + np.uint8(1)
        three = np.flatnonzero((octets[:size] == 0x8F) & (octets[1 : size + 1] > 0xA0) & (octets[1 : size + 1] < 0xFF))
        points[three] = encoding_indexes.jis0212()[keys[three + 1]]
        lengths[three] = np.where((points[three] == MALFORMED) & (octets[three + 2] < 0x80), 2, 3)
        several, free, taken = np.flatnonzero(lengths > 1), 0, []
        for at, length in zip(several.tolist(), lengths[several].tolist(), strict=True):
            if at >= free:
                taken.append(at)
                free = at + length
        begins = np.array(taken, np.intp)
        return points, but(size, begins + 1, begins[lengths[begins] == 3] + 2)


class _Gb18030(_Paired):
    """As pairs; and four octets, two halves of an octet and a digit each."""

    def _look(self, octets: Octets, size: int) -> tuple[Points, Mask]:
        keys = _keys(octets)[:size]
        points = self._index.points[keys]
        lead, digit = (octets > 0x80) & (octets < 0xFF), (octets > 0x2F) & (octets < 0x3A)
        half = lead[:size] & digit[1 : size + 1]
        begun = alternate(np.flatnonzero(self._index.pairs[keys] | half))
        halves = begun[half[begun]]
        four = alternate(halves, 2)
        four = four[np.isin(four + 2, halves, assume_unique=True)]
        first, second, third, fourth = (octets[four + at].astype(np.int64) for at in range(4))
        pointer = ((first * 10 + second) * 126 + third) * 10 + fourth - (((0x81 * 10 + 0x30) * 126 + 0x81) * 10 + 0x30)
        basic = encoding_indexes.gb18030_fours()
        code_points = np.where(pointer < len(basic), basic[np.minimum(pointer, len(basic) - 1)], MALFORMED)
        points[four] = np.where((pointer >= 189_000) & (pointer < 1_237_576), pointer - 189_000 + 0x10000, code_points)
        return points, but(size, begun[~half[begun]] + 1, four + 1, four + 2, four + 3)

    def _end(self, block: bytes, begins: Mask) -> None:
        # A digit that is read again when a wrong octet follows it belongs to what the end cuts.
        for at in range(max(len(block) - 3, 0), len(block)):
            if begins[at] and _CUT_FOUR.match(block, at):
                begins[at + 1 :] = False
