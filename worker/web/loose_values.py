"""Dates of cookies, and spans that are not as the standard has them. Pure; no input makes any of it raise."""

import calendar
import datetime
import re
from typing import Final

from gregor.worker.web.http_headers import LONGEST, any_date

_DELIMITERS = re.compile(r"[\t\x20-\x2f;-@\[-`{-~]+")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D.*)?", re.ASCII | re.DOTALL)
_DAY = re.compile(r"(\d{1,2})(?:\D.*)?", re.ASCII | re.DOTALL)
_YEAR = re.compile(r"(\d{2,4})(?:\D.*)?", re.ASCII | re.DOTALL)
_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}

_NUMBER = r"(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})"
_PART = re.compile(rf"{_NUMBER}\s*([a-z]*)\.?\s*", re.ASCII | re.IGNORECASE)
_UNITS: Final = {
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
}
_IN_PROSE = re.compile(r"(?<![\w.,-])(\d{1,18}+(?:[.,]\d{1,18}+)?+)\s*+([a-z]+)\b", re.ASCII | re.IGNORECASE)


def cookie_date(text: str) -> float | None:
    """An Expires of a cookie, POSIX seconds, by the algorithm of RFC 6265 section 5.1.1: parts in any order, whatever
    stands between them, two digits of a year from 1970 to 2069. Every date is UTC, whatever zone it names. None if it
    is no date."""
    time = day = month = year = None
    for token in _DELIMITERS.split(text):
        if time is None and (match := _TIME.fullmatch(token)):
            time = (int(match[1]), int(match[2]), int(match[3]))
        elif day is None and (match := _DAY.fullmatch(token)):
            day = int(match[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS[token[:3].lower()]
        elif year is None and (match := _YEAR.fullmatch(token)):
            year = int(match[1])
    if time is None or day is None or month is None or year is None:
        return None
    year += 1900 if 70 <= year <= 99 else 2000 if year <= 69 else 0
    if year < 1601:
        return None
    try:
        return datetime.datetime(year, month, day, *time, tzinfo=datetime.UTC).timestamp()
    except ValueError:  # no such day, or no such time of day
        return None


def loose_span(value: str, now: float) -> float | None:
    """Seconds from ``now`` that a Retry-After may mean which is neither whole seconds nor an HTTP-date (``2 s``,
    ``5.5``, ``1 h 30 min``, ``5, 10``, an ISO date): the longest of its readings and LONGEST at most, since waiting
    longer harms nobody. None if it says nothing."""
    moment = any_date(value)
    if moment is not None:
        return min(max(moment - now, 0.0), LONGEST)
    spans = [span for item in re.split("[,;]", value) if (span := _span(item.strip())) is not None]
    longest = max(spans) if spans else span_in_prose(value)
    return None if longest is None else min(longest, LONGEST)


def span_in_prose(text: str) -> float | None:
    """Seconds of all spans that a sentence names, each a number with its unit (``wait 10 seconds, please``), in all:
    the largest reading. None where it names none."""
    named = [(number, unit.lower()) for number, unit in _IN_PROSE.findall(text) if unit.lower() in _UNITS]
    return sum(float(number.replace(",", ".")) * _UNITS[unit] for number, unit in named) if named else None


def _span(item: str) -> float | None:
    """The sum of an item's numbers with their units; None where something else stands."""
    total, at = None, 0
    while at < len(item):
        part = _PART.match(item, at)
        if part is None or part[2].lower() not in _UNITS:
            return None
        total, at = (total or 0.0) + float(part[1]) * _UNITS[part[2].lower()], part.end()
    return total
