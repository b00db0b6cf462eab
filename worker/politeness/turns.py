"""A host's turns: when the next one may be, and what one came to."""

import math
from collections.abc import Callable

import msgspec

from gregor.schemas.parts import RequestStart
from gregor.worker.borders.transport import Response
from gregor.worker.fetch.held import RevisitHeld, TurnHeld
from gregor.worker.fetch.outcomes import Broken, Denied
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.observe.stats import Stats
from gregor.worker.politeness import delays
from gregor.worker.politeness.budgets import HostBudgets
from gregor.worker.politeness.host_records import Answered, HostRecords, Later, OriginFailed, TurnResult
from gregor.worker.politeness.spacing import Spacing


class Turns:
    """The turns of one partition's hosts."""

    def __init__(
        self,
        partition: Partition,
        *,
        records: HostRecords,
        spacing: Spacing,
        budgets: HostBudgets,
        schedule: HostSchedule,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        stats: Stats,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._partition = partition
        self.records = records
        self.spacing = spacing
        self.budgets = budgets
        self._schedule = schedule
        self._now = now
        self.monotonic = monotonic
        self._stats = stats
        # Read once, so that requests are on record exactly as far apart as they were, however busy the machine is.
        self._origin = now() - monotonic()

    async def begin(self, host: Host) -> "Turn":
        """A turn of a host, which is in no schedule now. What an earlier owner left of it is read before its first."""
        host.looks = False
        turn = Turn(self, host, self.spacing.ordered(host))
        if not host.record_read:
            await self.records.read(host)
            host.next_turn = max(host.next_turn, self._first_turn(host))
        return turn

    def sooner(self, host: Host) -> bool:
        """The delay in force may be shorter than when the next turn was set: whether that comes sooner now.

        Only where nothing but a delay is waited for.
        """
        if host.busy or host.walks or not host.record_read or host.record.not_before > self._now():
            return False
        if host.last_start == -math.inf:
            due = self._first_turn(host)
        else:
            due = max(host.last_start + self.spacing.delay(host, crawl_delay=False), self.spacing.page_due(host))
        if due >= host.next_turn:
            return False
        host.next_turn = max(due, self.monotonic())
        return True

    def holds(self) -> bool:
        """Whether the partition's lease certainly holds now. It only reads."""
        return self._partition.lease.holds()

    def sent(self, host: Host, ordered: float, asked: "_Request") -> None:
        """Put the start of a request on record; see `Turn`."""
        now, stats = self.monotonic(), self._stats
        delay = self.spacing.of_request(host, ordered)
        href, addresses, address_delay = asked.href, asked.addresses, asked.address_delay
        if href:
            page_delay = self.spacing.of_page(host, delay)
            stats.spaced(now - host.last_page, page_delay, now)
            host.last_page = now
            if host.queue.again is not None:
                host.queue.again.asked()
            start = RequestStart(self._origin + now, delay, page_delay, asked.rules, href)
        else:
            stats.spaced(now - host.last_start, delay, now)
            start = RequestStart(self._origin + now, delay, robots=True)
        host.record_request(msgspec.structs.replace(start, addresses=addresses, address_delay=address_delay))
        host.last_start = now
        stats.requests += 1
        self._partition.counts["requests"] += 1

    def set_next(self, host: Host, pause: float, robots: bool = False) -> None:
        """The next turn of a host that was asked, for a robots.txt or a page, is a delay later, and after a pause."""
        now, page_delay = self.monotonic(), self.spacing.delay(host)
        delay = self.spacing.delay(host, crawl_delay=False) if robots else page_delay
        host.next_turn = max(host.last_start + delay, host.last_page + page_delay, now + pause)

    def wait_for(self, host: Host, held: TurnHeld) -> None:
        """Try again when what holds a turn is over, and after a while in any case."""
        held.call_when_over(host, self._woken(host, held.seconds))

    def _woken(self, host: Host, seconds: float) -> Callable[[], bool]:
        """Its next turn is in so many seconds, or when this is called: which says whether it waits for that still."""
        again = host.next_turn = self.monotonic() + seconds

        def wake() -> bool:
            waits = host.alive and host.next_turn == again  # else its turn is another one by now
            if waits:
                least = host.last_start + self.spacing.delay(host)
                host.next_turn = min(again, max(self.monotonic(), least))
                self._schedule.see(self._partition, host)
            return waits

        return wake

    def _first_turn(self, host: Host) -> float:
        """When this owner may first ask a host, monotonic seconds."""
        now, lease, spacing = self._now(), self._partition.lease, self.spacing
        earliest = max(now, host.record.not_before)
        if lease.epoch > 1:
            ceiling = min(host.record.ceiling, spacing.longest(host))
            earliest = delays.first_turn(now, lease.taken_at, ceiling, spacing.first_contact, host.record.not_before)
        # It may have been asked and forgotten; what was ordered since then holds for it all the same.
        forgotten = self._partition.forgotten + spacing.delay(host, crawl_delay=False)
        return max(self.monotonic() + earliest - now, forgotten)


class Turn:
    """One turn of a host. It goes on over tickets that need no request, until one was made or the host has to wait."""

    __slots__ = ("_ordered", "_turns", "ended", "host", "used")

    def __init__(self, turns: Turns, host: Host, ordered: float) -> None:
        """``ordered``: the delay that orders asked for as it began."""
        self._turns = turns
        self._ordered = ordered
        self.host = host
        self.used = False  # a request was made
        self.ended = False

    @property
    def open(self) -> bool:
        """Whether another ticket may be looked at."""
        return not self.ended and self.host.next_turn <= self.now

    @property
    def now(self) -> float:
        """The worker's clock, monotonic seconds."""
        return self._turns.monotonic()

    @property
    def late(self) -> float:
        """Seconds since it was due."""
        return self.now - self.host.next_turn

    def refusal(self, origin: str, ordered: float = 0.0, *, more: bool = True) -> Broken | Denied | None:
        """What becomes of the tickets of an origin without a request: it failed too often, or a budget is spent.

        ``ordered``: when a person asked for the visit, unix seconds. ``more``: it would store a page more; a version
        more of one that counts already is none.
        """
        if cause := self._turns.records.given_up(self.host, origin, ordered):
            return Broken("host", cause)
        if more and (budget := self._turns.budgets.spent(self.host)):
            return Denied(budget)
        return None

    def too_early(self) -> Later | None:
        """What the turn comes to when the last page was too lately for another one; None if it was not."""
        due = self._turns.spacing.page_due(self.host)
        return Later(due) if due > self.now else None

    def for_robots(self) -> "_Request":
        """The permit of a request for a robots.txt."""
        return _Request(self, "", 0.0)

    async def for_page(self, href: str, rules: float) -> "_Request":
        """The permit of a request for a page, with the delay in force made durable. ``rules``: when the robots.txt that
        allows it was fetched, unix seconds. Raises `RevisitHeld`."""
        if (again := self.host.queue.again) is not None and (seconds := again.holds()):
            raise RevisitHeld(again, seconds)
        await self._turns.records.promise(self.host)
        return _Request(self, href, rules)

    def allows(self) -> bool:
        """Whether a request may be written now. It only reads: the lease, by the worker's own clock."""
        return self._turns.holds()

    def sent(self, asked: "_Request") -> None:
        """A request is being written. On the event loop only."""
        self.used = True
        self._turns.sent(self.host, self._ordered, asked)

    def took(self, begun: float, response: Response | None) -> float:
        """Seconds of a page's request that was ``begun``, by the clock, or as its response has them: that also says how
        long the host let wait, which the next delay goes by."""
        if response is None:
            return self.now - begun
        self.host.latency = response.latency
        return response.elapsed

    async def over(self, result: TurnResult) -> None:
        """The turn came to something: what a later owner must know is stored, and the next turn is set."""
        self.ended = True
        host, turns = self.host, self._turns
        match result:
            case Answered(pause=pause, robots=robots):
                await turns.records.answered(host, result)
                turns.set_next(host, pause, robots)
            case OriginFailed():
                turns.set_next(host, await turns.records.failed(host, result))
            case Later(at, looks):
                host.next_turn, host.looks = at, looks

    def put_off(self, pause: float) -> None:
        """The turn is over for a reason of our own. The next comes after a pause, and a delay after a request made."""
        self.ended = True
        self._turns.set_next(self.host, pause)

    def wait_for(self, held: TurnHeld) -> None:
        """The turn is over without a request. The next is when what holds it is over."""
        self.ended = True
        self._turns.wait_for(self.host, held)


class _Request:
    """The `Permit` of one request of a turn. ``href`` is empty for a robots.txt; ``rules``: when the robots.txt that
    allows it was fetched, unix seconds."""

    __slots__ = ("_turn", "address_delay", "addresses", "href", "rules")

    def __init__(self, turn: Turn, href: str, rules: float) -> None:
        self._turn = turn
        self.href = href
        self.rules = rules
        self.addresses: tuple[str, ...] = ()
        self.address_delay = 0.0

    def goes_to(self, addresses: tuple[str, ...], delay: float) -> None:
        """What is put on record of where it goes."""
        if delay > 0.0:
            self.addresses, self.address_delay = addresses, delay

    def allows(self) -> bool:
        return self._turn.allows()

    def sent(self) -> None:
        self._turn.sent(self)
