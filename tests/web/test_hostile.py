"""What documents that mean harm cost, each read in a process of its own; and that honest large ones are read whole."""

import os
from collections.abc import Iterator

import pytest

from gregor.worker.read import native
from gregor.worker.read.html import parse
from tests.web import hostile


@pytest.fixture(scope="module")
def reader() -> Iterator[hostile.Reader]:
    process = hostile.Reader()
    yield process
    process.close()


@pytest.fixture(scope="module")
def native_reader() -> Iterator[hostile.Reader]:
    process = hostile.Reader(native=True)
    yield process
    process.close()


@pytest.mark.parametrize("document", hostile.DOCUMENTS, ids=lambda document: str(document.name))
def test_a_hostile_document_costs_no_more_than_the_bound(document: hostile.Hostile, reader: hostile.Reader) -> None:
    took = reader.cost(document)
    assert took.memory <= hostile.MOST_MEMORY, took
    # The bar is that of a quiet machine (`python -m tests.web.hostile`); CI tells what explodes, not what is slow.
    assert took.seconds <= hostile.MOST_SECONDS * (3 if os.environ.get("CI") else 1), took


@pytest.mark.skipif(bool(native.why_not()), reason="the native core is not installed")
@pytest.mark.parametrize("document", hostile.DOCUMENTS[::9], ids=lambda document: str(document.name))
def test_nor_does_one_that_is_read_natively(document: hostile.Hostile, native_reader: hostile.Reader) -> None:
    """A sample; all of them: `python -m tests.web.hostile --native`."""
    test_a_hostile_document_costs_no_more_than_the_bound(document, native_reader)


def test_honest_large_pages_are_read_whole() -> None:
    links = parse.extract("<ul>" + "<li class=i><a href=/page/n title=t>entry</a></li>\n" * 50_000 + "</ul>")
    assert (len(links.links), links.cut, links.truncated) == (50_000, "", False)
    table = parse.extract("<table>" + "<tr><td>cell</td><td>another</td></tr>\n" * 27_000 + "</table>")
    assert (len(table.text.split()), table.cut) == (54_000, "")
