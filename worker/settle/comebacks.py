"""What a trap rule refused: set aside as it is denied, and asked for when pages like it bring something new."""

from collections.abc import Callable

import msgspec

from gregor.schemas.messages import Row, Ticket
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.fetch.outcomes import Denied
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.tickets import revisit_asked
from gregor.worker.frontier.waiting import WaitingTickets
from gregor.worker.links.reasons import reason, what_decided
from gregor.worker.links.tickets import again
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.politeness.host_records import HostRecords
from gregor.worker.settle.visited import Visited


class Comebacks:
    """Those of one partition. They are applied in turns of the URL's host, so no visit runs beside."""

    def __init__(
        self,
        waiting: WaitingTickets,
        *,
        traps: Traps,
        records: HostRecords,
        store: PageStore,
        log: FrontierLog,
        effects: Effects,
        now: Callable[[], float],
        stats: Stats,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._waiting = waiting
        self._traps = traps
        self._records = records
        self._store = store
        self._log = log
        self._effect = effects.run
        self._now = now
        self._stats = stats

    async def refuse(self, host: Host, ticket: Ticket, row: Row | None, rule: str) -> Visited:
        """The visit of a URL that is refused, by a ``rule`` against traps: denied, and set aside first."""
        self._traps.set_aside(ticket)
        await self._records.learnt(host)
        self._stats.traps["refused"] += 1
        return Visited(ticket, row, Denied(reason("trap", rule)))

    async def bring(self, host: str) -> None:
        """Ask for what may come back of a host, and of names below its domain. It is forgotten only once it was asked
        for: who loses the lease before brings it back when it has the next one."""
        if keys := self._traps.returning(host):
            await self._ask_again(keys)
            self._traps.came_back(host, keys)
        if links := self._traps.refused_names.returning(host):
            now = self._now()
            again_at = [msgspec.structs.replace(link, at=now) for link in links]
            await self._effect(lambda: self._log.publish(again_at))
            self._traps.refused_names.came_back(host, links)
            self._stats.traps["returned"] += len(links)

    async def _ask_again(self, keys: list[str]) -> None:
        """The ticket is a revisit, as that of an order is: it names the visit that comes next by the row, so that
        asking twice is asking once, and what was visited since is not asked for."""
        rows = await self._effect(lambda: self._store.rows(keys))
        for row in rows:
            if row is not None and row.state == "denied" and what_decided(row.rule, "trap"):
                now = self._now()
                await self._waiting.appoint(revisit_asked(again(row, at=now, due=now)), now)
                self._stats.traps["returned"] += 1
