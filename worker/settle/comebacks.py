"""What a trap rule refused: set aside as it is denied, and asked for when pages like it bring something new."""

from collections.abc import Callable

from gregor.schemas.messages import Row, Ticket
from gregor.worker.borders.effects import Effects
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
        effects: Effects,
        now: Callable[[], float],
        stats: Stats,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._waiting = waiting
        self._traps = traps
        self._records = records
        self._store = store
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
        """Ask for what may come back of a host. The ticket is a revisit, as that of an order is: it names the visit
        that comes next by the row, so that asking twice is asking once, and what was visited since is not asked for."""
        keys = self._traps.returning(host)
        rows = await self._effect(lambda: self._store.rows(keys)) if keys else []
        for row in rows:
            if row is not None and row.state == "denied" and what_decided(row.rule, "trap"):
                now = self._now()
                await self._waiting.appoint(revisit_asked(again(row, at=now, due=now)), now)
                self._stats.traps["returned"] += 1
