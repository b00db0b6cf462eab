import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.web.encodings import decoders, sniff
from gregor.worker.web.encodings import indexes as encoding_indexes

SEVERAL = ["shift_jis", "euc-jp", "euc-kr", "big5", "gb18030", "gbk", "iso-2022-jp"]
ALL = [*SEVERAL, "utf-8", "utf-16le", "utf-16be", "replacement", "x-user-defined", "windows-1252", "koi8-u"]


def read(encoding: str, octets: bytes) -> str:
    found = decoders.decoder(encoding).decode(octets, True)
    assert decoders.text(octets, encoding) == found
    return found


@pytest.mark.parametrize(
    ("encoding", "octets", "expected"),
    [
        ("windows-1252", b"\x80\x81\x8d\x9d\xe9", "€\x81\x8d\x9dé"),  # no octet is undefined
        ("windows-1253", b"\x81\xaa\xd2\xff", "\x81\ufffd\ufffd\ufffd"),  # but behind the controls some are
        ("windows-1255", b"\xca\xd9\xe0", "\u05ba\ufffdא"),
        ("windows-1257", b"\xa1\xa5", "\ufffd\ufffd"),
        ("windows-874", b"\x80\x81\xdb\xa1", "€\x81\ufffdก"),
        ("iso-8859-8-i", b"\xe0\xa1", "א\ufffd"),
        ("iso-8859-6", b"\xc7\xa1", "ا\ufffd"),
        ("koi8-u", b"\xa4\xae\xbe\xc1", "єўЎа"),
        ("koi8-r", b"\xae\xc1", "\u255dа"),
        ("ibm866", b"\x80\xff", "А\xa0"),
        ("macintosh", b"\xdb\xf0", "€\uf8ff"),
        ("x-mac-cyrillic", b"\xa2\xb6\xff", "Ґґ€"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("replacement", b"<a href=x>", "\ufffd"),
        ("replacement", b"", ""),
    ],
)
def test_an_octet_is_a_character(encoding: str, octets: bytes, expected: str) -> None:
    assert read(encoding, octets) == expected


@pytest.mark.parametrize(
    ("encoding", "octets", "expected"),
    [
        ("shift_jis", b"\x80\xb1\x5c\x7e\x81\x60\x87\x40\xfa\x40", "\x80\uff71\\~\uff5e①ⅰ"),
        ("shift_jis", b"\xf0\x40\xf9\xfc", "\ue000\ue757"),  # the user's own characters
        ("euc-jp", b"\xa1\xc1\xad\xa1\x8e\xb1\x8f\xa2\xb7\x8f\xb0\xa1", "\uff5e①\uff71\uff5e丂"),
        ("euc-jp", b"\xf9\xa1\xfc\xe2", "纊髙"),
        ("euc-kr", b"\xb0\xa1\x81\x41\xc8\xfe", "가갂힝"),
        ("big5", b"\xa3\xe1\x87\x7a\x88\x62\x88\xa5\xa1\x45", "€\u3875\xca\u0304\xea\u030c\u2027"),
        ("big5", b"\x8e\x69\xf9\xd6\xc6\xde", "箸碁〃"),
        ("gb18030", b"\x80\xa3\xa0\xa6\xd9\xa8\xbc\xfe\x59\x81\x35\xf4\x37", "€\u3000\ufe10\u1e3f\u9fb4\ue7c7"),
        ("gb18030", b"\x81\x30\x81\x30\x90\x30\x81\x30\xe3\x32\x9a\x35", "\x80\U00010000\U0010ffff"),
        ("iso-2022-jp", b"a\x1b$B$\x22-!\x1b(J\\~\x1b(I1\x1b(B\\", "aあ①¥\u203e\uff71\\"),
    ],
)
def test_pairs_are_the_standards(encoding: str, octets: bytes, expected: str) -> None:
    assert read(encoding, octets) == expected


@pytest.mark.parametrize(
    ("encoding", "octets", "expected"),
    [
        ("shift_jis", b"\xa0\xfd\x82<a>", "\ufffd\ufffd\ufffd<a>"),
        ("shift_jis", b"\x82\xfe<", "\ufffd<"),
        ("shift_jis", b"\x82", "\ufffd"),
        ("euc-jp", b"\xa4<\x8f\xb0<\x8f<", "\ufffd<\ufffd<\ufffd<"),
        ("euc-jp", b"\xa4\x80\x8f\xa1\xa1\x8e\xe0a", "\ufffd\ufffd\ufffda"),
        ("euc-jp", b"\x8f\xb0", "\ufffd"),
        ("euc-kr", b"\x80\xff\xb0<\xc9\xa1<", "\ufffd\ufffd\ufffd<\ufffd<"),
        ("big5", b"\xa4<\x81\x40\xa4\xff\x80", "\ufffd<\ufffd@\ufffd\ufffd"),
        ("gb18030", b"\xff\x81<\x81\xff\x81\x300<", "\ufffd\ufffd<\ufffd\ufffd00<"),
        ("gb18030", b"\x81\x30\x81<\x81\x30\x81\x30", "\ufffd0\ufffd<\x80"),
        ("gb18030", b"\xe3\x32\x9a\x36<", "\ufffd<"),
        ("gb18030", b"a\x81\x30", "a\ufffd"),  # what the end cuts is one fault
        ("gb18030", b"a\x81\x30\x81", "a\ufffd"),
        ("iso-2022-jp", b"\x80\x0e\x0f\x1b\x1b(Ba\x1b(", "\ufffd\ufffd\ufffd\ufffda\ufffd("),
        ("iso-2022-jp", b"\x1b(B\x1b(Ba", "\ufffda"),  # an escape and nothing for it
        ("iso-2022-jp", b"\x1b$B$\n<\x1b(B<", "\ufffd\ufffd<"),
        ("iso-2022-jp", b"\x1b(I\x20\x60", "\ufffd\ufffd"),
        ("utf-8", b"\xe2\x82<\xf0\x9f\x98\xc0\xaf\xed\xa0\x80", "\ufffd<" + "\ufffd" * 6),
        ("utf-16le", b"\x3c\xd8\x3c\x00\x3d", "\ufffd<\ufffd"),
    ],
)
def test_what_is_malformed_is_one_fault_and_ascii_behind_it_is_kept(
    encoding: str, octets: bytes, expected: str
) -> None:
    assert read(encoding, octets) == expected


@settings(deadline=None)
@given(
    st.sampled_from(ALL),
    st.lists(
        st.binary(min_size=1, max_size=6)
        | st.sampled_from([b"\x1b(B", b"\x1b$B", b"\x1b(", b"\x81\x30", b"\x8f\xa1", b"<", b"\xff", b"\xfe\xfe"]),
        max_size=12,
    ),
)
def test_pieces_are_read_as_the_whole_is(encoding: str, pieces: list[bytes]) -> None:
    decoder = decoders.decoder(encoding)
    read_in_pieces = "".join([*map(decoder.decode, pieces), decoder.decode(b"", True)])
    assert read_in_pieces == read(encoding, b"".join(pieces))


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "gb18030", "iso-2022-jp"])
def test_a_long_text_is_read_in_blocks_and_nothing_is_lost_between_them(encoding: str) -> None:
    for shift in range(4):
        text = "a" * shift + "日本語<b>" * 30_000
        assert read(encoding, text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "euc-kr", "big5", "gb18030", "gbk", "koi8-u", "macintosh"])
