"""What the workers of a crawl say of themselves, as one: sums, and what limits most of them. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from gregor import __version__
from gregor.schemas.messages import PRIORITIES
from gregor.worker.api.backend import Counts, HostsQuery, Status
from gregor.worker.frontier.counts import ERROR, STATE, STATUS, TOTALS, of_kind
from gregor.worker.inspect.host_views import HOST_STATES, HostSort, HostView, first
from gregor.worker.inspect.live import Rates
from gregor.worker.inspect.outlook import together
from gregor.worker.inspect.worker_state import Condition, WorkerState

_STATES: Final[tuple[WorkerState, ...]] = ("crawling", "starting", "paused", "drained", "stopping")
"""The first of these that a worker is in is the crawl's."""
_ERRORS: Final = 50
_PLACES: Final[dict[HostSort, Callable[[HostView], Any]]] = {
    "turn": lambda host: host.due if host.queued or host.state == "active" else math.inf,
    "host": lambda _: 0.0,
    "state": lambda host: HOST_STATES.index(host.state),
    "cause": lambda host: (not host.cause, host.cause),
    "queued": lambda host: -host.queued,
    "failures": lambda host: -host.failures,
    "delay": lambda host: -host.delay,
}


def added_up(
    statuses: Sequence[Status], crawl: str, name: str, workers: int, kept: Mapping[str, int] | None = None
) -> Status:
    """All of them as the process ``name`` tells it; ``workers``: how many there are, whether they answer or not.

    ``kept``: the crawl's counts as its partitions have them (`frontier.counts`), which outlive workers.
    """
    now = [one.now for one in statuses]
    states = {one.state for one in now}
    state: WorkerState = next((state for state in _STATES if state in states), "starting")
    limit, limiting, advice = _limit(now, workers)
    condition = Condition(
        crawl=crawl,
        worker=name,
        version=__version__,
        state=state,
        limit=limit,
        limiting=limiting,
        advice=advice,
        seconds=max((one.seconds for one in now), default=0.0),
        partitions=sum(one.partitions for one in now),
        running=sum(one.running for one in now),
        concurrency=sum(one.concurrency for one in now),
        hosts={**dict.fromkeys(HOST_STATES, 0), **_sum(one.hosts for one in now)},
        back_queues=sum(one.back_queues for one in now),
        front_queues={**dict.fromkeys(PRIORITIES, 0), **_sum(one.front_queues for one in now)},
        window={**dict.fromkeys(PRIORITIES, 0), **_sum(one.window for one in now)},
        buckets=sum(one.buckets for one in now),
        due=sum(one.due for one in now),
        overdue=max((one.overdue for one in now), default=0.0),
    )
    rates = Rates(*(sum(getattr(one.rates, name) for one in statuses) for name in Rates.__struct_fields__))
    counts = _counts([one.counts for one in statuses]) if kept is None else _of_crawl(kept)
    return Status(condition, rates, counts, together([one.outlook for one in statuses]))


def first_hosts(found: Iterable[HostView], asked: HostsQuery) -> list[HostView]:
    """Of what each worker names first those that are first of all."""
    place = _PLACES["host" if asked.after else asked.sort]
    return first(
        found, asked.limit, lambda host: (place(host), host.host), reverse=asked.order == "last" and not asked.after
    )


def _limit(now: Sequence[Condition], workers: int) -> tuple[str, str, str]:
    """What limits most workers, in the words of the one that has most to do."""
    if not now:
        return "starting", f"nothing: {'none of the workers answers' if workers else 'no worker is there'}", ""
    (limit, count), *_ = Counter(one.limit for one in now).most_common()
    told = max((one for one in now if one.limit == limit), key=lambda one: one.back_queues)
    if workers == 1:
        return limit, told.limiting, told.advice
    silent = f", {workers - len(now)} do not answer" if workers > len(now) else ""
    return limit, f"{told.limiting} (so with {count} of {workers} workers{silent})", told.advice


def _counts(counts: Sequence[Counts]) -> Counts:
    pages_200, size = sum(one.pages_200 for one in counts), sum(one.bytes for one in counts)
    return Counts(
        pages=sum(one.pages for one in counts),
        pages_200=pages_200,
        bytes=size,
        requests=sum(one.requests for one in counts),
        states=_sum(one.states for one in counts),
        statuses=dict(sorted(_sum(one.statuses for one in counts).items())),
        errors=dict(Counter(_sum(one.errors for one in counts)).most_common(_ERRORS)),
        # A worker that counts for a budget knows the whole crawl's.
        total_pages_200=max(pages_200, *(one.total_pages_200 for one in counts), 0),
        total_bytes=max(size, *(one.total_bytes for one in counts), 0),
    )


def _of_crawl(kept: Mapping[str, int]) -> Counts:
    pages, pages_200, size, requests = (kept.get(name, 0) for name in TOTALS)
    states, errors = of_kind(kept, STATE), of_kind(kept, ERROR)
    statuses = dict(sorted(of_kind(kept, STATUS).items()))
    first_errors = dict(list(errors.items())[:_ERRORS])
    return Counts(pages, pages_200, size, requests, states, statuses, first_errors, pages_200, size)


def _sum(found: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    total: Counter[Any] = Counter()
    for one in found:
        total.update(one)
    return dict(total)
