"""Events for downstream consumers: their schemas are the ones that are published, and what is written fits them."""

import msgspec
import pytest

from gregor.schemas import events
from gregor.schemas.items import StoredItem
from gregor.schemas.messages import LONGEST_URL, DeadLetter, Page

MESSAGE = 1_000_000
"""Bytes of the largest that a producer of Kafka sends, unless it is told otherwise."""


@pytest.mark.parametrize("name", events.EVENTS)
def test_the_published_schema_is_the_event(name: str) -> None:
    assert (events.FOLDER / name).read_text() == events.json_schema(events.EVENTS[name])


def test_a_page_event_reads_back() -> None:
    page = Page("k", "http://h/", "h", 2, "new", 200, 0.25, fingerprint=b"\x01" * 16, simhash=7, title="t\x1b")
    event = events.of_page("crawl", page)
    assert msgspec.json.decode(msgspec.json.encode(event), type=events.PageEvent) == event
    assert (event.fetched_at, event.simhash, event.visit) == ("1970-01-01T00:00:00.250Z", "0000000000000007", 2)


def test_a_dead_letter_event_reads_back() -> None:
    event = events.of_dead_letter("crawl", DeadLetter("k", "u", "h", "timeout", "10 s", 1.0, 4))
    assert msgspec.json.decode(msgspec.json.encode(event), type=events.DeadLetterEvent) == event


def test_an_item_event_has_its_fields_as_they_are_stored() -> None:
    digits = b'{"n":123456789012345678901234567890,"o":{"a":["\xc3\xbc"]}}'
    items = [StoredItem("r", "job", "v1", digits, '["x",1]', "changed", ("n",)), StoredItem("r", "job", "v1", b"{}")]
    page = Page("k", "http://h/", "h", 2, "new", 200, 0.25, items=items, label="l")
    first, second = (msgspec.json.encode(event) for event in events.of_items("crawl", page))
    assert b'"fields":' + digits in first
    read = msgspec.json.decode(first, type=events.ItemEvent)
    assert (read.id, read.change, read.changed_fields, read.visit, read.number) == (["x", 1], "changed", ("n",), 2, 0)
    assert msgspec.json.decode(second, type=events.ItemEvent).id is None


def test_an_item_that_fits_no_message_is_told_of_without_its_fields() -> None:
    fields = msgspec.json.encode({"text": "x" * MESSAGE})
    page = Page("k", "http://h/", "h", 2, "new", 200, 0.25, items=[StoredItem("r", "job", "v1", fields)])
    (event,) = events.of_items("crawl", page)
    assert (event.cut, event.fields) == (True, {})
    assert len(msgspec.json.encode(event)) < MESSAGE


def test_an_event_fits_a_message_whatever_a_site_sends() -> None:
    long, url = "\x01" * 3_000_000, "u" * LONGEST_URL
    page = Page(
        url, url, "h", 2, "new", 200, 0.25, title=long, content_type=long, language=long, via=url, canonical=url
    )
    letter = DeadLetter(url, url, "h", "processor", long, 1.0)
    for event in (events.of_page("c", page), events.of_dead_letter("c", letter)):
        assert len(msgspec.json.encode(event)) < MESSAGE


def test_another_version_is_refused() -> None:
    data = msgspec.json.encode({"version": 2, "crawl": "c"})
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(data, type=events.PageEvent)
