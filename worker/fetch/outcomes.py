"""The closed set of ways a visit can end, and which one a fetch result is. Pure."""

from typing import TypeAlias

import msgspec

from gregor.worker.borders.transport import Failure, FetchResult, Response
from gregor.worker.web import http_headers


class Fetched(msgspec.Struct, frozen=True):
    """A document came."""

    response: Response


class Unchanged(msgspec.Struct, frozen=True):
    """304: the stored version is still right."""


class Redirected(msgspec.Struct, frozen=True):
    """The document is said to be elsewhere."""

    status: int
    location: str


class Gone(msgspec.Struct, frozen=True):
    """A final 4xx but for those that want credentials."""

    status: int


class CredentialsWanted(msgspec.Struct, frozen=True):
    """401 or 407: the document may well be there, for whoever may see it."""

    status: int


class Denied(msgspec.Struct, frozen=True):
    """Not to be fetched: robots.txt, or the host's budget. `rule` says what decided."""

    rule: str


class AddressRefused(msgspec.Struct, frozen=True):
    """Its address is not allowed."""

    detail: str


class Pushback(msgspec.Struct, frozen=True):
    """429 or 503: the host wants fewer requests. `after` is its Retry-After in seconds, when it was valid."""

    status: int
    after: float | None


class Failed(msgspec.Struct, frozen=True):
    """A try that may be repeated. `host`: the failure is the host's (no connection), not the URL's."""

    cause: str
    detail: str
    status: int = 0
    host: bool = False


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
    | Pushback
    | Failed
    | Broken
    | LeaseOver
)

_HOST_FAILURES = frozenset({"connect", "dns", "proxy", "tls"})
_FINAL_FAILURES = frozenset({"too_large_headers", "request", "protocol", "decode"})


def of_failure(failure: Failure) -> Outcome:
    """The outcome of a fetch without a usable answer."""
    match failure.kind:
        case "lease":
            return LeaseOver()
        case "refused_address":
            return AddressRefused(failure.detail)
        case kind if kind in _FINAL_FAILURES:
            return Broken(kind, failure.detail)
        case kind:
            return Failed(kind, failure.detail, host=kind in _HOST_FAILURES)


def of_response(response: Response, href: str, now: float, longest_wait: float) -> Outcome:
    """The outcome of an answer (RFC 9110 section 15). `now` is unix seconds, `longest_wait` caps a Retry-After."""
    status = response.status
    if status in (429, 503):
        after = http_headers.retry_after(response.header("retry-after"), now)
        return Pushback(status, None if after is None else min(after, longest_wait))
    if status == 304:
        return Unchanged()
    if 300 <= status < 400:
        if len({value for name, value in response.headers if name.lower() == "location"}) > 1:
            return Broken("redirect", f"status {status} with Locations that contradict each other", status)
        target = http_headers.redirect_target(status, response.header("location"), href)
        if target is not None:
            return Redirected(status, target)
        return Broken("redirect", f"status {status} without a usable Location", status)
    if 200 <= status < 300:
        if response.truncated == "cut":
            return Failed("cut", "the connection ended before the whole body came", status)
        return Fetched(response)
    if status in (408, 425) or 500 <= status < 600:
        return Failed("status", f"status {status}", status)
    if status in (401, 407):
        return CredentialsWanted(status)
    if 400 <= status < 500:
        return Gone(status)
    return Broken("status", f"status {status} is not one of HTTP's", status)


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
