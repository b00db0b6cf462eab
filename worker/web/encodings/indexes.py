"""The indexes of the Encoding Standard (section 5): which character an octet or a pair of octets is, and back.

Python's codecs have nearly the same; what stands below is where the standard differs. An index is made when it is first
needed (some hundredths of a second) and kept (320 KiB for one of pairs).
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MALFORMED: Final = 0xFFFD
SEQUENCES: Final = {"\ue000": "\xca\u0304", "\ue001": "\xca\u030c", "\ue002": "\xea\u0304", "\ue003": "\xea\u030c"}
"""The pairs of Big5 that are two characters each, and the private character that is in its index for each."""

_LEADS: Final = range(0x81, 0xFF)
_ROW: Final = range(0xA1, 0xFF)
_FOURS: Final = 39_420
"""Characters of the basic plane that gb18030 writes in four octets."""

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


class Pairs(NamedTuple):
    """What stands at an octet, by it and the one behind it (the first times 256, plus the second)."""

    points: NDArray[np.uint32]
    """The code point: MALFORMED for what is none."""
    pairs: NDArray[np.bool_]
    """Whether that takes both octets."""


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
def pairs(encoding: str) -> Pairs:
    """The index of an encoding in which some octets lead a pair: shift_jis, euc-jp, euc-kr, big5 or gb18030."""
    points = np.full((0x100, 0x100), MALFORMED, np.uint32)
    points[:0x80] = np.arange(0x80, dtype=np.uint32)[:, None]
    match encoding:
        case "shift_jis":
            points[0x80] = 0x80
            points[0xA1:0xE0] = np.arange(0xFF61, 0xFFA0, dtype=np.uint32)[:, None]
            leads = _paired(points, "cp932", [*range(0x81, 0xA0), *range(0xE0, 0xFD)])
        case "euc-jp":
            points[0xA1:0xFF, 0xA1:0xFF] = jis0208()[:94]
            points[0x8E, 0xA1:0xE0] = np.arange(0xFF61, 0xFFA0, dtype=np.uint32)
            leads = [0x8E, 0x8F, *_ROW]
        case "euc-kr":
            leads = _paired(points, "cp949", _LEADS)
        case "big5":
            leads = _paired(points, "big5hkscs", _LEADS)
            ideographs = {int(row[:4], 16): row[4:] for row in _BIG5_IDEOGRAPHS.split()}
            _replace(points, ideographs | _BIG5_SYMBOLS, (*range(0x40, 0x7F), *_ROW))
            points[0x88, (0x62, 0x64, 0xA3, 0xA5)] = [ord(character) for character in SEQUENCES]
        case _:
            points[0x80] = 0x20AC
            leads = _paired(points, "gb18030", _LEADS)
            _replace(points, _GB18030, (*range(0x40, 0x7F), *range(0x80, 0xFF)))
    both = np.zeros((0x100, 0x100), np.bool_)
    both[leads] = True
    # Of what is no pair, an octet of ASCII is not lost: it may be the "<" of a tag.
    both[:, :0x80] &= points[:, :0x80] != MALFORMED
    return Pairs(points.reshape(-1), both.reshape(-1))


@cache
def jis0208() -> NDArray[np.uint32]:
    """Rows of 94 characters: 94 that EUC-JP and ISO-2022-JP reach, and more that only Shift_JIS does."""
    points, _ = pairs("shift_jis")
    trails = np.array([*range(0x40, 0x7F), *range(0x80, 0xFD)])
    leads = np.array([*range(0x81, 0xA0), *range(0xE0, 0xFD)])
    rows = points.reshape(0x100, 0x100)[leads[:, None], trails].reshape(-1, 94)
    return np.where((rows >= 0xE000) & (rows < 0xF900), MALFORMED, rows).astype(np.uint32)


@cache
def iso2022_singles() -> NDArray[np.uint32]:
    """What an octet is in ASCII, in JIS X 0201's Roman and in its Katakana, and by itself in JIS X 0208."""
    points = np.full((4, 0x100), MALFORMED, np.uint32)
    points[:2, :0x80] = np.arange(0x80)
    points[:2, (0x0E, 0x0F, 0x1B)] = MALFORMED
    points[1, (0x5C, 0x7E)] = 0xA5, 0x203E
    points[2, 0x21:0x60] = np.arange(0xFF61, 0xFFA0)
    return points


