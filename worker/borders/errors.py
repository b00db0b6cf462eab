"""What every border may raise."""

from collections.abc import Callable
from typing import Literal


class Unavailable(Exception):
    """A service is away or did not answer in time; the call may or may not have taken effect. Names the service."""

    def __init__(self, service: str, detail: str, condition: Literal["away", "full"] = "away") -> None:
        """``condition``: "full" when it answers, and says that it has no room for what is written."""
        super().__init__(f"{service} is {'unavailable' if condition == 'away' else condition}: {detail}")
        self.service = service
        self.condition = condition


class DiskFull(Exception):
    """No space is left where the crawl writes: it must stop cleanly; nothing is lost."""


class Damaged(Exception):
    """What is stored is not what was stored: its name, and what is wrong with it. The rest is whole as far as is known.

    ``what``: "body", "page", "row", "entry", …; ``name``: of a body its sha256, else the key of the URL or the place.
    """

    def __init__(self, what: str, name: str, why: str) -> None:
        super().__init__(f"the {what} {name} is damaged: {why}")
        self.what = what
        self.name = name
        self.why = why


TellDamage = Callable[[Damaged], None]
"""Hears of what is damaged, once of each thing in a walk; it neither waits nor raises."""
