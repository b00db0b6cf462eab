"""What HTTP headers mean to a crawler (RFC 9110, RFC 9111): dates, Retry-After, redirects, freshness, links. Pure; no
input makes any of it raise. Times are POSIX seconds, spans are seconds."""

import calendar
import datetime
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote_from_bytes

import ada_url

from gregor.worker.base.printable import MASK

REDIRECTS: Final = frozenset({300, 301, 302, 303, 307, 308})
"""Statuses whose Location is followed."""
LONGEST: Final = float(2**31)
"""What a larger number of seconds is taken for (RFC 9111 section 1.2.2)."""

# Beside the standard ones, what a configured header is called that holds a secret: X-Api-Key, Private-Token, X-Auth.
_SECRET: Final = re.compile(
    rb"(?im)^(cookie|(?:[\w-]*-)?(?:authorization|auth|(?:api-?|access-?)?key|token|secret|password|credentials?"
    rb"|signature|session)(?:-[\w-]*)?)[ \t]*:[^\r\n]*"
)
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAYS = {name[:3].lower(): number for number, name in enumerate(calendar.day_name)}
_ZONES = {
    **dict.fromkeys(("", "gmt", "utc", "ut", "z"), 0),
    "est": -5,
    "edt": -4,
    "cst": -6,
    "cdt": -5,
    "mst": -7,
    "mdt": -6,
    "pst": -8,
    "pdt": -7,
    "wet": 0,
    "west": 1,
    "bst": 1,
    "cet": 1,
    "cest": 2,
    "eet": 2,
    "eest": 3,
}
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?"
_DATE = re.compile(
    rf"\s*(?:(?P<day>[a-z]{{3,9}})(?:,\s*|\s+))?(?P<date>\d{{1,2}})"
    rf"[ -](?P<month>[a-z]{{3,9}})[ -](?P<year>\d{{4}}|\d{{2}})"
    rf"(?:,?\s+{_CLOCK}(?:\s*(?P<zone>[a-z]{{1,5}}|[+-]\d{{4}}))?)?\s*",
    re.ASCII | re.IGNORECASE,
)
_ASCTIME = re.compile(
    rf"\s*(?P<day>[a-z]{{3}})\s+(?P<month>[a-z]{{3}})\s+(?P<date>\d{{1,2}})\s+{_CLOCK}\s+(?P<year>\d{{4}})(?P<zone>)\s*",
    re.ASCII | re.IGNORECASE,
)
_QUOTED = r'"(?:[^"\\]++|\\.)*+"?+'
_DIRECTIVE = re.compile(rf'([^\s=,"]++)(?:\s*+=\s*+({_QUOTED}|[^,\s]*+))?+(?:[^,"]++|{_QUOTED})*+', re.DOTALL)


def http_date(text: str) -> float | None:
    """An HTTP-date in any of its three forms (RFC 9110 section 5.6.7), also with another zone than GMT. None if it is
    no date, has no time of day, or a weekday that is not that of its date: then one of the two is wrong, and nobody
    knows which."""
    return _timestamp(text, strict=True)


def any_date(text: str) -> float | None:
    """A date as people write it into pages: an HTTP-date with whatever weekday, or ISO 8601. UTC if it has no zone."""
    stamp = _timestamp(text, strict=False)
    if stamp is not None:
        return stamp
    try:
        moment = datetime.datetime.fromisoformat(text.strip().upper())
    except ValueError:
        return None
    offset = moment.utcoffset() or datetime.timedelta()
    return calendar.timegm(moment.timetuple()) - offset.total_seconds()


def _timestamp(text: str, *, strict: bool) -> float | None:
    match = _DATE.fullmatch(text) or _ASCTIME.fullmatch(text)
    if match is None or (strict and match["hour"] is None):
        return None
    year, month, date = _year(match["year"]), _MONTHS.get(match["month"][:3].lower(), 0), int(match["date"])
    offset = _offset(match["zone"] or "")
    if offset is None:
        return None
    clock = (int(match["hour"] or 0), int(match["minute"] or 0), int(match["second"] or 0))
    if clock[2] > 60:
        return None
    try:  # RFC 9110 allows second 60, Python does not.
        moment = datetime.datetime(year, month, date, clock[0], clock[1], min(clock[2], 59), tzinfo=datetime.UTC)
    except ValueError:
        return None
    if strict and match["day"] and _DAYS.get(match["day"][:3].lower()) != moment.weekday():
        return None
    return float(calendar.timegm((year, month, date, *clock)) - offset)


def _year(digits: str) -> int:
    """Two digits mean the years from 1970 to 2069."""
    return int(digits) if len(digits) == 4 else int(digits) + (1900 if digits >= "70" else 2000)


def _offset(zone: str) -> int | None:
    """Seconds east of Greenwich."""
    if zone[:1] in ("+", "-"):
        span = int(zone[1:3]) * 3600 + int(zone[3:]) * 60
        return -span if zone[0] == "-" else span
    hours = _ZONES.get(zone.lower())
    return None if hours is None else hours * 3600


