"""The indexes of the Encoding Standard (section 5): which character an octet or a pair of octets is, and back.

Python's codecs have nearly the same; what stands below is where the standard differs. An index is made when it is first
needed (some hundredths of a second) and kept (3 MiB for one of pairs).
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Final

MALFORMED: Final = "\ufffd"
_SEQUENCES: Final = {
    b"\x88\x62": "\xca\u0304",
    b"\x88\x64": "\xca\u030c",
    b"\x88\xa3": "\xea\u0304",
    b"\x88\xa5": "\xea\u030c",
}
"""The pairs of Big5 that are two characters each."""

_LEADS: Final = range(0x81, 0xFF)
_ROW: Final = range(0xA1, 0xFF)

_CODECS: Final = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
_SINGLE: Final = {"koi8-u": {0xAE: "ў", 0xBE: "Ў"}, "windows-1255": {0xCA: "\u05ba"}}
_BIG5_IDEOGRAPHS: Final = """
    877A㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋
    8E69箸 8E6F簆 8E7E糎 8EAB緒 8EB4縝 8ECD者 8ED0耨 8F57菁 8F69蒨 8F6E萏 8FCB覦覩 8FFE起 906D都 907A銹 90DC靜
    90F1響 91BF鼖 9244蔃 92AF兙兛兝兞 92C8鍮 92D1瑹 9447浧 94CA禛 95D9邗 9644靝 96ED瀞 96FC嬨 9B76爁 9B78矗
    9B7B纇 9BC6駖 9BDE釔 9BEC惞 9BF6澶 9C42輶 9C53侻 9C62營 9C68鄄 9C6B鷰 9C77菏 9CBC尐秣 9CD0婧 9D57輋 9D5A筑
    9DC4拐 9EA9恢 9EEF痹 9EFD汊 9F60鬮 9F66鼗 9FCB僭 9FD8弌 A063蠏 A077拎 A0D5瑨 A0DF煢 A0E4牐 C6CF廴 C6D3无
    C6D5癶 C6D7隶 C6DE〃仝 FA5F倩 FA66偽 FABD包 FAC5卄 FAD5卿 FB48嘅 FBB8婷 FBF3幵 FBF9廐 FC4F彘 FC6C悤 FCB9撐
    FCE2晴 FCF1杞 FDB7沜渝 FDBB港 FDF1煮 FE52猪 FE6F瑜 FEAA瓩 FEDD砉
"""
"""What Python's big5hkscs lacks: rows that begin with the pair before them."""
_BIG5_SYMBOLS: Final = {
    0xA145: "\u2027",
    0xA14E: "\ufe51",
    0xA1C2: "\u00af",
    0xA1E3: "\uff5e",
    0xA1F2: "\u2295\u2299",
    0xA241: "\u2215\ufe68",
    0xA244: "\uffe5",
    0xA246: "\uffe0\uffe1",
    0xA3C0: "".join(map(chr, (*range(0x2400, 0x2420), 0x2421, 0x20AC))),
}
_GB18030: Final = {
    0xA3A0: "\u3000",
    0xA6D9: "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16",
    0xA6EC: "\ufe17\ufe18",
    0xA6F3: "\ufe19",
    0xA8BC: "\u1e3f",
    0xFE59: "龴",
    0xFE61: "龵",
    0xFE66: "龶龷",
    0xFE6D: "龸",
    0xFE7E: "龹",
    0xFE90: "龺",
    0xFEA0: "龻",
}
"""What Python's gb18030, of the year 2000, has among the private characters."""
_LAST_IN_BIG5: Final = frozenset({0x2550, 0x255E, 0x2561, 0x256A, 0x5341, 0x5345})
"""Characters of which the last of two ways to write them is taken."""


class EncodingTable(dict[bytes, str]):
    """What octets are read as that are a character, or a fault."""

    def __missing__(self, octets: bytes) -> str:
        self[octets] = MALFORMED  # there are few, and who reads nonsense meets them again and again
        return MALFORMED


