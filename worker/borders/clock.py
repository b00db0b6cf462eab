"""Time, as the crawl asks for it."""

from typing import Protocol


class Clock(Protocol):
    """Time. Tests pass a virtual one."""

    def monotonic(self) -> float:
        """Seconds that go on while the machine is suspended (CLOCK_BOOTTIME), and never go back."""

    def wall(self) -> float:
        """Unix seconds; may jump. Only the coordinator's stamp and what people read use it."""