def test_what_is_written_is_read_again(encoding: str) -> None:
    alike = {0xA5: "\\", 0x203E: "~", 0x2212: "\uff0d"} if encoding in ("shift_jis", "euc-jp") else {}
    written = encoding_indexes.octets_by_point(encoding)
    points = [point for point in written if encoding[:2] != "gb" or not 0xE000 <= point < 0xF900]
    text = read(encoding, b"".join(written[point] for point in points))
    assert text == "".join(alike.get(point) or chr(point) for point in points)


def test_a_mark_outweighs_the_encoding() -> None:
    assert sniff.decode(b"\xef\xbb\xbf\xc3\xa9", "shift_jis") == "é"
    assert sniff.decode(b"\xff\xfe\xe9\0", "windows-1252") == "é"


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-kr", "big5", "gb18030"])
def test_each_pair_without_fault_is_read_alike_at_both_speeds(encoding: str) -> None:
    for octets, read_as in encoding_indexes.pairs(encoding).items():
        assert decoders.text(octets, encoding) == read_as


@pytest.mark.parametrize("encoding", SEVERAL)
@pytest.mark.parametrize(
    "octets", [b"\xe0<", b"\xff", b"\xa4", b"\x81\x30\x81\x30", b"\x8f\xa1\x80", b"\x1b(B", b"\x1b$B!", b"\x1b"]
)
def test_no_octets_take_long(encoding: str, octets: bytes) -> None:
    read(encoding, octets)  # its tables are made
    body = octets * ((1 << 19) // len(octets))
    started = time.process_time()
    read(encoding, body)
    assert time.process_time() - started < 0.5