class EncodingIndex(EncodingTable):
    """Of octets of ASCII, which are themselves, several may come at once."""

    def __missing__(self, octets: bytes) -> str:
        return octets.decode("ascii") if octets.isascii() else super().__missing__(octets)


@cache
def single(encoding: str) -> str:
    """The 256 characters of an encoding that has an octet a character; U+FFFD where it has none."""
    if encoding == "x-user-defined":
        return "".join(map(chr, range(0x80))) + "".join(map(chr, range(0xF780, 0xF800)))
    codec, others = _CODECS.get(encoding, encoding), _SINGLE.get(encoding, {})
    read = [others.get(octet) or bytes((octet,)).decode(codec, "replace") for octet in range(0x100)]
    if encoding.startswith("windows-"):
        read[0x80:0xA0] = [
            chr(0x80 + at) if character == "\ufffd" else character for at, character in enumerate(read[0x80:0xA0])
        ]
    return "".join(read)


@cache
def pairs(encoding: str) -> Mapping[bytes, str]:
    """An encoding in which some octets lead a pair: shift_jis, euc-jp, euc-kr, big5 or gb18030 (without fours)."""
    index = EncodingIndex((bytes((octet,)), chr(octet)) for octet in range(0x80))
    match encoding:
        case "shift_jis":
            index[b"\x80"] = "\x80"
            index |= {bytes((0xA1 + at,)): chr(0xFF61 + at) for at in range(63)}
            index |= _paired("cp932", [*range(0x81, 0xA0), *range(0xE0, 0xFD)])
        case "euc-jp":
            index |= {bytes((row + 0x80, cell + 0x80)): read for (row, cell), read in jis0208_pairs()}
            index |= {bytes((0x8E, 0xA1 + at)): chr(0xFF61 + at) for at in range(63)}
        case "euc-kr":
            index |= _paired("cp949", _LEADS)
        case "big5":
            index |= _paired("big5hkscs", _LEADS)
            ideographs = {int(row[:4], 16): row[4:] for row in _BIG5_IDEOGRAPHS.split()}
            index |= _replaced(ideographs | _BIG5_SYMBOLS, (*range(0x40, 0x7F), *_ROW)) | _SEQUENCES
        case _:
            index[b"\x80"] = "\u20ac"
            index |= _paired("gb18030", _LEADS) | _replaced(_GB18030, (*range(0x40, 0x7F), *range(0x80, 0xFF)))
    return index


_PAIR_LEADS: Final = {
    "shift_jis": [*range(0x81, 0xA0), *range(0xE0, 0xFD)],
    "euc-jp": [0x8E, 0x8F, *_ROW],
}


def pair_pattern(encoding: str) -> bytes:
    """What matches a pair of octets, one fault of two, and a lead that is alone.

    Of what is no pair, an octet of ASCII is not lost: it may be the "<" of a tag.
    """
    behind: dict[int, set[int]] = {lead: set(range(0x80, 0x100)) for lead in _PAIR_LEADS.get(encoding, _LEADS)}
    for octets, read in list(pairs(encoding).items()):
        if len(octets) == 2 and read != MALFORMED:
            behind[octets[0]].add(octets[1])
    leads: dict[bytes, list[int]] = {}
    for lead, trails in behind.items():
        leads.setdefault(_one_of(sorted(trails)), []).append(lead)
    return b"|".join(_one_of(alike) + trails for trails, alike in leads.items()) + rb"|[\x80-\xff]"


def _one_of(octets: Iterable[int]) -> bytes:
    return b"[" + b"".join(rb"\x%02x" % octet for octet in octets) + b"]"


def jis0208_pairs() -> list[tuple[bytes, str]]:
    """The characters of JIS X 0208 by their two octets."""
    return [(octets, read) for octets, read in list(jis0208().items()) if read != MALFORMED]


