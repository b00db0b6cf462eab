"""What is longer than it may be is read as far as that, whatever its type, and said to be cut."""

import pytest

from gregor.worker.read.document import Document
from gregor.worker.read.html.guard import MAX_LENGTH, MAX_NAMES, too_costly
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


@pytest.mark.parametrize("apart", [" ", "/", "\f", "=x ", '="x"', "='x'"])
def test_very_many_names_are_too_costly_whatever_stands_between_them(apart: str) -> None:
    few, many = (
        f"<p {apart.join(f'a{number}' for number in range(count))}>" for count in (MAX_NAMES - 9, MAX_NAMES + 9)
    )
    assert too_costly(many, 1)
    assert not too_costly(few, 1)


def test_a_control_that_html_does_not_take_for_a_blank_is_part_of_a_name() -> None:
    names = (f"a{first}\vb{second}" for first in range(180) for second in range(180))
    assert too_costly(f"<p {' '.join(names)}>", 1)