def retry_after(value: str | None, now: float) -> float | None:
    """How long a Retry-After asks to wait from ``now`` (RFC 9110 section 10.2.3), 0 if its date has passed, LONGEST at
    most. None if there is none or it is invalid. A wrong weekday does not matter: waiting is the polite reading."""
    if value is None:
        return None
    span = _seconds(value)
    if span is not None:
        return span
    moment = _timestamp(value, strict=False)
    return None if moment is None else min(max(moment - now, 0.0), LONGEST)


def _seconds(value: str) -> float | None:
    """A non-negative whole number of seconds, at most LONGEST."""
    value = value.strip()
    return min(float(value), LONGEST) if value.isascii() and value.isdigit() else None


def freshness(headers: Mapping[str, str], now: float | None) -> float | None:
    """For how long an answer stays fresh (RFC 9111 section 4.2.1, as a shared cache); None if it does not say.
    ``headers`` have lower-case names.

    An Expires counts from the Date header, else from ``now``; what the answer aged in caches on its way (Age, section
    5.1) is taken off. An answer that must be validated anew is fresh for 0 seconds;
    ``must-revalidate`` alone is read so, too. An Expires that is no date has passed (section 5.3). Of a directive that
    is given twice the first counts (section 4.2.1); a ``no-cache`` that names fields is about these only (5.2.2.4).
    """
    directives = _directives(headers.get("cache-control", ""))
    if "no-store" in directives or directives.get("no-cache") == "":
        return 0.0
    age = _seconds(headers.get("age", "").partition(",")[0]) or 0.0
    for key in ("s-maxage", "max-age"):
        span = _span(directives.get(key, ""))
        if span is not None:
            return max(span - age, 0.0)
    if "must-revalidate" in directives:
        return 0.0
    expires = headers.get("expires")
    if expires is None:
        return None
    moment, start = http_date(expires), http_date(headers.get("date", ""))
    if moment is None:
        return 0.0
    start = now if start is None else start
    return None if start is None else max(moment - start - age, 0.0)


def _directives(value: str) -> dict[str, str]:
    """Names, in lower case, and arguments of a Cache-Control, which may be quoted (RFC 9111 section 5.2)."""
    directives: dict[str, str] = {}
    for name, argument in _DIRECTIVE.findall(value):
        directives.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", argument.strip('"')))
    return directives


def _span(argument: str) -> float | None:
    """As :func:`_seconds`; a negative number has passed."""
    return 0.0 if argument[:1] == "-" and _seconds(argument[1:]) is not None else _seconds(argument)


def redirect_target(status: int, location: str | None, base: str) -> str | None:
    """Where an answer of ``base`` redirects to; None if it is no redirect, or one that cannot be followed: no Location
    or an empty one, or not an http(s) URL. ``location`` is the raw header (octets as latin-1). A target without a
    fragment inherits that of ``base`` (RFC 9110 section 10.2.2).
    """
    if status not in REDIRECTS or location is None or not location.strip():
        return None
    target = resolve(decoded(location), base)
    if target is None or "#" in target or "#" not in base:
        return target
    return target + base[base.index("#") :]


def decoded(header: str) -> str:
    """A raw header (octets as latin-1) for its URLs: octets beyond ASCII are UTF-8; those that are not stay what they
    are, percent-encoded."""
    if header.isascii():
        return header
    try:
        octets = header.encode("latin-1")
    except UnicodeEncodeError:
        return header
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return "".join(chr(octet) if octet < 0x80 else quote_from_bytes(bytes([octet])) for octet in octets)


def resolve(reference: str, base: str) -> str | None:
    """The absolute http(s) URL of a reference (URL Standard); None if it is none."""
    try:
        href: str = ada_url.join_url(base, reference) if base else ada_url.normalize_url(reference)
    except ValueError:
        return None
    return href if href.startswith(("http://", "https://")) else None


_LINK = re.compile(r"<([^<>]*+)>((?:[^,\"<]++|\"(?:[^\"\\]++|\\.)*+\"?)*+)")
_PARAMETER = re.compile(r"([^=;\s]++)(?:\s*+=\s*+(?:\"((?:[^\"\\]++|\\.)*+)\"?|([^;\s]*+)))?")
"""One without a value is read too, as section B.3 does; sought beyond it, a long header would take its square."""


def _links(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Target reference and parameters (names lower case, first of each) of every link in a header value (RFC 8288,
    section 3), read as leniently as its section B.2 asks for."""
    for link in _LINK.finditer(value):
        parameters: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(link[2]):
            parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or bare)
        yield link[1].strip(), parameters


def canonical_link(value: str) -> str | None:
    """The reference of the first ``rel=canonical`` link (RFC 6596), not resolved.

    One with an anchor speaks of something else than the answer (RFC 8288 section 3.2).
    """
    for target, parameters in _links(value):
        if "canonical" in parameters.get("rel", "").lower().split() and "anchor" not in parameters:
            return target
    return None


def masked(head: bytes) -> bytes:
    """A request head without credentials and cookies, known by their headers' names: what is stored, shown or archived
    travels further than we know. The request line is left as it is."""
    line, end, fields = head.partition(b"\n")
    return line + end + _masked_fields(fields)


@lru_cache(maxsize=256)
def _masked_fields(fields: bytes) -> bytes:
    """Asked for every page; those of one host have the same headers, mostly."""
    return _SECRET.sub(lambda match: match[1] + f": {MASK}".encode(), fields)
