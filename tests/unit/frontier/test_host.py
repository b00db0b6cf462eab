"""A host's backlog: chunks are appended to, sealed, read, deleted, and none is used twice."""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.parts import RequestStart
from gregor.worker.frontier.host import Backlog, Host

SIZE = 4
STEPS = st.lists(st.tuples(st.sampled_from(["append", "read", "finish", "drop"]), st.integers(1, 12)), max_size=60)


@given(inherited=st.lists(st.integers(1, 90), unique=True).map(sorted), steps=STEPS)
def test_all_that_was_appended_is_read_once(inherited: list[int], steps: list[tuple[str, int]]) -> None:
    numbers = count(100)
    backlog = Backlog(inherited, lambda: next(numbers))
    stored = dict.fromkeys(inherited, SIZE)
    later: set[int] = set()
    read: list[int] = []
    for step, number in steps:
        stream = backlog.stream(number % 2)
        if step == "append":
            part = min(number, SIZE - stream.open_count)
            assert stream.open not in read, "appended to a chunk that was read"
            stored[stream.open] = stored.get(stream.open, 0) + part
            later.update({stream.open} if number % 2 else ())
            stream.appended(part, SIZE)
        elif step == "read" and stream.to_read:
            chunk = stream.next_chunk()
            unread = {one for one in stored if (one in later) == bool(number % 2)} - set(read)
            assert chunk == min(unread), "not the oldest"
            read.append(chunk)
            backlog.reading[chunk] = stored[chunk]
        elif step == "finish" and backlog.reading:
            chunk = next(iter(backlog.reading))
            del backlog.reading[chunk]
            backlog.finished.add(chunk)
        elif step == "drop" and backlog.finished:
            chunk = backlog.finished.pop()
            del stored[chunk]
        assert backlog.to_read == bool(set(stored) - set(read))
        assert backlog.empty == (not stored)
        assert len(read) == len(set(read))
        assert stream.open_count < SIZE, "there is always room in the open chunk"
        assert not [amount for amount in stored.values() if amount > SIZE]


def test_a_hosts_crawl_delay_is_the_longest_of_its_origins() -> None:
    host = Host("h", 0)
    assert host.crawl_delay == 0.0
    host.crawl_delays = {"http://h": 2.0, "https://h": None}
    assert host.crawl_delay == 2.0
    host.crawl_delays["https://h"] = 7.0
    assert host.crawl_delay == 7.0


def test_a_host_that_was_asked_for_a_robots_txt_alone_is_idle() -> None:
    """It gets no row that could tell of the request; one that was asked for a page waits for its row."""
    host = Host("a.test", 3)
    host.record_request(RequestStart(1.0, 2.0, robots=True))
    assert host.idle
    host.record_request(RequestStart(5.0, 2.0, href="http://a.test/"))
    assert not host.idle
    assert len(host.take_requests()) == 2
    assert host.idle