@cache
def jis0212() -> NDArray[np.uint32]:
    """The characters that EUC-JP writes behind 0x8F, by the two octets there as in :class:`Pairs`."""
    points = np.full((0x100, 0x100), MALFORMED, np.uint32)
    for row in _ROW:
        for cell in _ROW:
            points[row, cell] = _point(bytes((0x8F, row, cell)), "euc_jp")
    points[0xA2, 0xB7] = 0xFF5E
    return points.reshape(-1)


@cache
def gb18030_fours() -> NDArray[np.uint32]:
    """The characters of the basic plane that gb18030 writes in four octets, in their order."""
    rest, fourth = np.divmod(np.arange(_FOURS), 10)
    rest, third = np.divmod(rest, 126)
    first, second = np.divmod(rest, 10)
    octets = np.stack((0x81 + first, 0x30 + second, 0x81 + third, 0x30 + fourth), axis=1).astype(np.uint8)
    points = np.frombuffer(octets.tobytes().decode("gb18030").encode("utf-32-le"), "<u4").astype(np.uint32)
    points[7457] = 0xE7C7
    return points


@cache
def octets_by_point(encoding: str) -> dict[int, bytes]:
    """What an encoder writes for the characters beyond ASCII that it has, by code point; for gbk and gb18030 without
    what takes four octets. Of several ways to write one it takes the first, but for a few."""
    if encoding not in ("shift_jis", "euc-jp", "euc-kr", "big5", "gbk", "gb18030"):
        table = enumerate(single(encoding))
        return {
            ord(character): bytes((octet,)) for octet, character in table if octet >= 0x80 and character != "\ufffd"
        }
    points, both = pairs("gb18030" if encoding == "gbk" else encoding)
    keys = np.flatnonzero(both & (points != MALFORMED))
    if encoding == "shift_jis":
        keys = keys[((keys < 0xED00) | (keys > 0xEEFF)) & ((keys < 0xF000) | (keys > 0xF9FF))]
    elif encoding == "big5":
        keys = keys[keys > 0xA100]
    by_point: dict[int, bytes] = {}
    for key, point in zip(keys.tolist(), points[keys].tolist(), strict=True):
        if point not in by_point or (encoding == "big5" and point in _LAST_IN_BIG5):
            by_point[point] = key.to_bytes(2, "big")
    if encoding in ("shift_jis", "euc-jp"):
        by_point |= {0xA5: b"\\", 0x203E: b"~", 0x2212: by_point[0xFF0D]}
    if encoding == "shift_jis":
        by_point |= {0x80: b"\x80"} | {0xFF61 + at: bytes((0xA1 + at,)) for at in range(63)}
    elif encoding in ("gbk", "gb18030"):
        # The private characters that these had before are still written as they.
        replaced = [
            by_point[ord(character)] for character in "".join(_GB18030.values()) if character not in "\u3000\u1e3f"
        ]
        by_point |= {_point(octets, "gb18030"): octets for octets in replaced}
        by_point |= {0x20AC: b"\x80"} if encoding == "gbk" else {}
    return by_point


def _paired(points: NDArray[np.uint32], codec: str, leads: Iterable[int]) -> list[int]:
    """Fills in what Python's codec reads behind each of the leads, which it returns."""
    leads = list(leads)
    for lead in leads:
        for trail in range(0x30, 0x100):
            points[lead, trail] = _point(bytes((lead, trail)), codec)
    return leads


def _point(octets: bytes, codec: str) -> int:
    try:
        read = octets.decode(codec)
    except UnicodeDecodeError:
        return MALFORMED
    return ord(read) if len(read) == 1 else MALFORMED


def _replace(points: NDArray[np.uint32], rows: dict[int, str], trails: tuple[int, ...]) -> None:
    for start, row in rows.items():
        at = trails.index(start & 0xFF)
        for offset, character in enumerate(row, at):
            further, trail = divmod(offset, len(trails))
            points[(start >> 8) + further, trails[trail]] = ord(character)
