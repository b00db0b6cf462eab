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
from gregor.worker.inspect.outlook import combined
from gregor.worker.inspect.rates import Rates
from gregor.worker.inspect.worker_state import Condition, WorkerState
from gregor.worker.observe.bottleneck import of_most
from gregor.worker.observe.sums import summed

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
    now = [worker.now for worker in statuses]
    states = {worker.state for worker in now}
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
        seconds=max((worker.seconds for worker in now), default=0.0),
        partitions=sum(worker.partitions for worker in now),
        running=sum(worker.running for worker in now),
        concurrency=sum(worker.concurrency for worker in now),
        hosts={**dict.fromkeys(HOST_STATES, 0), **summed(worker.hosts for worker in now)},
        back_queues=sum(worker.back_queues for worker in now),
        front_queues={**dict.fromkeys(PRIORITIES, 0), **summed(worker.front_queues for worker in now)},
        window={**dict.fromkeys(PRIORITIES, 0), **summed(worker.window for worker in now)},
        buckets=sum(worker.buckets for worker in now),
        due=sum(worker.due for worker in now),
        overdue=max((worker.overdue for worker in now), default=0.0),
        drift=tuple({(away.rule, away.field): away for worker in now for away in worker.drift}.values()),
    )
    rates = Rates(*(sum(getattr(status.rates, name) for status in statuses) for name in Rates.__struct_fields__))
    counts = _counts([status.counts for status in statuses]) if kept is None else _of_crawl(kept)
    return Status(condition, rates, counts, combined([status.outlook for status in statuses]))


def first_hosts(hosts: Iterable[HostView], asked: HostsQuery) -> list[HostView]:
    """Of what each worker names first those that are first of all."""
    place = _PLACES["host" if asked.after else asked.sort]
    return first(
        hosts, asked.limit, lambda host: (place(host), host.host), reverse=asked.order == "last" and not asked.after
    )


def _limit(now: Sequence[Condition], workers: int) -> tuple[str, str, str]:
    """What limits most workers, in the words of the one that has most to do."""
    if not now:
        return "starting", f"nothing: {'none of the workers answers' if workers else 'no worker is there'}", ""
    busiest, count = of_most(now, lambda condition: condition.back_queues)
    if workers == 1:
        return busiest.limit, busiest.limiting, busiest.advice
    silent = f", {workers - len(now)} do not answer" if workers > len(now) else ""
    return busiest.limit, f"{busiest.limiting} (so with {count} of {workers} workers{silent})", busiest.advice


def _counts(counts: Sequence[Counts]) -> Counts:
    pages_200, size = sum(of_worker.pages_200 for of_worker in counts), sum(of_worker.bytes for of_worker in counts)
    return Counts(
        pages=sum(of_worker.pages for of_worker in counts),
        pages_200=pages_200,
        bytes=size,
        requests=sum(of_worker.requests for of_worker in counts),
        states=summed(of_worker.states for of_worker in counts),
        statuses=dict(sorted(summed(of_worker.statuses for of_worker in counts).items())),
        errors=dict(Counter(summed(of_worker.errors for of_worker in counts)).most_common(_ERRORS)),
        # A worker that counts for a budget knows the whole crawl's.
        total_pages_200=max(pages_200, *(of_worker.total_pages_200 for of_worker in counts), 0),
        total_bytes=max(size, *(of_worker.total_bytes for of_worker in counts), 0),
    )


def _of_crawl(kept: Mapping[str, int]) -> Counts:
    pages, pages_200, size, requests = (kept.get(name, 0) for name in TOTALS)
    states, errors = of_kind(kept, STATE), of_kind(kept, ERROR)
    statuses = dict(sorted(of_kind(kept, STATUS).items()))
    first_errors = dict(list(errors.items())[:_ERRORS])
    return Counts(pages, pages_200, size, requests, states, statuses, first_errors, pages_200, size)
