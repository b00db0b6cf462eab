"""Who may ask an address now: requests at once, and the delay between two, whatever hosts are there.

Many hosts at one address are one server. A worker has an address for itself for a while, by a turn that all workers of
the crawl take one after another (`AddressTurns`); what runs and waits there meanwhile is decided here, in memory. So an
address of one host costs a call now and then, and one that several workers ask costs each of them one call a turn.
Where one worker is the whole crawl there is nobody to ask.
"""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from typing import Final

from gregor.worker.borders.addresses import AddressGrant, AddressTurns, HoldTerms
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.transport import Permit
from gregor.worker.config.settings import Config
from gregor.worker.fetch.address_state import ASK_AGAIN, LEAD, AddressState
from gregor.worker.fetch.held import AddressBusy

_SHARE_OF_DELAY: Final = 0.1
_USUAL_DELAY: Final = 0.05
"""Seconds between two requests to an address where nothing is set, so that it is asked 20 times a second at most; or
that share of its host's configured delay, if that is less."""
_SHORTEST, _LONGEST = 2.0, 10.0
"""Seconds for which a worker has an address."""
_OLD: Final = 10.0
"""After so many delays of its addresses a host of several has waited long."""
_MOST_WAITED: Final = 10_000
_AWAY: Final = 1.0
"""Seconds until turns are asked for again of a server that is away."""


def terms(config: Config) -> HoldTerms:
    """How long turns last. A request is written ``connect_timeout`` after its address was had, or twice as much where a
    second address is tried."""
    shortest = max(_SHORTEST, 2.0 * (config.per_address_delay or 0.0))
    return HoldTerms(
        shortest,
        max(_LONGEST, shortest),
        2.0 * config.connect_timeout + 1.0,
        config.total_timeout + config.connect_timeout,
    )


