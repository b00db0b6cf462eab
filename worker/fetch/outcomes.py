"""The closed set of ways a visit can end, and which one a fetch result is. Pure."""

from typing import TypeAlias

import msgspec

from gregor.worker.base.shortage import LocalShortage
from gregor.worker.borders.transport import Failure, FetchResult, Response
from gregor.worker.web import http_headers
from gregor.worker.web.loose_values import loose_span


class Fetched(msgspec.Struct, frozen=True):
    """A document came."""

    response: Response


class Unchanged(msgspec.Struct, frozen=True):
    """304: the stored version is still right."""


class Redirected(msgspec.Struct, frozen=True):
    """The document is said to be elsewhere. `after`: the seconds until it may be asked for there (its Retry-After)."""

    status: int
    location: str
    after: float = 0.0


class Gone(msgspec.Struct, frozen=True):
    """A final 4xx but for those that want credentials."""

    status: int


class CredentialsWanted(msgspec.Struct, frozen=True):
    """401 or 407: the document may well be there, for whoever may see it."""

    status: int


class Denied(msgspec.Struct, frozen=True):
    """Not to be fetched: robots.txt, or the host's budget; or not to be kept: a filter. `rule` says what decided."""

    rule: str
    status: int = 0
    """Of the answer that is not kept."""


class AddressRefused(msgspec.Struct, frozen=True):
    """Its address is not allowed."""

    detail: str


class PortRefused(msgspec.Struct, frozen=True):
    """Its port is another protocol's."""

    port: int


class Pushback(msgspec.Struct, frozen=True):
    """429 or 503: the host wants fewer requests. `after` is its Retry-After in seconds, when it was valid; `at_least`
    what one that was not may have meant."""

    status: int
    after: float | None
    at_least: float = 0.0


class Failed(msgspec.Struct, frozen=True):
    """A try that may be repeated. `host`: the failure is the host's (no connection, or no answer), not the URL's.
    `after`: the seconds that the host wants to be left alone (its Retry-After)."""

    cause: str
    detail: str
    status: int = 0
    host: bool = False
    after: float = 0.0


class Broken(msgspec.Struct, frozen=True):
    """An answer that no repetition will mend."""

    cause: str
    detail: str
    status: int = 0


class LeaseOver(msgspec.Struct, frozen=True):
    """Nothing was sent: the lease may have run out."""


Outcome: TypeAlias = (
    Fetched
    | Unchanged
    | Redirected
    | Gone
    | CredentialsWanted
    | Denied
    | AddressRefused
    | PortRefused
    | Pushback
    | Failed
    | Broken
    | LeaseOver
)

_HOST_FAILURES = frozenset({"connect", "dns", "proxy", "tls", "legacy_tls", "timeout"})
_FINAL_FAILURES = frozenset({"too_large_headers", "request", "protocol", "decode"})


def of_failure(failure: Failure) -> Outcome:
    """The outcome of a fetch without a usable answer. LocalShortage where this machine, not the host, failed."""
    match failure.kind:
        case "lease":
            return LeaseOver()
        case "refused_address":
            return AddressRefused(failure.detail)
        case "local":
            raise LocalShortage(failure.detail)
        case "legacy_tls":
            return Failed(failure.kind, f"{failure.detail}; legacy_tls allows it", host=True)
        case "downgrade":
            return Broken("protocol", failure.detail)  # as what another transport has to read: one more turn
        case kind if kind in _FINAL_FAILURES:
            return Broken(kind, failure.detail)
        case kind:
            return Failed(kind, failure.detail, host=kind in _HOST_FAILURES)


def of_response(response: Response, href: str, now: float, longest_wait: float) -> Outcome:
    """The outcome of an answer (RFC 9110 section 15). `now` is unix seconds, `longest_wait` caps a Retry-After."""
    status = response.status
    stated, meant = _retry_after(response, now, longest_wait) if status >= 300 else (None, 0.0)
    if status in (429, 503):
        return Pushback(status, stated, meant if stated is None else 0.0)
    if status == 304:
        return Unchanged()
    if 300 <= status < 400:
        if len({value for name, value in response.headers if name.lower() == "location"}) > 1:
            return Broken("redirect", f"status {status} with Locations that contradict each other", status)
        target = http_headers.redirect_target(status, response.header("location"), href)
        if target is not None:
            return Redirected(status, target, meant)
        return Broken("redirect", f"status {status} without a usable Location", status)
    if 200 <= status < 300:
        if response.truncated == "cut":
            return Failed("cut", "the connection ended before the whole body came", status)
        return Fetched(response)
    if status in (408, 425) or 500 <= status < 600:
        return Failed("status", f"status {status}", status, after=meant)
    if status in (401, 407):
        return CredentialsWanted(status)
    if 400 <= status < 500:
        return Gone(status)
    return Broken("status", f"status {status} is not one of HTTP's", status)


def _retry_after(response: Response, now: float, longest: float) -> tuple[float | None, float]:
    """The seconds that a valid Retry-After states, and those that any means; the longest of several."""
    values = [value for name, value in response.headers if name.lower() == "retry-after"]
    stated = [span for value in values if (span := http_headers.retry_after(value, now)) is not None]
    if stated:
        return min(max(stated), longest), min(max(stated), longest)
    return None, min(max((loose_span(value, now) or 0.0 for value in values), default=0.0), longest)


def of_result(result: FetchResult, href: str, now: float, longest_wait: float) -> Outcome:
    """The outcome of a fetch result."""
    if isinstance(result, Failure):
        return of_failure(result)
    return of_response(result, href, now, longest_wait)


def in_the_end(outcome: Outcome, response: Response | None, *, sent: bool, last: bool) -> Outcome:
    """The outcome of a try, with what its fetch cannot know: whether it was ``sent``, and is its URL's ``last``."""
    if not isinstance(outcome, Failed):
        return outcome
    if not sent:
        return msgspec.structs.replace(outcome, host=True)  # no connection came about
    if response is not None and outcome.cause == "cut" and last:
        return Fetched(response)  # it never comes whole: better kept with its mark than not at all
    return outcome
