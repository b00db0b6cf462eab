"""What the answer to a request for a robots.txt means (RFC 9309 section 2.3.1): decided here, once. Pure."""

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from gregor.worker.borders.transport import Response
from gregor.worker.web import http_headers

MAX_HOPS: Final = 5
"""Redirects of one robots.txt that are followed (section 2.3.1.2)."""


class Came(msgspec.Struct, frozen=True):
    """The file came: whole, or as far as we read of one that is too long (section 2.5)."""

    status: int
    body: bytes = b""


class NoFile(msgspec.Struct, frozen=True):
    """There is no file (section 2.3.1.3): everything is allowed. ``status`` is that of the answer which says so: a 4xx,
    or a redirect that leads nowhere or too far."""

    status: int


class Elsewhere(msgspec.Struct, frozen=True):
    """The file is elsewhere; ``hops`` is what to hand in with the answer of ``location``."""

    location: str
    hops: int


class Unreachable(msgspec.Struct, frozen=True):
    """Nothing is known (section 2.3.1.4): nothing is allowed but by the last good copy. ``status``: of an answer that
    says so; None when none came, or none that can be read."""

    reason: str
    status: int | None = None

    @property
    def why(self) -> str:
        """In a few words, for people."""
        return self.reason if self.status is None else str(self.status)


RobotsAnswer: TypeAlias = Came | NoFile | Elsewhere | Unreachable

NOT_WHOLE: Final = Unreachable("it did not come whole")
"""What is missing, or may be, can be the very line that forbids."""


def meaning(status: int, headers: Mapping[str, str], url: str, hops: int = 0, max_hops: int = MAX_HOPS) -> RobotsAnswer:
    """What an answer says by its head. ``headers`` have lower-case names; ``url`` is the one asked, ``hops`` the
    redirects that led to it.

    A 429 means that the server is overloaded and says nothing of the file, so it counts as unreachable; so does a 304,
    which nobody asked for: there is a file, and nobody knows what it says.
    """
    if 200 <= status < 300:
        return Came(status)
    if 300 <= status < 400 and status != 304:
        target = http_headers.redirect_target(status, headers.get("location"), url) if hops < max_hops else None
        return NoFile(status) if target is None else Elsewhere(target, hops + 1)
    if 400 <= status < 500 and status != 429:
        return NoFile(status)
    return Unreachable(f"status {status}", status)


def of_response(response: Response, headers: Mapping[str, str], url: str, hops: int, max_hops: int) -> RobotsAnswer:
    """What an answer with its body says. A file that is not whole, or of which nobody can say that it is, is none; one
    that is too long is cut by us."""
    answer = meaning(response.status, headers, url, hops, max_hops)
    if not isinstance(answer, Came):
        return answer
    return Came(answer.status, response.body.read()) if response.truncated in (None, "size") else NOT_WHOLE
