"""What sitemaps consist of: entries, their dates and priorities."""

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

_SECONDS_A_DAY = 86_400.0
CHANGE_FREQUENCIES = {
    "always": 0.0,
    "hourly": 3600.0,
    "daily": _SECONDS_A_DAY,
    "weekly": 7 * _SECONDS_A_DAY,
    "monthly": 30 * _SECONDS_A_DAY,
    "yearly": 365 * _SECONDS_A_DAY,
    "never": math.inf,
}
"""Seconds between two changes of a page, by the words of the protocol."""
DEFAULT_PRIORITY = 0.5

_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
_TIMED = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]", re.ASCII)
_ZONED_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:?\d{2})", re.ASCII | re.IGNORECASE)
_LAST_MOMENT = re.compile(r"(?<=[T ])24:00(?::00(?:\.0*)?)?(?![\d:.])")
_ZONE_NAME = re.compile(r" ?(?:UTC|GMT)$")
"""What Ruby and others write for "Z"."""
_ZONE = re.compile(r"(?:[+-]\d{4}|[A-Za-z]{1,5})$", re.ASCII)


class Extension(msgspec.Struct, frozen=True, array_like=True):
    """One extension element of an entry, e.g. one ``image:image``."""

    name: str
    """``image``, ``video``, ``news``, ``mobile`` or ``link``."""
    values: dict[str, list[str]]
    """The texts of its children by name; attributes by ``@name``, those of children by ``child@name``."""


class SitemapUrl(msgspec.Struct, frozen=True, array_like=True):
    """One entry."""

    loc: str
    """The address as it stands there; it should be absolute."""
    lastmod: float | None = None
    """Seconds since 1970, UTC."""
    changefreq: str | None = None
    """One of :data:`CHANGE_FREQUENCIES`."""
    priority: float = DEFAULT_PRIORITY
    """From 0 to 1."""
    extensions: tuple["Extension", ...] = ()
    """What the image, video, news, mobile and hreflang extensions add, in order."""


class Sitemap(msgspec.Struct):
    """What a sitemap says."""

    kind: str = "unknown"
    """``urlset``, ``index``, ``rss``, ``atom``, ``text``, or ``unknown``."""
    urls: list[SitemapUrl] = []
    children: list[SitemapUrl] = []
    """The sitemaps that an index names."""
    truncated: bool = False
    """A bound was reached; the rest was not read."""
    broken: bool = False
    """It is not well-formed, or ended early."""

    @property
    def sitemaps(self) -> list[str]:
        """The addresses of :attr:`children`."""
        return [child.loc for child in self.children]


def parse_date(text: str) -> float | None:
    """Seconds since 1970 of a date in either format, None if it is in neither. Days and years begin at 00:00 UTC; a
    time of day without a zone is UTC in W3C's format and no date in that of RFC 822.

    The protocol's schema takes XML Schema's dates, so a day may have a zone, and a day may end at 24:00.
    """
    text = text.strip()
    try:
        if day := _DAY.fullmatch(text):
            return datetime(int(day[1]), int(day[2] or 1), int(day[3] or 1), tzinfo=UTC).timestamp()
        if day := _ZONED_DAY.fullmatch(text):
            return _timed(f"{day[1]}T00:00{day[2]}".upper())
        if _TIMED.match(text):  # databases write a blank
            return _timed(text.upper())
        return _utc(parsedate_to_datetime(text)) if _ZONE.search(text) else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _timed(text: str) -> float:
    """The same of a date in W3C's format that has a time of day."""
    text, overtime = _LAST_MOMENT.subn("00:00", _ZONE_NAME.sub("Z", text))
    return _utc(datetime.fromisoformat(text)) + overtime * _SECONDS_A_DAY


def _utc(date: datetime) -> float:
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def parse_priority(text: str) -> float:
    """A priority between 0 and 1; 0.5 for anything else."""
    try:
        value = float(text)
    except ValueError:
        return DEFAULT_PRIORITY
    return value if math.isfinite(value) and 0.0 <= value <= 1.0 else DEFAULT_PRIORITY


DAY: Final = 86_400.0


def latest_change(lastmod: float | None, now: float) -> float:
    """When a page changed last by what a sitemap says, 0 if it says nothing. A mere day may mean its last moment: once
    it is over, that is what counts, since the page may have been visited before."""
    if lastmod is None:
        return 0.0
    end = lastmod + DAY
    return end if lastmod % DAY == 0.0 and end <= now else lastmod
