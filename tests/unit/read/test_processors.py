from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.read.document import Document, Extract, Reference
from gregor.worker.read.processors import GROUP, ProcessorError, Processors, process


def _documented() -> type:
    """The class of the example in docs/processors.md."""
    page = (Path(__file__).parents[3] / "docs" / "processors.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], names)  # our own documentation
    return cast(type, names["Subtitles"])


Subtitles = _documented()


class Failing:
    types = ("text/fails",)

    def process(self, document: Document) -> Extract | None:
        raise KeyError("lost")


class Halved:
    types = ("text/halved",)

    def process(self, document: Document) -> Extract | None:
        return Extract(text="half a pair: \ud800")


class Nothing:
    types = ("text/html",)

    def process(self, document: Document) -> Extract | None:
        return None


def _point(name: str, what: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{what}", GROUP)


@pytest.mark.parametrize(
    ("body", "content_type", "text", "links"),
    [
        (b"<p>a<a href=b>c</a>", "text/html", "ac", [Reference("b", "a", False, "c")]),
        (b"a  b\n", "text/plain", "a  b\n", []),
        (b'{"a": "\xc3\xa9"}', "application/json", '{"a": "é"}', []),
        (b"p{background:url(x)}", "text/css", "p{background:url(x)}", [Reference("x", "style")]),
        (b"@import/**/'x';", "text/css", "@import/**/'x';", [Reference("x", "css")]),
        (b"p{b:my-url(x)}", "text/css", "p{b:my-url(x)}", []),
        (
            b"<rss><channel><item><link>http://a.test/</link></item></channel></rss>",
            "text/xml",
            "",
            [Reference("http://a.test/", "a")],
        ),
        (
            b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='/e'/></entry></feed>",
            "application/atom+xml",
            "",
            [Reference("/e", "a")],
        ),
        (b"<a>b<c>d</c></a>", "application/xml", "bd", []),
        (
            b"<html xmlns='http://www.w3.org/1999/xhtml'><a href='x'/></html>",
            "application/xml",
            "",
            [Reference("x", "a")],
        ),
        (b"%PDF-1.4 <a href=x>", "application/pdf", "", []),
        (b"\x89PNG\r\n\x1a\n<a href=x>", "text/html", "", []),
    ],
)
def test_the_media_type_chooses_the_processor(
    body: bytes, content_type: str, text: str, links: list[Reference]
) -> None:
    found = process(Document("http://a.test/", body, content_type))
    assert (found.text, found.links) == (text, links)


def test_the_documented_processor_reads_its_types_and_one_may_replace_a_built_in_one() -> None:
    processors = Processors()
    processors.load([_point("subtitles", "Subtitles"), _point("nothing", "Nothing")])
    vtt = Document("http://a.test/", b"WEBVTT\n\n1\n00:01 --> 00:02\nHello\nyou\n", "text/vtt")
    assert processors.process(vtt).text == "Hello you"
    assert processors.process(Document("http://a.test/", b"<p>x", "text/html")) == Extract()


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([_point("one", "Subtitles"), _point("two", "Subtitles")], "'one' and 'two'"),
        ([_point("gone", "Missing")], "'gone'.*can't be loaded"),
        ([_point("none", "pytest")], "'none'.*no types"),
    ],
)
def test_processors_that_cannot_be_used_are_named(points: list[EntryPoint], message: str) -> None:
    with pytest.raises(ProcessorError, match=message):
        Processors().load(points)


def test_a_processor_that_fails_is_named() -> None:
    processors = Processors()
    processors.load([_point("failing", "Failing")])
    with pytest.raises(ProcessorError, match=r"'failing' failed on http://a.test/x: KeyError"):
        processors.process(Document("http://a.test/x", b"", "text/fails"))


def test_what_could_not_be_stored_is_a_failure_of_its_processor() -> None:
    processors = Processors()
    processors.load([_point("halved", "Halved")])
    with pytest.raises(ProcessorError, match=r"'halved' failed on http://a.test/x: UnicodeEncodeError"):
        processors.process(Document("http://a.test/x", b"", "text/halved"))


@settings(deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from(
        ["text/html", "application/xhtml+xml", "text/xml", "text/css", "text/plain", "application/rss+xml", "", "x"]
    ),
)
def test_the_built_in_processors_never_fail(body: bytes, content_type: str) -> None:
    process(Document("http://a.test/", body, content_type))
