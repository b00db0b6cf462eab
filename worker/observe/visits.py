"""What is counted, timed, traced and logged of visits: beside the story, so that it can be read without."""

from collections.abc import Callable, Collection, Coroutine, Sequence
from time import perf_counter
from typing import Any, TypeVar

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import STILL_THERE, Page, Row, State, Ticket
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.transport import Response
from gregor.worker.observe import tracing
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.tracing import Tracer, Visit

T = TypeVar("T")
_LOG = logs("crawl")


class Visits:
    """The visits of one worker."""

    def __init__(
        self,
        stats: Stats,
        tracer: Tracer | None,
        *,
        partitions: int,
        wanted: Callable[[], Collection[int]],
        monotonic: Callable[[], float],
        relevant_from: float = 0.0,
    ) -> None:
        """``partitions`` is how many the crawl has, ``wanted`` gives those that are this worker's.
        ``relevant_from``: see `topic_threshold`."""
        self._stats = stats
        self._tracer = tracer
        self._partitions = partitions
        self._wanted = wanted
        self._monotonic = monotonic
        self._relevant_from = relevant_from

    @property
    def running(self) -> int:
        """How many visits run now."""
        return self._stats.running

    def begun(self, lease: Lease, host: str, late: float) -> Visit:
        """A visit of a host whose turn came ``late`` seconds after it was due; it runs while the block does."""
        return Visit(lease.partition, lease.epoch, host, self._tracer, late)

    def answered(self, response: Response | None) -> None:
        """A page's request was answered, if there is a response."""
        if response is not None:
            self._stats.answered(response)

    async def parse(self, work: Coroutine[Any, Any, T]) -> T:
        """Have a document read."""
        begun = perf_counter()
        result = await self._stats.cpu_time.charge("parse", work)
        self._stats.stages["parse"].observe(perf_counter() - begun)
        tracing.ended("parse")
        return result

    async def settle(self, work: Coroutine[Any, Any, None]) -> None:
        """Have what was fetched settled."""
        begun = self._monotonic()
        await self._stats.cpu_time.charge("settle", work)
        self._stats.stages["settle"].observe(self._monotonic() - begun)
        tracing.ended("settle")

    def published(self, tickets: Sequence[Ticket]) -> None:
        """Links were published: how many, and how many of them stay on this worker."""
        if not tickets:
            return
        stats, mine = self._stats, self._wanted()
        stays = sum(partition_of(ticket.host, self._partitions) in mine for ticket in tickets)
        stats.links["sent"] += len(tickets)
        stats.churn["stays"] += stays
        stats.churn["crosses"] += len(tickets) - stays

    def settled(
        self, state: State, page: Page | None, rows: tuple[Row | None, Row], cause: str, added: tuple[int, int, int]
    ) -> None:
        """What became of a visit, for the counters, the trace and the log: never what a site wrote.

        ``rows``: that before the visit, and that after it. ``added``: to the crawl's pages with status 200, to its
        bytes, and to its requisites.
        ``state`` is the verdict's, ``cause`` that of a failure, if it was one.
        """
        stats, (before, row) = self._stats, rows
        stats.settled(state if page is None else page.state)
        if change := page_change(before, row):
            stats.changes[change] += 1
        stats.recent.append(row)
        seconds = row.attempts[-1].elapsed if row.attempts else 0.0
        stats.by_host.add(row.host, None if page is None else page.size, seconds, failed=bool(cause))
        if page is not None:
            stats.stored(page.status, page.size, page.state, added[:2])
            stats.requisites += added[2]
            if page.relevance is not None:
                stats.relevant[page.relevance >= self._relevant_from] += 1
            if page.page_class:
                stats.classes[page.page_class] += 1
        if cause:
            stats.errors[cause] += 1
            stats.trouble = f"{row.href}: {row.outcome}"
        visit = tracing.current()
        if visit is not None and visit.stages is not None:
            visit.facts.update({"url.full": row.href, "gregor.state": row.state})
            visit.facts.update({"http.response.status_code": row.status} if row.status else {})
            visit.facts.update({"error": cause} if cause else {})
        _LOG.debug("visited", url=row.href, state=row.state, status=row.status, cause=cause, visits=row.visits)


def page_change(before: Row | None, row: Row) -> str:
    """What a visit made of a page: "new", "changed", "unchanged" or "gone"; "" of none, or nothing that is known."""
    if before is None or not before.page:
        return "new" if row.page else ""
    if row.changed > before.changed:
        return "changed"
    if row.unchanged > before.unchanged:
        return "unchanged"
    return "gone" if before.state in STILL_THERE and row.state not in STILL_THERE else ""
