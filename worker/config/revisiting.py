"""The settings of visiting again: a part of the crawl's settings. Times are seconds."""

from typing import Annotated, Final

from msgspec import Meta

from gregor.worker.config.polite import Polite
from gregor.worker.config.times import SECONDS

_CENTURY: Final = 3_153_600_000
"""Seconds: beyond it a date can be neither kept nor shown."""


class Revisiting(Polite, frozen=True, kw_only=True):
    """When pages are visited again, and how many in one run."""

    max_pages_per_run: (
        Annotated[int, Meta(ge=1, description="pages visited by one run of this process, new ones or again")] | None
    ) = None
    revisit: (
        Annotated[
            float,
            SECONDS,
            Meta(
                gt=0,
                le=_CENTURY,
                description="mean interval between two visits of a page, and the first; shorter where it is worth it",
            ),
        ]
        | None
    ) = None
    revisit_min: (
        Annotated[
            float,
            SECONDS,
            Meta(gt=0, le=_CENTURY, description="shortest interval between visits; none: an eighth of revisit"),
        ]
        | None
    ) = None
    revisit_max: (
        Annotated[
            float,
            SECONDS,
            Meta(gt=0, le=_CENTURY, description="longest interval between visits; none: 64 times revisit"),
        ]
        | None
    ) = None
    revisit_share: (
        Annotated[
            float,
            Meta(
                ge=0,
                le=1,
                description="share of the requests that visits of known pages may take while new ones wait; what they "
                "leave goes to new ones, and all is theirs where none waits; none: known pages go first",
            ),
        ]
        | None
    ) = None
    stale_after: (
        Annotated[
            float,
            SECONDS,
            Meta(
                gt=0,
                le=_CENTURY,
                description="what is kept of a URL is deleted, as if it had never been found, when it has been gone "
                "for so long, or was last visited so long ago and no visit is planned; none: never",
            ),
        ]
        | None
    ) = None


def revisit_bounds(config: Revisiting) -> tuple[float, float]:
    """The shortest and the longest interval between two visits of a page, seconds; revisits are on."""
    assert config.revisit is not None
    shortest = config.revisit / 8 if config.revisit_min is None else config.revisit_min
    longest = config.revisit * 64 if config.revisit_max is None else config.revisit_max
    if config.stale_after is not None and config.revisit_max is None:
        longest = max(config.revisit, min(longest, config.stale_after / 2))
    return shortest, longest
