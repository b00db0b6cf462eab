"""What several workers say of themselves, as one."""

from typing import get_args

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.api.aggregate import added_up, first_hosts
from gregor.worker.api.backend import Counts, HostsQuery, Status
from gregor.worker.inspect.host_views import HOST_STATES, HostSort, HostView
from gregor.worker.inspect.rates import Rates
from gregor.worker.inspect.worker_state import Condition


def status(
    state: str = "crawling", limit: str = "politeness", queued: int = 1, pages: int = 1, total: int | None = None
) -> Status:
    condition = {
        **dict.fromkeys(Condition.__struct_fields__, 1),
        "crawl": "c",
        "worker": "w",
        "version": "0",
        "state": state,
        "limit": limit,
        "limiting": f"{limit}, {queued} queued",
        "advice": f"less {limit}",
        "back_queues": queued,
        "hosts": {"active": 2},
        "front_queues": {1: 1},
        "window": {1: 3},
        "overdue": float(queued),
        "drift": (),
    }
    counts = Counts(pages, pages, 10, 2, {"fetched": pages}, {"200": pages}, {"dns": 1}, total or pages, 10)
    return Status(msgspec.convert(condition, Condition), Rates(1.5, 2.0, 30.0), counts)


def test_rates_and_counts_are_added_up() -> None:
    told = added_up([status(pages=3), status(pages=4, queued=7)], "c", "console", 2)
    assert (told.now.running, told.now.back_queues, told.now.overdue) == (2, 8, 7.0)
    assert (told.now.hosts["active"], told.now.hosts["idle"], told.now.window[1], told.now.window[4]) == (4, 0, 6, 0)
    assert told.rates == Rates(3.0, 4.0, 60.0)
    assert (told.counts.pages, told.counts.states, told.counts.errors) == (7, {"fetched": 7}, {"dns": 2})
    assert told.counts.total_pages_200 == 7
    assert added_up([status(total=90), status(total=91)], "c", "console", 2).counts.total_pages_200 == 91


def test_the_state_is_that_of_whoever_still_works() -> None:
    def state(*states: str) -> str:
        return added_up([status(one) for one in states], "c", "console", len(states)).now.state

    assert state("paused", "crawling", "stopping") == "crawling"
    assert state("paused", "drained") == "paused"
    assert state("stopping") == "stopping"
    assert state() == "starting"


def test_what_limits_most_workers_limits_the_crawl() -> None:
    told = added_up(
        [status(limit="CPU"), status(limit="DNS", queued=2), status(limit="DNS", queued=5)], "c", "console", 4
    )
    assert told.now.limit == "DNS"
    assert told.now.limiting == "DNS, 5 queued (so with 2 of 4 workers, 1 do not answer)"
    assert told.now.advice == "less DNS"
    assert added_up([status(limit="CPU")], "c", "console", 1).now.limiting == "CPU, 1 queued"


def test_nobody_answers_or_nobody_is_there() -> None:
    assert added_up([], "c", "console", 2).now.limiting == "nothing: none of the workers answers"
    none = added_up([], "c", "console", 0)
    assert none.now.limiting == "nothing: no worker is there"
    assert set(none.now.hosts) == set(HOST_STATES)
    assert none.counts.total_bytes == 0


VIEWS = st.lists(
    st.builds(
        HostView,
        host=st.text("abc", min_size=1),
        state=st.sampled_from(HOST_STATES),
        queued=st.integers(0, 9),
        due=st.floats(0, 9),
        delay=st.floats(0, 9),
        failures=st.integers(0, 9),
        cause=st.sampled_from(["", "dns", "timeout"]),
    ),
    unique_by=lambda one: one.host,
)


@given(VIEWS, st.sampled_from(get_args(HostSort)), st.booleans(), st.integers(1, 5))
def test_the_first_of_all_are_among_the_first_of_each(
    found: list[HostView], sort: HostSort, reverse: bool, limit: int
) -> None:
    asked = HostsQuery(limit=limit, sort=sort, order="last" if reverse else "first")
    first = first_hosts(found, asked)
    halves = [first_hosts(found[::2], asked), first_hosts(found[1::2], asked)]
    assert first_hosts((one for half in halves for one in half), asked) == first
    assert len(first) == min(limit, len(found))
    if sort == "host":
        assert [one.host for one in first] == sorted((one.host for one in found), reverse=reverse)[:limit]


def test_hosts_with_nothing_to_do_come_last() -> None:
    idle, busy = HostView("a", "idle", 0, 0.0, 1.0, 0, ""), HostView("b", "active", 0, 0.0, 1.0, 0, "")
    waiting = HostView("c", "waiting", 3, 5.0, 1.0, 0, "")
    assert first_hosts([idle, waiting, busy], HostsQuery()) == [busy, waiting, idle]
