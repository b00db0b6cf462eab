"""Is an answer coming fast enough? Pure: time comes in, in seconds of any monotonic clock."""

from gregor.worker.borders.transport import Limits


class Pace:
    """Watches one answer for silence, slowness and the total time. Begin it when the fetch begins."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._deadline = now + limits.total_timeout
        self._last = now
        self._window_start: float | None = None
        self._window_bytes = 0
        self._sending = False

    def sent(self, now: float) -> None:
        """The request is being written; from now on the server is expected to speak."""
        self._sending = True
        self._last = now

    def received(self, count: int, now: float) -> None:
        """`count` bytes of the body (0: a line of the head) have arrived."""
        self._last = now
        if count and self._window_start is None:
            self._window_start = now
        self._window_bytes += count

    def fault(self, now: float) -> str | None:
        """What is wrong now, for people; None while all is well. Starts the next window of the rate."""
        if now >= self._deadline:
            return f"no whole answer within {self._limits.total_timeout:g} s"
        if self._sending and now >= self._last + self._limits.read_timeout:
            return f"nothing received for {self._limits.read_timeout:g} s"
        if self._window_start is not None and now >= self._window_start + self._limits.rate_window:
            if self._window_bytes < self._limits.minimum_rate * self._limits.rate_window:
                return f"slower than {self._limits.minimum_rate} bytes/s"
            self._window_start, self._window_bytes = now, 0
        return None

    def next_look(self, now: float) -> float:
        """Seconds until `fault` can be true; more often is harmless."""
        due = min(self._deadline, (self._last if self._sending else now) + self._limits.read_timeout)
        if self._limits.minimum_rate:
            due = min(due, (self._window_start or now) + self._limits.rate_window)
        return max(0.0, due - now)