class AddressGate:
    """One worker's. Memory holds addresses in use, and each host that waits once."""

    def __init__(self, config: Config, turns: AddressTurns | None, monotonic: Callable[[], float]) -> None:
        """``turns``: whom to ask for addresses; None where no other worker is. ``monotonic``: the event loop's time."""
        self._limit = config.per_address
        self._delay = config.per_address_delay
        self._turns = turns
        self._now = monotonic
        self._terms = terms(config)
        self._worker = uuid.uuid4().hex[:16]
        self._server = ""
        self._closed_until = 0.0  # what was granted before may be forgotten: nothing is begun
        self._states: dict[str, AddressState] = {}
        self._waited: dict[str, float] = {}  # hosts of several addresses, since when
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._telling: set[asyncio.Task[None]] = set()

    @property
    def size(self) -> int:
        """Addresses in use."""
        return len(self._states)

    def delay_of(self, host_delay: float) -> float:
        """The delay of an address by that of the host which is asked: as set, else a small share of the host's."""
        return min(_SHARE_OF_DELAY * host_delay, _USUAL_DELAY) if self._delay is None else self._delay

    async def enter(self, host: str, addresses: Sequence[str], delay: float) -> "AddressTurn | None":
        """Begin a request to a host that may go to any of these addresses, ``delay`` seconds after the last one to
        each. None: nothing holds for it. Raises `AddressBusy`."""
        if not addresses or (self._limit is None and delay <= 0.0):
            return None
        states = [self._states.setdefault(address, AddressState(address)) for address in addresses]
        for state in states:
            state.delay = delay
        try:
            self._refuse_early(host, states, delay)
            if self._turns is not None and any(self._must_ask(state) for state in states):
                await self._take(self._turns, host, states)
                self._refuse_early(host, states, delay)
        except AddressBusy:
            if len(states) > 1:
                self._grow_old(host, states, delay)
            raise
        if self._waited.pop(host, None) is not None:
            for state in states:
                state.reserve("", 0.0)
        turn = AddressTurn(self, states, delay)
        turn.begin()
        try:
            wait = max(state.due(delay) for state in states) - self._now()
            if wait > 0.0:
                await asyncio.sleep(wait)
        except BaseException:
            turn.end()
            raise
        return turn

    def _grow_old(self, host: str, states: Sequence[AddressState], delay: float) -> None:
        """A host of several addresses was refused: after a while they are kept for it, so that all are free at once."""
        now = self._now()
        if len(self._waited) > _MOST_WAITED:
            self._waited.clear()  # some never came again
        since = self._waited.setdefault(host, now)
        if now - since > _OLD * delay + LEAD and not any(state.is_kept_from(host, now) for state in states):
            for state in states:
                state.reserve(host, now + 2.0 * delay + 3.0 * self._terms.shortest)

    def _must_ask(self, state: AddressState) -> bool:
        return self._now() >= state.begin_until or not state.has_room(self._limit)

    def _refuse_early(self, host: str, states: Sequence[AddressState], delay: float) -> None:
        """Raise `AddressBusy` if it is known here that one of them has no room now."""
        now = self._now()
        for state in states:
            others_may_have_ended = state.others and state.running < (self._limit or 0) and now >= state.next_ask
            full = not state.has_room(self._limit) and not others_may_have_ended
            early = state.due(delay) - LEAD > now
            elsewhere = self._turns is not None and now >= state.begin_until and now < state.next_ask
            if state.pending or state.asking or full or early or elsewhere or state.is_kept_from(host, now):
                asyncio.get_running_loop().call_soon(self.tend, state)
                raise self._busy(state, host)

    def _busy(self, state: AddressState, host: str) -> AddressBusy:
        """It is called; the time is for what never comes to pass."""
        return AddressBusy(state, host, min(60.0, 1.0 + 2.0 * len(state.waiting) * max(state.delay, LEAD)))

    async def _take(self, turns: AddressTurns, host: str, states: Sequence[AddressState]) -> None:
        """Ask for the turn of addresses. Raises `AddressBusy` if another has one of them."""
        asked = self._now()
        for state in states:
            state.asking = True
        try:
            grant = await turns.take(self._worker, [state.use(asked) for state in states], self._terms)
        except Unavailable:
            for state in states:
                state.next_ask = self._now() + _AWAY
            raise self._busy(states[0], host) from None
        finally:
            for state in states:
                state.asking = False
                asyncio.get_running_loop().call_soon(self.tend, state)
        self._answered(host, states, grant, asked)

    def _answered(self, host: str, states: Sequence[AddressState], grant: AddressGrant, asked: float) -> None:
        now = self._now()
        if self._server and grant.server != self._server:  # it may not know who had what: whoever had it has ended then
            self._closed_until = now + self._terms.longest + self._terms.allowance + states[0].delay
        self._server = grant.server
        if grant.granted and now >= self._closed_until:
            for state, others in zip(states, grant.others, strict=True):
                state.granted(grant, others, asked, now, self._terms.allowance)
                state.next_ask = now + ASK_AGAIN
            return
        again = max(self._closed_until, now if grant.granted else now + grant.seconds)
        for state in states:
            state.refused(again)
        raise self._busy(states[0], host)

    def tend(self, state: AddressState) -> None:
        """See what is next for an address: whom to call, when to look again, whether to let it go."""
        if (timer := self._timers.pop(state.address, None)) is not None:
            timer.cancel()
        if state.pending or state.asking:
            return  # it comes here again
        now, again = self._now(), 0.0
        own = self._turns is None or now < state.begin_until
        if state.waiting:
            ready = max(state.due(state.delay) - LEAD, 0.0 if own else state.next_ask)
            if not state.has_room(self._limit):
                if not state.others:
                    return  # the end of a request is waited for
                ready = max(ready, state.next_ask)
            if now < ready:
                again = ready
            elif state.call_next(now):
                again = now + max(ASK_AGAIN, state.delay)
            elif state.waiting:
                again = max(state.reserved_until, now + LEAD)
        if not again and not state.waiting and state.send_until > now and (not own or state.contended):
            self._release(state)
        if not again:
            if state.is_idle(now):
                self._states.pop(state.address, None)
                return
            again = max(state.due(state.delay), state.begin_until if own else state.send_until, now + LEAD)
        loop = asyncio.get_running_loop()
        self._timers[state.address] = loop.call_later(again - now, self.tend, state)

    def ended(self, state: AddressState) -> None:
        """A request to it has ended."""
        over = self._now() >= state.begin_until and not state.pending  # what connects still counts on its turn
        if self._limit is not None and self._turns is not None and over:
            self._release(state)  # whoever has it now hears that there is room
        self.tend(state)

    def may_send(self, states: Sequence[AddressState]) -> bool:
        """Whether the addresses are this worker's own still. It only reads."""
        now = self._now()
        return self._turns is None or all(now < state.send_until for state in states)

    def sent(self, states: Sequence[AddressState]) -> None:
        """A request to one of them is being written: it counts for all."""
        now = self._now()
        for state in states:
            state.sent(now)
            self.tend(state)

    async def leave(self) -> None:
        """Let go what it has: others need not wait until it ends by itself."""
        held = [state.use(self._now()) for state in self._states.values() if self._now() < state.send_until]
        for state in self._states.values():
            state.refused(state.next_ask)
        if self._turns is not None and held:
            await self._turns.release(self._worker, held, self._terms)

    def _release(self, state: AddressState) -> None:
        """Tell that an address is free, or what runs to it still. If that does not arrive, the turn ends by itself."""
        state.refused(state.next_ask)
        assert self._turns is not None
        task = asyncio.create_task(self._tell(self._turns, state))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, turns: AddressTurns, state: AddressState) -> None:
        try:
            await turns.release(self._worker, [state.use(self._now())], self._terms)
        except Unavailable:
            return  # counted where all calls are


class AddressTurn:
    """One request's turn of its addresses, from before its connection to the end of its answer."""

    def __init__(self, gate: AddressGate, states: Sequence[AddressState], delay: float) -> None:
        self._gate = gate
        self._states = states
        self._spaced = delay > 0.0
        self._unsent = True
        self.late = False
        """Whether it took so long to connect that an address may be another worker's: it failed, and is not written."""

    def begin(self) -> None:
        """It runs from now on."""
        for state in self._states:
            state.running += 1
            state.pending = self._spaced

    def permit(self, permit: Permit) -> "AddressPermit":
        """The permit of the request, which holds as long as the addresses are the worker's own."""
        return AddressPermit(self, permit)

    def holds(self) -> bool:
        """Whether the request may be written now. Where nothing but their number is bounded it runs since it began."""
        self.late = self._spaced and not self._gate.may_send(self._states)
        return not self.late

    def sent(self) -> None:
        """The request is being written."""
        self._unsent = False
        self._gate.sent(self._states)

    def end(self) -> None:
        """It has ended, or was never made."""
        for state in self._states:
            state.running -= 1
            if self._unsent and self._spaced:
                state.pending = False
            self._gate.ended(state)


class AddressPermit:
    """A `Permit` that holds while the addresses are the worker's own."""

    __slots__ = ("_permit", "_turn")

    def __init__(self, turn: AddressTurn, permit: Permit) -> None:
        self._turn = turn
        self._permit = permit

    def allows(self) -> bool:
        """See `Permit.allows`."""
        return self._turn.holds() and self._permit.allows()

    def sent(self) -> None:
        """See `Permit.sent`."""
        self._permit.sent()  # first: on record it is no later than the next one is reckoned from
        self._turn.sent()
