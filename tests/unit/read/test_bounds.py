"""What is longer than it may be is read as far as that, whatever its type, and said to be cut."""

import pytest

from gregor.worker.read.document import Document
from gregor.worker.read.html.guard import MAX_LENGTH
from gregor.worker.read.processors import Processors


@pytest.mark.parametrize(
    "content_type", ["text/html", "application/xhtml+xml", "application/xml", "text/css", "text/plain"]
)
def test_a_text_of_any_type_is_bounded_and_its_cut_is_said(content_type: str) -> None:
    long, short = b"ab " * (3 << 20), b"ab " * 1000
    said = Processors().process(Document("http://h/", long, f"{content_type}; charset=utf-8"))
    assert said.cut == "size"
    assert len(said.text) <= MAX_LENGTH[1]
    assert not Processors().process(Document("http://h/", short, content_type)).cut