@cache
def jis0208() -> Mapping[bytes, str]:
    """By two octets from 0x21 on, the characters that EUC-JP and ISO-2022-JP reach; more are in Shift_JIS only."""
    trails = [*range(0x40, 0x7F), *range(0x80, 0xFD)]
    leads = [*range(0x81, 0xA0), *range(0xE0, 0xF0)]
    index, shift_jis = EncodingTable(), pairs("shift_jis")
    for row in range(94):
        for cell in range(94):
            lead, trail = leads[row // 2], trails[94 * (row % 2) + cell]
            read = shift_jis.get(bytes((lead, trail)), MALFORMED)
            if not "\ue000" <= read < "\uf900" and read != MALFORMED:
                index[bytes((0x21 + row, 0x21 + cell))] = read
    return index


@cache
def jis0212() -> Mapping[bytes, str]:
    """The characters that EUC-JP writes behind 0x8F, with it."""
    index = _read("euc_jp", (bytes((0x8F, row, cell)) for row in _ROW for cell in _ROW))
    index[b"\x8f\xa2\xb7"] = "\uff5e"
    return index


@cache
def octets_by_point(encoding: str) -> dict[int, bytes]:
    """What an encoder writes for the characters beyond ASCII that it has, by code point; for gbk and gb18030 without
    what takes four octets. Of several ways to write one it takes the first, but for a few."""
    if encoding not in ("shift_jis", "euc-jp", "euc-kr", "big5", "gbk", "gb18030"):
        table = enumerate(single(encoding))
        return {
            ord(character): bytes((octet,)) for octet, character in table if octet >= 0x80 and character != "\ufffd"
        }
    by_point: dict[int, bytes] = {}
    for octets, read in sorted(pairs("gb18030" if encoding == "gbk" else encoding).items()):
        if len(octets) != 2 or len(read) != 1 or read == MALFORMED or not _is_written(encoding, octets):
            continue
        point = ord(read)
        if point not in by_point or (encoding == "big5" and point in _LAST_IN_BIG5):
            by_point[point] = octets
    if encoding in ("shift_jis", "euc-jp"):
        by_point |= {0xA5: b"\\", 0x203E: b"~", 0x2212: by_point[0xFF0D]}
    if encoding == "shift_jis":
        by_point |= {0x80: b"\x80"} | {0xFF61 + at: bytes((0xA1 + at,)) for at in range(63)}
    elif encoding in ("gbk", "gb18030"):
        # The private characters that these had before are still written as they.
        replaced = {by_point[ord(read)] for read in "".join(_GB18030.values()) if read not in "\u3000\u1e3f"}
        by_point |= {ord(read): octets for octets, read in _read("gb18030", replaced).items()}
        by_point |= {0x20AC: b"\x80"} if encoding == "gbk" else {}
    return by_point


def _is_written(encoding: str, octets: bytes) -> bool:
    """Whether an encoder writes a pair, and not another one for the same character."""
    pair = int.from_bytes(octets, "big")
    match encoding:
        case "shift_jis":
            return not (0xED00 <= pair <= 0xEEFF or 0xF000 <= pair <= 0xF9FF)
        case "big5":
            return pair > 0xA100
        case _:
            return True


def _paired(codec: str, leads: Iterable[int]) -> dict[bytes, str]:
    """What Python's codec reads behind each of the leads."""
    return _read(codec, (bytes((lead, trail)) for lead in leads for trail in range(0x30, 0x100)))


def _read(codec: str, octets: Iterable[bytes]) -> dict[bytes, str]:
    """What Python's codec reads as one character."""
    read = {}
    for several in octets:
        with suppress(UnicodeDecodeError):
            character = several.decode(codec)
            if len(character) == 1:
                read[several] = character
    return read


def _replaced(rows: dict[int, str], trails: tuple[int, ...]) -> dict[bytes, str]:
    index = {}
    for start, row in rows.items():
        at = trails.index(start & 0xFF)
        for offset, character in enumerate(row, at):
            further, trail = divmod(offset, len(trails))
            index[bytes(((start >> 8) + further, trails[trail]))] = character
    return index
