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

_BLOCK: Final = 1 << 16
_PIECE: Final = 1 << 20
_LONGEST: Final = 4
"""Octets of a character at most."""
_NOTHING: Final = 0xFFFFFFFF
"""Stands for the code point of what is read and is no character."""
_CUT_FOUR: Final = re.compile(rb"[\x81-\xfe][0-9][\x81-\xfe]?\Z")
_SHIFT: Final = re.compile(rb"[\x0e\x0f\x1b]")
_JIS: Final = 3
_ESCAPES: Final = ((b"(B", 0), (b"(J", 1), (b"(I", 2), (b"$@", _JIS), (b"$B", _JIS))
"""What ISO-2022-JP switches to: ASCII, JIS X 0201's Roman letters and its Katakana, JIS X 0208."""

_Points = NDArray[np.uint32]
_Octets = NDArray[np.uint8]
_Mask = NDArray[np.bool_]
_Places = NDArray[np.intp]


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
            return _Iso2022Jp()
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


class _Several:
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
        return characters[characters != _NOTHING].astype("<u4").tobytes().decode("utf-32-le"), passed

    def _plain(self, block: bytes) -> bool:
        return block.isascii()

    def _look(self, octets: _Octets, size: int) -> tuple[_Points, _Mask]:
        """What would begin at each of the first ``size`` octets, which zeros follow; and whether it does."""
        raise NotImplementedError

    def _end(self, block: bytes, begins: _Mask) -> None:
        """Corrects where the end of the text is not what an octet of ASCII would be."""

    def _pass(self, passed: int) -> None:
        """So many octets of the block are done with."""


class _Paired(_Several):
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

    def _look(self, octets: _Octets, size: int) -> tuple[_Points, _Mask]:
        keys = _keys(octets)[:size]
        pairs = _alternate(np.flatnonzero(self._index.pairs[keys]))
        return self._index.points[keys], _but(size, pairs + 1)


def _keys(octets: _Octets) -> NDArray[np.uint16]:
    """Each octet with the next one: the indexes' keys."""
    return (octets[:-1].astype(np.uint16) << np.uint16(8)) | octets[1:]


def _alternate(places: _Places, step: int = 1) -> _Places:
    """The first, third, fifth, … of places that lie in a row, ``step`` from one to the next: the others are taken."""
    numbers = np.arange(len(places))
    opens = np.ones(len(places), np.bool_)
    opens[1:] = places[1:] - places[:-1] != step
    first = np.maximum.accumulate(np.where(opens, numbers, 0))
    odd: _Mask = (numbers - first) % 2 == 0
    return places[odd]


def _but(size: int, *covered: _Places) -> _Mask:
    """All places but these, of which some may be behind the last."""
    mask = np.ones(size + _LONGEST, np.bool_)
    for places in covered:
        mask[places] = False
    return mask[:size]


class _EucJp(_Paired):
    """As pairs; and 0x8F before those of JIS X 0212."""

    def _look(self, octets: _Octets, size: int) -> tuple[_Points, _Mask]:
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
        return points, _but(size, begins + 1, begins[lengths[begins] == 3] + 2)


class _Gb18030(_Paired):
    """As pairs; and four octets, two halves of an octet and a digit each."""

    def _look(self, octets: _Octets, size: int) -> tuple[_Points, _Mask]:
        keys = _keys(octets)[:size]
        points = self._index.points[keys]
        lead, digit = (octets > 0x80) & (octets < 0xFF), (octets > 0x2F) & (octets < 0x3A)
        half = lead[:size] & digit[1 : size + 1]
        begun = _alternate(np.flatnonzero(self._index.pairs[keys] | half))
        halves = begun[half[begun]]
        four = _alternate(halves, 2)
        four = four[np.isin(four + 2, halves, assume_unique=True)]
        first, second, third, fourth = (octets[four + at].astype(np.int64) for at in range(4))
        pointer = ((first * 10 + second) * 126 + third) * 10 + fourth - (((0x81 * 10 + 0x30) * 126 + 0x81) * 10 + 0x30)
        basic = encoding_indexes.gb18030_fours()
        code_points = np.where(pointer < len(basic), basic[np.minimum(pointer, len(basic) - 1)], MALFORMED)
        points[four] = np.where((pointer >= 189_000) & (pointer < 1_237_576), pointer - 189_000 + 0x10000, code_points)
        return points, _but(size, begun[~half[begun]] + 1, four + 1, four + 2, four + 3)

    def _end(self, block: bytes, begins: _Mask) -> None:
        # A digit that is read again when a wrong octet follows it belongs to what the end cuts.
        for at in range(max(len(block) - 3, 0), len(block)):
            if begins[at] and _CUT_FOUR.match(block, at):
                begins[at + 1 :] = False


class _Iso2022Jp(_Several):
    """Octets of ASCII alone, read by the last escape before them. Any escape octet ends what is before it."""

    def __init__(self) -> None:
        super().__init__()
        self._mode = 0
        self._escaped = False
        """Whether the last of what was read is an escape: of two in a row the second is malformed."""
        self._escapes: _Places = np.empty(0, np.intp)
        self._modes: NDArray[np.int8] = np.empty(0, np.int8)

    def _plain(self, block: bytes) -> bool:
        return not self._mode and not self._escaped and block.isascii() and not _SHIFT.search(block)

    def _look(self, octets: _Octets, size: int) -> tuple[_Points, _Mask]:
        self._find_escapes(octets, size)
        spans = np.diff(self._escapes, prepend=0, append=size)
        mode = np.repeat(np.concatenate(([np.int8(self._mode)], self._modes)), spans)
        points, pair = _by_mode(octets[:size], octets[1 : size + 1], mode)
        points[self._escapes] = _NOTHING
        again = self._escapes[np.diff(self._escapes, prepend=-3 if self._escaped else -4) == 3]
        points[again] = MALFORMED
        inside = _but(size, self._escapes, self._escapes + 1, self._escapes + 2)
        pairs = _alternate(np.flatnonzero(pair & inside))
        return points, _but(size, pairs + 1, self._escapes + 1, self._escapes + 2)

    def _find_escapes(self, octets: _Octets, size: int) -> None:
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


def _by_mode(first: _Octets, second: _Octets, mode: NDArray[np.int8]) -> tuple[_Points, _Mask]:
    """What ISO-2022-JP reads at each octet but its escapes, and whether it takes the next octet too."""
    points = encoding_indexes.iso2022_singles()[mode, first]
    lead = (mode == _JIS) & (first > 0x20) & (first < 0x7F)
    pair = np.flatnonzero(lead & (second > 0x20) & (second < 0x7F))
    points[pair] = encoding_indexes.jis0208()[first[pair] - 0x21, second[pair] - 0x21]
    return points, lead & (second != 0x1B)
