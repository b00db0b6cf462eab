"""How a URL stands among those of its host, and why. Pure."""

from enum import IntEnum
from typing import Final, NamedTuple

LOOKS_ENDLESS: Final = "looks endless"
LOOKS_DATED: Final = "looks like a calendar"
LOOKS_PAST: Final = "leads past all dates"
COMBINES: Final = "combines parameters"
NOTHING_NEW: Final = "nothing new"
ENDLESS_NUMBERS: Final = "endless numbers"
SESSION_ID: Final = "session id"
ENDLESS_HOSTS: Final = "endless hosts"
MEANINGS: Final = {
    NOTHING_NEW: "pages like it had the words of others and led on to each other without end, up to this one",
    ENDLESS_NUMBERS: "pages like it differed in numbers alone and led on to each other without end, up to this one",
    SESSION_ID: "it was fetched under another session id, and pages under such ids led on to each other without end",
    ENDLESS_HOSTS: "names below its domain had the content of others and led on to each other",
}
"""What a reason for which a URL is refused says at length."""


class Rank(IntEnum):
    """The lower, the sooner."""

    OPEN = 0
    LARGE = 1
    SUNK = 2
    SPENT = 3
    """It waits until nothing else is left, and is visited then."""
    REFUSED = 4
    """It waits as well, and is refused then."""


class Judged(NamedTuple):
    """A rank, its reason for who asks why, and the section of the site: those that sank take turns. ``spare``: what is
    refused may be visited all the same if it is the only one of its section that waits."""

    rank: Rank
    reason: str = ""
    section: str = ""
    spare: bool = False
