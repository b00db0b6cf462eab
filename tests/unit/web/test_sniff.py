import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.web import media_type
from gregor.worker.web.encodings import sniff

RUSSIAN = "Привет, мир! Это проверка кодировки, и слов в ней достаточно."


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"\xef\xbb\xbf<meta charset=koi8-r>", "text/html; charset=cp1251", "utf-8"),
        (b"<meta charset=koi8-r>", "text/html; charset=cp1251", "windows-1251"),
        (b"<meta charset=koi8-r>", "text/html", "koi8-r"),
        (b"<meta charset=utf-16>", "text/html", "utf-8"),
        (b"<!-- <meta charset=koi8-r> --><p>", "text/html", "windows-1252"),
        (b"<meta content='text/html; charset=big5' http-equiv=Content-Type>", None, "big5"),
        (b"<?xml version='1.0' encoding='iso-8859-1'?><a/>", "application/xml", "windows-1252"),
        (b"<?xml version='1.0'?><a/>", "application/atom+xml", "utf-8"),
        (b"<?xml an-encoding encoding='koi8-r'?><a/>", "application/xml", "utf-8"),  # the first "encoding" counts
        (b"<?xml version='1.0' encoding=' koi8-r'?><a/>", "application/xml", "utf-8"),
        ("<?xml version='1.0'?><a/>".encode("utf-16-be"), "application/xml", "utf-16be"),
        (b'{"html": "<meta charset=gbk>"}', "application/json", "utf-8"),
        (b'@charset "gbk";', "text/css", "gbk"),
        (b'@charset "utf-16";', "text/css", "utf-8"),
        (b"@charset 'gbk'; \xe9\xe9\xe9\xe9", "text/css", "utf-8"),
        (b"<meta charset=gbk> caf\xc3\xa9", "text/plain", "utf-8"),
        (b"plain \xc3\xa9", "text/html; charset=utf-7", "utf-8"),
        (RUSSIAN.encode("cp1251"), "Text/HTML;Charset='windows-1251'", "windows-1251"),
        (b"caf\xe9 au lait, once more", "text/html", "windows-1252"),
        (RUSSIAN.encode("cp1251") * 4, "text/html", "windows-1251"),
        ("日本語の文章です。これは試験です。".encode("shift_jis") * 4, "text/plain", "shift_jis"),
        ("中文网页的内容，这是一个测试。".encode("gb18030") * 4, "text/html", "gb18030"),
        ("한국어 웹 페이지의 내용입니다.".encode("cp949") * 4, "text/html", "euc-kr"),
        (b"", None, "windows-1252"),
    ],
)
def test_the_first_of_bom_header_declaration_and_guess_decides(
    body: bytes, content_type: str | None, expected: str
) -> None:
    assert sniff.sniff(body, content_type) == expected


def test_a_meta_after_the_prescan_counts_but_not_inside_a_script() -> None:
    head = b"<!--" + b"x" * 2000 + b"--><script>'<meta charset=big5>'</script>"
    assert (
        sniff.sniff(head + b"<title title='<meta charset=gbk>'></title><meta charset=koi8-r>", "text/html") == "koi8-r"
    )


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        (b"<!-- -->", "koi8-r"),
        (b"<!-->", "koi8-r"),
        (b"<!--->", "koi8-r"),
        (b"<!-- --!>", "koi8-r"),  # for the parser, not for the prescan
        (b"<!----!>", "koi8-r"),
        (b"<!--!>", "windows-1252"),
        (b"<!---!>", "windows-1252"),
        (b"<!-- -- >", "windows-1252"),
    ],
)
def test_a_comment_ends_where_a_parser_ends_it(comment: bytes, expected: str) -> None:
    assert sniff.sniff(comment + b"<meta charset=koi8-r>", "text/html") == expected
    assert sniff.prescan(b"<!-- --!><meta charset=koi8-r>") is None


