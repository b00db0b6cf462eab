"""A visit becomes durable, so that nothing can be lost: at once where an engine can, else in its steps."""

from collections.abc import Callable, Sequence
from typing import Protocol

from gregor.schemas.messages import Row, Ticket, url_fingerprint
from gregor.worker.base.shortage import own_shortages
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.errors import DiskFull
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.seen import SeenSet
from gregor.worker.borders.services import Services
from gregor.worker.borders.settlement import Settlement, Settler, bodies
from gregor.worker.borders.store import Entry, PageStore
from gregor.worker.frontier.partition import Partition
from gregor.worker.settle.rows import dead_letter, forgotten
from gregor.worker.settle.verdicts import GIVEN_UP, Verdict
from gregor.worker.settle.visited import Visited


class Settling(Protocol):
    """Steps 1 to 5 of a settle, under the lease of an owner."""

    async def settle(self, settlement: Settlement) -> None:
        """Make it durable; `Settlement.kept_row` and the page are then as they were written. Raises `LeaseLost`."""


class AtOnce:
    """All of it in one transaction of the engine."""

    def __init__(self, settler: Settler, effects: Effects) -> None:
        self._settler = settler
        self._effect = effects.run

    async def settle(self, settlement: Settlement) -> None:
        """See `Settling.settle`."""
        with own_shortages(but=DiskFull):  # a large body is a file of its own
            await self._effect(lambda: self._settler.settle(settlement))


class InSteps:
    """Each step is acknowledged before the next. A settle that is cut short is done again, from where it was."""

    def __init__(self, log: FrontierLog, seen: SeenSet, store: PageStore, effects: Effects) -> None:
        self._log = log
        self._seen = seen
        self._store = store
        self._effect = effects.run

    async def settle(self, settlement: Settlement) -> None:
        """See `Settling.settle`."""
        log, store, effect = self._log, self._store, self._effect
        if settlement.page is not None:
            await self._store_page(settlement)  # 1 page, links, items, bodies; then the fingerprint
        if settlement.tickets and not settlement.opted_out():
            await effect(lambda: log.publish(settlement.tickets))  # 2 outlinks published
            settlement.published = settlement.tickets
        if (news := settlement.news) is not None and not settlement.opted_out():  # before the row: else nobody would
            await effect(lambda: log.announce(news))
        if (entry := settlement.entry) is not None:  # 3 the next ticket
            await effect(lambda: store.put_entries(settlement.partition, [entry], settlement.stamp()))
        if (letter := settlement.letter) is not None and not settlement.opted_out():
            await effect(lambda: store.put_dead_letter(letter))
            await effect(lambda: log.announce(letter))
        await effect(lambda: store.put_rows([settlement.to_keep()], settlement.stamp()))  # 4 the row
        await effect(lambda: self._seen.mark([settlement.mark]))  # 5 seen

    async def _store_page(self, settlement: Settlement) -> None:
        """A fingerprint names a stored page: store, then set if absent; the loser is relabelled."""
        page, answer, opted_out = settlement.page, settlement.answer, settlement.opted_out
        assert page is not None

        async def put() -> None:
            if answer is None or opted_out():
                return
            with bodies(answer) as (body, kept):
                await self._store.put_page(page, body, kept, settlement.stamp())

        with own_shortages(but=DiskFull):  # a large body is a file of its own
            await self._effect(put)
        if not settlement.claims or opted_out():
            return
        owner = await self._effect(lambda: self._seen.claim(page.fingerprint, page.key))
        if owner != page.key:
            settlement.relabel(owner)
            await self._effect(lambda: self._store.put_page(page, None, None, settlement.stamp()))


def settling_of(services: Services, effects: Effects) -> Settling:
    """How visits are settled with these services, by an owner."""
    if services.settler is not None:
        return AtOnce(services.settler, effects)
    return InSteps(services.log, services.seen, services.store, effects)


def settlement_of(
    visited: Visited,
    verdict: Verdict,
    row: Row,
    links: Sequence[Ticket],
    entry: Entry | None,
    *,
    claims: bool,
    owner: Partition,
    opted_out: Callable[[str], bool],
    now: float,
) -> Settlement:
    """What a visit leaves by its verdict. ``claims``: its content is to name its page; ``owner``: its URL's; ``now``:
    unix seconds."""
    return Settlement(
        page=visited.page,
        answer=visited.response if visited.page is not None else None,
        claims=claims,
        tickets=links,
        news=visited.news(verdict.state, now),
        partition=owner.id,
        entry=entry,
        letter=dead_letter(visited, verdict, now) if verdict.state in GIVEN_UP else None,
        row=row,
        forgotten=forgotten,
        mark=url_fingerprint(visited.ticket.key),
        stamp=owner.stamp,
        opted_out=lambda: opted_out(row.host),
    )
