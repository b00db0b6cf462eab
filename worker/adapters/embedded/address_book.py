"""Whose turn each address is, kept in one process for all processes of a crawl on one machine. No call waits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gregor.worker.borders.addresses import AddressGrant, AddressUse, HoldTerms

_NEAR: Final = 0.1
"""Seconds before its end in which a turn is over for who asks again."""
_PATIENCE: Final = 1.0
"""Seconds for which an address is kept for the one that waits longest."""
_AGAIN: Final = 0.05
_FORGET: Final = 60.0
_SWEEP: Final = 1000
"""Calls between two looks at what can be forgotten."""
_SERVER: Final = "this machine"


@dataclass
class _Wait:
    first: float
    again: float


@dataclass
class _Address:
    """``began``: the last start of anyone; ``busy``: by process its requests that run, and until when that is
    believed; ``kept_until``: what is known before is needed so long."""

    holder: str = ""
    begin_until: float = 0.0
    send_until: float = 0.0
    last: str = ""
    length: float = 0.0
    free_since: float = 0.0
    began: float = -math.inf
    kept_until: float = 0.0
    waiting: dict[str, _Wait] = field(default_factory=dict)
    busy: dict[str, tuple[int, float]] = field(default_factory=dict)

    def let_go(self, at: float) -> None:
        """Its turn is over since then."""
        self.holder, self.send_until, self.free_since = "", at, at


class AddressBook:
    """The turns of all processes; see `AddressTurns`. Memory holds addresses in use of the last minutes."""

    def __init__(self, now: Callable[[], float]) -> None:
        """``now``: monotonic seconds."""
        self._now = now
        self._addresses: dict[str, _Address] = {}
        self._calls = 0

    def __len__(self) -> int:
        return len(self._addresses)

    def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        """See `AddressTurns.take`."""
        now = self._now()
        states = [self._see(worker, use, terms, now) for use in uses]
        waits = [self._wait(worker, state, now) for state in states]
        contended = any(other != worker for state in states for other in state.waiting)
        if again := max(waits, default=0.0):
            for state in states:
                first = state.waiting[worker].first if worker in state.waiting else now
                state.waiting[worker] = _Wait(first, now + again)
            return AddressGrant(False, again, contended, self._others(worker, uses, states, now), _SERVER)
        for state in states:
            self._give(worker, state, terms, now, contended=contended)
        least = min((state.begin_until - now for state in states), default=terms.shortest)
        return AddressGrant(True, least, contended, self._others(worker, uses, states, now), _SERVER)

    def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        """See `AddressTurns.release`."""
        now = self._now()
        for use in uses:
            state = self._see(worker, use, terms, now)
            if state.holder == worker:
                state.let_go(now)

    def end(self, worker: str) -> None:
        """A worker has ended: it holds nothing up. What it asked last, it asked now at the latest."""
        now = self._now()
        for state in self._addresses.values():
            state.busy.pop(worker, None)
            state.waiting.pop(worker, None)
            if state.holder == worker:
                state.let_go(now)
                state.began = max(state.began, now)

    def _give(self, worker: str, state: _Address, terms: HoldTerms, now: float, *, contended: bool) -> None:
        state.waiting.pop(worker, None)
        if state.holder != worker or now >= state.begin_until - _NEAR:
            twice = min(terms.longest, max(terms.shortest, 2 * state.length))
            state.length = twice if not contended and state.last == worker else terms.shortest
            state.holder = state.last = worker
            state.begin_until = now + state.length
            state.send_until = state.begin_until + terms.allowance
            state.kept_until = max(state.kept_until, state.send_until + _FORGET)

    def _see(self, worker: str, use: AddressUse, terms: HoldTerms, now: float) -> _Address:
        """An address as it is now, with what the worker tells of it."""
        self._sweep(now)
        state = self._addresses.setdefault(use.address, _Address())
        state.kept_until = max(state.kept_until, now + terms.lasting + _FORGET)
        state.busy[worker] = (use.running, now + terms.lasting)
        state.busy = {name: busy for name, busy in state.busy.items() if busy[0] and busy[1] > now}
        if state.holder and state.send_until <= now:
            if state.holder != worker:
                state.began = max(state.began, state.send_until)
            state.let_go(state.send_until)
        if use.since >= 0.0:
            state.began = max(state.began, now - use.since)
        own = state.waiting.get(worker)
        state.waiting = {
            name: wait for name, wait in state.waiting.items() if wait is own or wait.again + _PATIENCE >= now
        }
        return state

    def _wait(self, worker: str, state: _Address, now: float) -> float:
        """Seconds until it may be asked for again; 0: it is the worker's."""
        others = [wait.first for name, wait in state.waiting.items() if name != worker]
        if state.holder == worker and others and now >= state.begin_until - _NEAR:
            state.let_go(now)
            return _AGAIN
        if state.holder not in ("", worker):
            return max(_AGAIN, state.begin_until - now)
        own = state.waiting[worker].first if worker in state.waiting else math.inf
        is_behind = bool(others) and min(others) < own
        return _AGAIN if not state.holder and is_behind and now - state.free_since < _PATIENCE else 0.0

    def _others(
        self, worker: str, uses: Sequence[AddressUse], states: Sequence[_Address], now: float
    ) -> tuple[AddressUse, ...]:
        return tuple(
            AddressUse(
                use.address,
                sum(count for name, (count, _) in state.busy.items() if name != worker),
                max(0.0, now - state.began) if state.began > -math.inf else -1.0,
            )
            for use, state in zip(uses, states, strict=True)
        )

    def _sweep(self, now: float) -> None:
        """Forget addresses that nobody asks any more."""
        self._calls += 1
        if self._calls % _SWEEP == 0:
            self._addresses = {name: state for name, state in self._addresses.items() if state.kept_until > now}
