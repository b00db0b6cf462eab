"""Who may do what: tokens, roles, and what is refused before anything else is looked at. Pure; times are monotonic."""

import hmac
from collections import OrderedDict
from typing import Final, Literal

from gregor.worker.api.problems import Problem
from gregor.worker.config.api import is_loopback

Role = Literal["anyone", "viewer", "operator"]
_RANK: Final[dict[Role, int]] = {"anyone": 0, "viewer": 1, "operator": 2}
MOST_FAILURES: Final = 10
"""Wrong tokens from one address within a window, before no more are looked at."""
WINDOW: Final = 60.0
_MOST_ADDRESSES: Final = 4096
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="gregor"'}


class Access:
    """Tells the role of a request."""

    def __init__(self, viewer: str, operator: str, *, anonymous_read: bool) -> None:
        self._tokens: tuple[tuple[Role, bytes], ...] = (("viewer", viewer.encode()), ("operator", operator.encode()))
        self._anonymous_read = anonymous_read
        self._failures: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def role(self, authorization: str | None, host: str, client: str, now: float) -> Role:
        """The role of who sends this Authorization from an address. Raises `Problem` (401, 429).

        ``host`` is the request's own: a page of some site that reaches a loopback address under a name of its own (DNS
        rebinding) is not answered without a token.
        """
        if authorization is None:
            return "viewer" if self._anonymous_read and is_loopback(_name(host)) else "anyone"
        begun, count = self._failures.get(client, (now, 0))
        if now - begun >= WINDOW:
            begun, count = now, 0
        if count >= MOST_FAILURES:
            wait = {"Retry-After": str(int(begun + WINDOW - now) + 1)}
            raise Problem(429, "Too many wrong tokens came from this address: wait.", wait)
        scheme, _, token = authorization.partition(" ")
        granted: Role = "anyone"
        for role, expected in self._tokens:
            same = hmac.compare_digest(token.strip().encode("utf-8", "surrogateescape"), expected)
            if same and expected:
                granted = role
        if scheme.lower() == "bearer" and granted != "anyone":
            return granted
        self._failures[client] = (begun, count + 1)
        self._failures.move_to_end(client)
        while len(self._failures) > _MOST_ADDRESSES:
            self._failures.popitem(last=False)
        raise Problem(401, "The token is not one of this crawl's.", _CHALLENGE)


def require(role: Role, needed: Role) -> None:
    """Raises `Problem` (401, 403) unless the role is enough."""
    if _RANK[role] >= _RANK[needed]:
        return
    if role == "anyone":
        raise Problem(401, "A bearer token is needed.", _CHALLENGE)
    raise Problem(403, "This needs the token of an operator.")


def _name(host: str) -> str:
    """The host of a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


class Bucket:
    """So many requests a second, twice as many in a burst."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._left = 2.0 * rate
        self._at = 0.0

    def empty(self, now: float) -> bool:
        """Whether none may come at ``now``."""
        self._left = min(2.0 * self._rate, self._left + (now - self._at) * self._rate)
        self._at = now
        return self._left < 1.0

    def take(self, now: float) -> bool:
        """Whether one more may come at ``now``."""
        if self.empty(now):
            return False
        self._left -= 1.0
        return True
