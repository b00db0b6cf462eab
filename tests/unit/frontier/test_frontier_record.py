"""What is let in from the frontier's topics, open as they are to others: what is published and a worker can bear."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.partitioner.hashing import partition_of
from gregor.schemas import events
from gregor.schemas.messages import LONGEST_URL, DeadLetter, Page, Row, Ticket, encode
from gregor.worker.adapters.cluster.frontier_record import read_record
from gregor.worker.borders.log import Unreadable
from gregor.worker.links.tickets import again
from gregor.worker.web.urls import Urls

PARTITIONS = 16
LONG = LONGEST_URL + 1


def read(data: bytes, host: str = "a.example", more: int = 0) -> Ticket | str:
    """The ticket, or why there is none; in the partition of the host, or as many further."""
    partition = (partition_of(host, PARTITIONS) + more) % PARTITIONS
    record = read_record((7, data), partition, PARTITIONS)
    assert record.offset == 7
    return record.ticket.error if isinstance(record.ticket, Unreadable) else record.ticket


def ticket(href: str = "http://a.example/", host: str = "a.example", **more: Any) -> Ticket:
    fields: dict[str, Any] = {"href": href, "key": href, "host": host, "at": 1.8e9}
    return Ticket(**fields | more)


@pytest.mark.parametrize(
    "url", ["http://a.example", "https://A.example:8443/ü?ß#x", "http://[2001:db8::1]:80/", "http://a.example./x"]
)
def test_what_the_crawl_publishes_is_read(url: str) -> None:
    found = Urls().parse(url)
    assert found is not None
    seed = Ticket(
        found.href, found.key, found.host, at=1.8e9, label="é", lastmod=-1e9, changefreq="daily", via="http://b/"
    )
    recrawl = again(Row(found.key, found.href, found.host, 3, "dead", "x", hops=2, depth=9), 1)
    robots = msgspec.structs.replace(seed, kind="robots", origin="https://b.example")
    for published in (seed, recrawl, robots):
        assert read(encode(published), found.host) == published


WRONG: dict[str, dict[str, Any]] = {
    "a ticket of kind wake": {"kind": "wake", "key": "", "href": ""},
    "a ticket of kind retry": {"kind": "retry"},
    "no URL or no host": {"key": ""},
    "no URL or no host ": {"host": ""},
    "no URL or no host  ": {"kind": "robots", "key": ""},
    "longer than any": {"key": "k" * LONG},
    "longer than any ": {"host": "h" * LONG},
    "longer than any  ": {"kind": "robots", "origin": "o" * LONG},
    "longer than any   ": {"href": f"http://a.example/{'h' * LONG}"},
    "longer than any    ": {"via": "v" * LONG},
    "longer than any     ": {"label": "l" * 1001},
    "longer than any      ": {"link": "l" * 1001},
    "longer than any       ": {"changefreq": "c" * 1001},
    "not printable ASCII": {"key": "ä"},
    "not printable ASCII ": {"href": "http://a.example/ä"},
    "not printable ASCII  ": {"key": "http://a.example/\x01"},
    "out of bounds": {"visit": 1 << 31},
    "out of bounds ": {"visit": -1},
    "out of bounds  ": {"priority": 5},
    "out of bounds   ": {"attempts": 1 << 40},
    "out of bounds    ": {"depth": -1},
    "out of bounds     ": {"at": float("nan")},
    "out of bounds      ": {"lastmod": float("inf")},
    "not that of its URL": {"href": "http://b.example/"},
    "not that of its URL ": {"href": "a.example"},
}


@pytest.mark.parametrize(("why", "change"), WRONG.items())
def test_what_no_worker_can_bear_is_unreadable(why: str, change: dict[str, Any]) -> None:
    wrong = ticket(**change)
    found = read(encode(wrong), wrong.host)
    assert isinstance(found, str)
    assert why.strip() in found


def test_the_record_of_another_partition_has_another_owner() -> None:
    assert f"belongs to partition {partition_of('a.example', PARTITIONS)}" in str(read(encode(ticket()), more=1))


def test_an_error_is_short() -> None:
    assert len(str(read(msgspec.msgpack.encode(["h", "k", "a.example", 0, "k" * 100_000])))) <= 500


@given(
    st.binary()
    | st.builds(lambda *a: msgspec.msgpack.encode(a), *[st.text() | st.integers(-2, 2**40) | st.floats()] * 6)
)
def test_whatever_comes_is_read_or_refused(data: bytes) -> None:
    assert isinstance(read(data), Ticket | str)


def test_the_events_of_what_is_let_in_fit_a_message() -> None:
    """Else telling of it would be tried for ever, by one owner after another."""
    url = "http://a.example/" + '"' * (LONGEST_URL - 17)
    most = ticket(url, key=url, via=url, label="\x01" * 1000, link="\x01" * 1000)
    assert read(encode(most)) == most
    letter = DeadLetter(most.key, most.href, most.host, "url", "\x01" * LONGEST_URL, 1.0)
    page = Page(most.key, most.href, most.host, 1, "new", 200, 1.0, via=most.via, label=most.label, canonical=url)
    for event in (events.of_dead_letter("c", letter), events.of_page("c", page)):
        assert len(msgspec.json.encode(event)) < 1_000_000
