"""What a worker did so far and what limits it now, for the live view, the report and the metrics."""

from collections import Counter
from dataclasses import dataclass, field

from gregor.schemas.messages import State
from gregor.worker.borders import Unavailable


@dataclass
class Stats:
    """Counts since the start of the process; `before` holds what the data folder had then."""

    started: float = 0.0
    pages: int = 0
    pages_200: int = 0
    bytes: int = 0
    requests: int = 0
    states: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    before: dict[str, int] = field(default_factory=dict)
    running: int = 0
    queued: int = 0
    hosts: int = 0
    hosts_waiting: int = 0
    hosts_blocked: int = 0
    partitions: int = 0
    service_away: str = ""
    limiting: str = "starting"

    def settled(self, state: State) -> None:
        """A URL reached a state."""
        self.states[state] += 1

    def stored(self, status: int, size: int) -> None:
        """A page was stored."""
        self.pages += 1
        self.pages_200 += status == 200
        self.bytes += size

    def away(self, error: Unavailable) -> None:
        """A service did not answer."""
        self.service_away = error.service
        self.errors[f"unavailable: {error.service}"] += 1

    def back(self) -> None:
        """A service answered."""
        if self.service_away:
            self.service_away = ""

    @property
    def total_pages_200(self) -> int:
        """Stored pages with status 200 in the data folder, what `max_pages` counts."""
        return self.before.get("pages_200", 0) + self.pages_200

    @property
    def total_bytes(self) -> int:
        """Stored bytes in the data folder, what `max_bytes` counts."""
        return self.before.get("bytes", 0) + self.bytes
