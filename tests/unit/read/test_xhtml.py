import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.read import css
from gregor.worker.read.document import Document, Reference
from gregor.worker.read.html import xhtml
from gregor.worker.read.processors import process
from gregor.worker.web import http_headers

HEAD = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script src="s"/></head>'


def _xhtml(text: str) -> Document:
    return Document("http://a.test/", text.encode(), "application/xhtml+xml")


def test_a_script_that_closes_itself_hides_no_links() -> None:
    found = process(
        _xhtml(HEAD + '<body><p>a<b>b</b></p>c<A href="no"/><a href="x" rel="nofollow">y</a></body></html>')
    )
    assert found.title == "T"
    assert found.links == [Reference("s", "script"), Reference("x", "a", True, "y")]
    assert found.text == "ab cy"


def test_what_is_not_well_formed_is_read_as_html() -> None:
    found = process(_xhtml("<html xmlns='http://www.w3.org/1999/xhtml'><p>a&nbsp;<a href=x>y"))
    assert found.links == [Reference("x", "a", False, "y")]


def test_entities_and_other_files_are_not_read() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    found = xhtml.extract(bomb + '<html xmlns="http://www.w3.org/1999/xhtml"><body>t&b;&c;<a href="x"/></body></html>')
    assert found is not None
    assert (found.text, [link.url for link in found.links]) == ("t", ["x"])


def test_the_entities_of_a_dtd_are_known_though_it_is_not_read() -> None:
    dtd = (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">'
    )
    body = '<p>a&nbsp;b&unknown;c<a href="x?a=1&amp;q=caf&eacute;">one&nbsp;<b>&copy;</b> two&lt;</a></p>'
    page = f'{dtd}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>R&eacute;sum&unknown;e<?x?>s</title></head>'
    found = process(_xhtml(f"{page}<body>{body}</body></html>"))
    assert found.title == "Résumes"
    assert found.text == "a bcone © two<"
    assert found.links == [Reference("x?a=1&q=café", "a", False, "one © two<")]


def test_the_text_of_a_link_is_in_the_order_of_the_document() -> None:
    body = "<p>0<a href='x'>1<b>2<i>3</i>4<?x?>5<i><u/>6</i>7</b>8</a>9</p>"
    found = process(_xhtml(f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}</body></html>"))
    assert (found.text, found.links[0].text) == ("0123456789", "12345678")


def test_links_that_nest_cost_little() -> None:
    deep = "<a href='x'>t" * 200 + "<b/>" * 50_000 + "</a>" * 200
    started = time.process_time()
    found = process(_xhtml(f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{deep}</body></html>"))
    assert len(found.links) == 200
    assert time.process_time() - started < 3


def test_many_attributes_cost_little() -> None:
    attributes = " ".join(f"a{number}=''" for number in range(60_000))
    started = time.process_time()
    found = process(
        _xhtml(f"<html xmlns='http://www.w3.org/1999/xhtml'><body><a {attributes} href='x'/></body></html>")
    )
    assert found.links == [Reference("x", "a")]
    assert time.process_time() - started < 3


def test_a_document_that_declares_many_entities_is_not_read_as_xml() -> None:
    declared = "".join(f"<!ENTITY e{number} 'x'>" for number in range(40_000))
    references = "".join(f"&e{number};" for number in range(40_000))
    page = f"<!DOCTYPE html [{declared}]><html xmlns='h'><body>{references}<a href='x'></a></body></html>"
    started = time.process_time()
    assert process(_xhtml(page)).links == [Reference("x", "a")]
    assert not process(Document("http://a.test/", page.encode(), "application/xml")).text
    assert time.process_time() - started < 3


def test_deep_nesting_is_refused_by_the_xml_parser() -> None:
    assert xhtml.parse("<a>" * 100_000 + "</a>" * 100_000) is None


@settings(deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="<>/a&;'\"= \0", max_size=60))
def test_any_text_may_be_sent_as_xhtml(text: str) -> None:
    process(_xhtml(text))
    process(_xhtml(HEAD + text))


def test_style_sheets_refer_by_url_and_import() -> None:
    sheet = "/* url(no) */ @import 'a.css'; @import url(b.css); p{b:url( \"c.png\" )} q{content:'url(d)'} url(e\\29)"
    assert list(css.references(sheet)) == [("a.css", "css"), ("b.css", "css"), ("c.png", "style"), ("e)", "style")]


@settings(deadline=None)
@given(st.text(alphabet="url('\")@import \\/*a\n", max_size=60))
def test_any_text_may_be_a_style_sheet(text: str) -> None:
    list(css.references(text))


@settings(deadline=None)
@given(st.text(alphabet='<a>; rel="=canonical,\\', max_size=60))
def test_any_text_may_be_a_link_header(text: str) -> None:
    http_headers.canonical_link(text)


@pytest.mark.parametrize(
    ("header", "canonical"),
    [
        ("<x>; rel=canonical", "x"),
        ('<x>;REL="foo Canonical"', "x"),
        ("<a>; rel=next, <b,c>; rel = canonical", "b,c"),
        ('<a>; title="<x>; rel=canonical, ;"; rel=next', None),
        ("<a>; rel=next; rel=canonical", None),  # the first one counts
        ('<a>; rel="canon\\ical"', "a"),
        ("<>; rel=canonical", ""),
        ('<a>; rel=canonical; anchor="/other"', None),  # it speaks of another resource
        ("<a> rel=canonical", "a"),  # seen in the wild: the semicolon is missing
        ("a; rel=canonical", None),
        ("<a>; crossorigin; rel=canonical", "a"),
    ],
)
def test_the_canonical_link_of_a_header(header: str, canonical: str | None) -> None:
    assert http_headers.canonical_link(header) == canonical


def test_a_link_header_costs_little_whatever_it_holds() -> None:
    started = time.process_time()
    for piece in ("<", " ", '<a>; rel="', "<a>,", "; a=", "a", "\\"):
        for start in ("", "<a>; ", '<a>; rel="'):
            http_headers.canonical_link(start + piece * 50_000)
    assert time.process_time() - started < 2