def test_a_character_cut_at_the_end_or_one_broken_byte_does_not_hide_utf8() -> None:
    assert sniff.sniff(("я" * 99).encode()[:-1], "text/html") == "utf-8"
    assert sniff.sniff(("я" * 99).encode() + b"\xff" + ("я" * 99).encode(), "text/html") == "utf-8"


def test_decoding_drops_the_mark_and_replaces_what_is_broken() -> None:
    assert sniff.decode(b"\xef\xbb\xbfa\xff", "utf-8") == "a\ufffd"
    assert sniff.decode(b"\xff\xfea\0", "utf-16le") == "a"


def test_gbk_is_read_as_the_larger_gb18030() -> None:
    assert sniff.decode(b"\xa2\xe3 \xd6\xd0 \x81\x30\x84\x36", "gbk") == "€ 中 ¥"


def test_guessing_looks_at_a_bounded_part() -> None:
    started = time.process_time()
    sniff.sniff(b"b" * 5_000_000 + b"\xe9", "text/html")
    sniff.sniff(b"var x='\xe9';" * 400_000, "application/x-javascript")
    sniff.sniff(RUSSIAN.encode("koi8-r") * 40_000, "text/html")
    assert time.process_time() - started < 1.5


@settings(deadline=None)
@given(
    st.binary(max_size=300)
    | st.sampled_from([b"<meta ", b"<!--", b"charset=", b"'", b'"', b"<a ", b">"]).map(lambda x: x * 40)
)
def test_any_bytes_have_an_encoding_and_a_text(body: bytes) -> None:
    for content_type in (None, "text/html", "text/xml", "text/plain;charset=x"):
        sniff.decode(body, sniff.sniff(body, content_type))


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n<a href=/phantom>", "text/html", "image/png"),
        (b"%PDF-1.4", None, "application/pdf"),
        (b"  <!DOCTYPE html><p>", None, "text/html"),
        (b"<!-- x -->", "application/octet-stream", "text/html"),
        (b"<?xml version='1.0'?>", "", "text/xml"),
        (b"hello", None, "text/plain"),
        (b"\0\1\2", None, "application/octet-stream"),
        (b"<html>", "text/plain; charset=utf-8", "text/plain"),
        (b"<html>", "nonsense", "text/html"),
        (b"x", "Application/XHTML+XML;charset=utf-8", "application/xhtml+xml"),
    ],
)
def test_the_media_type_is_what_the_header_says_unless_it_says_nothing(
    body: bytes, content_type: str | None, expected: str
) -> None:
    assert media_type.sniff(body, content_type) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html;charset=gbk, text/html", "gbk"),
        ("text/html;charset=gbk, text/html;charset=big5", "big5"),
        ("text/html;charset=gbk, text/html;charset=big5, text/html", "gbk"),
        ("text/html, text/html;charset=big5, text/html", None),
        ("text/html;charset=gbk, text/plain, text/html", None),
    ],
)
def test_a_media_type_without_charset_has_that_of_the_first_of_its_row(value: str, expected: str | None) -> None:
    parsed = media_type.extract(value)
    assert parsed is not None
    assert parsed.charset == expected


@settings(deadline=None)
@given(st.text(max_size=80) | st.text(alphabet='text/html;charset="\\=, \t', max_size=80))
def test_any_content_type_can_be_read(value: str) -> None:
    parsed = media_type.extract(value)
    if parsed is not None:
        assert media_type.parse(str(parsed)) == parsed


@pytest.mark.parametrize("body", [b"caf\xe9", b"<p>na\xefve caf\xe9", b"\xe9", b"x" * 70_000 + b"\xe9"])
def test_a_last_character_that_is_not_whole_is_no_utf_8(body: bytes) -> None:
    assert sniff.sniff(body, "text/html") == "windows-1252"


def test_markup_that_never_closes_costs_nothing() -> None:
    started = time.process_time()
    assert sniff.sniff(b"<" * 65_000 + b"\xff\xfe\xfd", "text/html") == "windows-1252"
    assert time.process_time() - started < 1.0
