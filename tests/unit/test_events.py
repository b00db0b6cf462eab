"""Events for downstream consumers: their schemas are the ones that are published, and what is written fits them."""

import msgspec
import pytest

from gregor.schemas import events
from gregor.schemas.messages import DeadLetter, Page


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


def test_another_version_is_refused() -> None:
    data = msgspec.json.encode({"version": 2, "crawl": "c"})
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(data, type=events.PageEvent)
