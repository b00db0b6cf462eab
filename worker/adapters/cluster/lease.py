"""A ZooKeeper session as its client may count on it, and the leases that end with it. Pure; times are the clock's.

The server lets a session live for at least its time-out after each request that it has answered. When it received the
request is unknown here, when it was sent is not; so that is what counts.
"""

from gregor.worker.borders.clock import Clock


class Session:
    """One session. `lose` may be called by any thread, the rest by the event loop only."""

    def __init__(self, number: int, length: float) -> None:
        """``number`` is ZooKeeper's. ``length`` is its time-out less the margin, in seconds."""
        self.number = number
        self.end = float("-inf")
        self.lost = False
        self._length = length

    def answered(self, sent: float) -> None:
        """A request that was sent then has been answered in this session."""
        self.end = max(self.end, sent + self._length)

    def grant(self, length: float) -> None:
        """The server grants another length from now on."""
        # What was granted longer before holds no more: the server counts anew when its client comes back.
        self.end += min(0.0, length - self._length)
        self._length = length

    def lose(self) -> None:
        """It is over, and stays so."""
        self.lost = True

    def holds(self, now: float) -> bool:
        """Whether the server certainly keeps what hangs on this session."""
        return not self.lost and now < self.end


class ClusterLease:
    """`Lease`. It may hold again after it did not, in the same session, as long as it is not released."""

    def __init__(
        self, partition: int, epoch: int, *, taken_at: float, version: int, session: Session, clock: Clock
    ) -> None:
        self.partition = partition
        self.epoch = epoch
        self.taken_at = taken_at
        self.version = version
        """Of the partition's epoch node: as long as it has this one, the ownership node is this lease's."""
        self.session = session
        self._clock = clock
        self._released = False

    def holds(self) -> bool:
        """As the border says; two comparisons, from any thread."""
        return not self._released and self.session.holds(self._clock.monotonic())

    def release(self) -> None:
        """It never holds again."""
        self._released = True
