"""What pages show by their styles and drawings: read where it is asked for, and only there."""

import pytest

from gregor.worker.read.document import Document, Reference
from gregor.worker.read.processors import Processors

STYLED = (
    "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>t</title>"
    "<style>@import 'a.css'; p { background: url(b.png) }</style></head>"
    "<body style='background: url(c.png)'><p style='color: red'>text</p>"
    "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'><use href='#here'/>"
    "<use xlink:href='d.svg#x'/><image href='e.png'/></svg></body></html>"
)
SHOWN = [("a.css", "css"), ("b.png", "style"), ("c.png", "style"), ("d.svg#x", "use"), ("e.png", "image")]


@pytest.mark.parametrize("kind", ["text/html", "application/xhtml+xml", "text/xml"])
def test_what_styles_and_drawings_name_is_found(kind: str) -> None:
    shown = Processors().process(Document("http://h/", STYLED.encode(), kind, requisites=True))
    assert sorted((link.url, link.kind) for link in shown.links) == sorted(SHOWN)
    assert Processors().process(Document("http://h/", STYLED.encode(), kind)).links == []


def test_what_is_loaded_ahead_and_icons_have_kinds_of_their_own() -> None:
    page = b"<link rel=preload as=font href=f><link rel=modulepreload href=m><link rel=apple-touch-icon href=i>"
    assert Processors().process(Document("http://h/", page, "text/html")).links == [
        Reference("f", "preload"),
        Reference("m", "preload"),
        Reference("i", "icon"),
    ]
