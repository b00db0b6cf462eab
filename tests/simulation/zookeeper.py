"""Sessions, ephemeral ownership and epochs as ZooKeeper keeps them. Times are true seconds, given by the world."""

from collections.abc import Callable
from dataclasses import dataclass, field

from gregor.worker.orders.model import Orders


class Expired(Exception):
    """The server does not know this session any more."""


@dataclass
class Session:
    """One client's session; what it created goes with it."""

    number: int
    client: str
    expires: float
    member: bool = False
    owned: dict[int, int] = field(default_factory=dict)
    """Epochs by partition."""


@dataclass(frozen=True)
class Ownership:
    """A change of owner, for the checker."""

    time: float
    partition: int
    client: str
    epoch: int
    gained: bool


@dataclass(frozen=True)
class Left:
    """A node of the asking session is there, of an acquire or release whose answer was lost."""

    epoch: int


class ZooKeeper:
    """The server. Every method first lets sessions expire whose time has come."""

    def __init__(self, partitions: int, session_timeout: float, now: Callable[[], float]) -> None:
        self.partitions = partitions
        self.session_timeout = session_timeout
        self.sessions: dict[int, Session] = {}
        self.orders = Orders()
        self.history: list[Ownership] = []
        self.watchers: list[Callable[[], None]] = []
        self.version = 0
        self._epochs: dict[int, int] = {}
        self._now = now
        self._last = 0

    def open(self, client: str) -> tuple[int, float]:
        """A new session: its number, and the server's time."""
        self.expire()
        self._last += 1
        self.sessions[self._last] = Session(self._last, client, self._now() + self.session_timeout)
        return self._last, self._now()

    def enter(self, number: int) -> None:
        """Become a member."""
        self._session(number).member = True
        self._tell()

    def ping(self, number: int) -> bool:
        """Whether the session lives; then it lives for another time-out."""
        self.expire()
        session = self.sessions.get(number)
        if session is None:
            return False
        session.expires = self._now() + self.session_timeout
        return True

    def members(self) -> list[str]:
        """The live members, in a fixed order."""
        self.expire()
        return sorted({session.client for session in self.sessions.values() if session.member})

    def owner(self, partition: int) -> Session | None:
        """Who owns a partition now."""
        self.expire()
        return next((s for s in self.sessions.values() if partition in s.owned), None)

    def acquire(self, number: int, partition: int, above: int) -> tuple[int, float] | Left | None:
        """The epoch, and the time of the takeover; None while another session owns it, `Left` while this one does."""
        session = self._session(number)
        owner = self.owner(partition)
        if owner is session:
            return Left(session.owned[partition])
        if owner is not None:
            return None
        epoch = max(self._epochs.get(partition, 0), above) + 1
        self._epochs[partition] = epoch
        session.owned[partition] = epoch
        self._record(session, partition, True)
        return epoch, self._now()

    def release(self, number: int, partition: int, epoch: int) -> None:
        """Let a partition go, if it is still held under this epoch."""
        self.expire()
        session = self.sessions.get(number)
        if session is not None and session.owned.get(partition) == epoch:
            self._record(session, partition, False)
            del session.owned[partition]
            self._tell()

    def leave(self, number: int) -> None:
        """Stop being a member."""
        self.expire()
        if number in self.sessions:
            self.sessions[number].member = False
            self._tell()

    def close(self, number: int) -> None:
        """End a session at once."""
        self.expire()
        if number in self.sessions:
            self._end(self.sessions[number])

    def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        """Change the standing orders."""
        self.orders = change(self.orders)
        self._tell()
        return self.orders

    def expire(self) -> None:
        """End the sessions whose time-out has passed."""
        for session in [s for s in self.sessions.values() if s.expires <= self._now()]:
            self._end(session)

    def _session(self, number: int) -> Session:
        self.expire()
        if number not in self.sessions:
            raise Expired
        return self.sessions[number]

    def _end(self, session: Session) -> None:
        del self.sessions[session.number]
        for partition in session.owned:
            self._record(session, partition, False)
        self._tell()

    def _record(self, session: Session, partition: int, gained: bool) -> None:
        self.history.append(Ownership(self._now(), partition, session.client, session.owned[partition], gained))

    def view(self) -> tuple[int, list[str], Orders]:
        """What clients watch: members and orders, and the number of changes so far."""
        members = self.members()
        return self.version, members, self.orders

    def _tell(self) -> None:
        self.version += 1
        for watcher in self.watchers:
            watcher()
