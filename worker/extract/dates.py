"""Dates and times as people write them: ISO 8601 and the dates of mail and HTTP first, anything else by dateparser."""

import re
from datetime import UTC, date, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Final
from zoneinfo import ZoneInfo

from gregor.worker.base.errors import BadInput

LONGEST: Final = 100
"""Characters of a text that may be a date."""
_ISO: Final = re.compile(r"\d{4}-?\d\d-?\d\d(?:[T ]\d\d.*)?")
_WEEK: Final = re.compile(r"\d{4}-?W\d\d(-?\d)?")
_ORDINAL: Final = re.compile(r"(\d{4}-\d{3})(?![\d-])(.*)")
_MAIL: Final = re.compile(r"(?:[A-Z][a-z]{2},\s*)?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d")
_REGION: Final = re.compile(r"[A-Z]{2}|\d{3}")
_DIGITS: Final = re.compile(r"[\d.]+")
LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "sv", "cs", "ja", "zh", "ko")
"""Those that are tried where the page does not say its own, or a date is not of it: all that there are take seconds."""
ISO: Final = "iso"
"""The format of those that are written by programs."""


def needed(form: str) -> None:
    """Raises `BadInput` where dates of this format need a package that is not installed."""
    if not form:
        try:
            import dateparser  # noqa: F401 - heavy: only where dates are read that people wrote
        except ModuleNotFoundError:
            raise BadInput(
                "dates as people write them need a package more: pip install 'gregor-crawler[extract]' (or give the "
                'field a format: "iso", or as strptime has it)'
            ) from None


def moment(text: str, form: str, language: str, zone: str, now: float) -> tuple[datetime, bool] | None:
    """The time that a text names, and whether it has a time of day; None if it names none.

    ``form``: as strptime has it, "iso", or "" for any; ``language``: BCP 47, "": not known; ``zone``: for what names
    none, "": it stays without; ``now``: what "yesterday" is reckoned from, unix seconds, 0: not known.
    """
    text = " ".join(text.split())
    if not text or len(text) > LONGEST:
        return None
    if form and form != ISO:
        return _zoned(_by_format(text, form), zone, any(mark in form for mark in ("%H", "%I", "%X", "%c", "%T")))
    if _ISO.match(text):
        time_read = _iso(text)
        if time_read is not None or form == ISO:
            return _zoned(time_read, zone, "T" in text or ":" in text)
    if week := _WEEK.match(text):
        return _zoned(_iso(text) if week[1] else None, zone, "T" in text or ":" in text)
    if ordinal := _ORDINAL.fullmatch(text):
        return _zoned(_ordinal(ordinal[1], ordinal[2]), zone, bool(ordinal[2]))
    if _MAIL.match(text):
        try:
            return _zoned(parsedate_to_datetime(text), zone, True)
        except (ValueError, IndexError, TypeError):
            return None
    return None if form == ISO else _people(text, language, zone, now)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace(" ", "T", 1))
    except ValueError:
        return None


def _ordinal(day: str, rest: str) -> datetime | None:
    """A time on a day that ISO 8601 tells by its number in the year, which has not 366 of them each time."""
    on = _by_format(day, "%Y-%j")
    return _iso(f"{on.date().isoformat()}{rest}") if on is not None and day.startswith(f"{on.year:04}") else None


def is_form(form: str) -> bool:
    """Whether a date can be read by a form, as strptime has it."""
    example = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC).strftime(form)
    try:
        datetime.strptime(example, form)  # noqa: DTZ007 - only whether it can be read
    except (ValueError, re.error):
        return False
    return example != form


def _by_format(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - its zone is given after
    except ValueError:
        return None


def _people(text: str, language: str, zone: str, now: float) -> tuple[datetime, bool] | None:
    import dateparser

    base = datetime.fromtimestamp(now, UTC).replace(tzinfo=None) if now else None
    settings: dict[str, object] = {"REQUIRE_PARTS": ["day", "month"], "PARSERS": ["relative-time", "absolute-time"]}
    if base is not None:
        settings["RELATIVE_BASE"] = base
    main, region = language.partition("-")[0].lower(), language.rpartition("-")[2].upper()
    ways: list[tuple[list[str] | None, list[str] | None]] = [([main], None)] if main else []
    if "-" in language and _REGION.fullmatch(region):  # it says whether the day or the month comes first
        ways.insert(0, (None, [f"{main}-{region}"]))
    time_read = None
    for languages, locales in (*ways, (list(LANGUAGES), None)):
        try:
            time_read = dateparser.parse(text, languages=languages, locales=locales, settings=settings)
        except (ValueError, OverflowError, TypeError, RecursionError):
            time_read = None  # no such language, or what only looked like a date
        if time_read is not None:
            break
    if time_read is None or (_DIGITS.fullmatch(text) and len(text) < 6):
        return None
    return _zoned(time_read, zone, bool(re.search(r"\d[:.h]\d\d", text)))


def _zoned(time_read: datetime | None, zone: str, has_time: bool) -> tuple[datetime, bool] | None:
    if time_read is None:
        return None
    if time_read.tzinfo is not None:  # of a type that every reader of ours knows
        offset = time_read.utcoffset() or timedelta()
        time_read = time_read.replace(tzinfo=timezone(offset))
    elif zone:
        time_read = time_read.replace(tzinfo=ZoneInfo(zone))
    return time_read, has_time


def day(time_read: tuple[datetime, bool]) -> date:
    """The day of a time, where it was."""
    return time_read[0].date()
