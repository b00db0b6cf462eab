"""A cookie jar per host, off by default: session cookies of RFC 6265 that a host set for itself.

Cookies are kept in memory, never sent to another host, and bounded per host so that a request is not refused for them.
"""

import http.cookies
from collections import OrderedDict

from gregor.worker import http_rules
from gregor.worker.urls import Url

MOST_HOSTS = 10_000
MOST_COOKIES = 50
MOST_BYTES = 4096


class _Cookie:
    __slots__ = ("expires", "path", "secure", "value")

    def __init__(self, value: str, path: str, secure: bool, expires: float | None) -> None:
        self.value = value
        self.path = path
        self.secure = secure
        self.expires = expires


class Cookies:
    """Jars by host name; the least recently used host is forgotten first."""

    def __init__(self) -> None:
        self._jars: OrderedDict[str, OrderedDict[tuple[str, str], _Cookie]] = OrderedDict()

    def store(self, url: Url, headers: list[tuple[str, str]], now: float) -> None:
        """Take the Set-Cookie lines of an answer (RFC 6265 section 5.2); a line that cannot be read is ignored."""
        for name, value in headers:
            if name.lower() != "set-cookie" or len(value) > MOST_BYTES:
                continue
            try:
                morsels = http.cookies.SimpleCookie(value).values()
            except http.cookies.CookieError:
                continue
            for morsel in morsels:
                self._set(url, morsel, now)

    def _set(self, url: Url, morsel: "http.cookies.Morsel[str]", now: float) -> None:
        domain = morsel["domain"].lstrip(".").lower()
        if domain and domain != url.hostname and not url.hostname.endswith(f".{domain}"):
            return
        path = morsel["path"] if morsel["path"].startswith("/") else _default_path(url)
        jar = self._jars.setdefault(url.hostname, OrderedDict())
        self._jars.move_to_end(url.hostname)
        expires = _expires(morsel, now)
        jar.pop((morsel.key, path), None)
        if expires is None or expires > now:
            jar[(morsel.key, path)] = _Cookie(morsel.coded_value, path, bool(morsel["secure"]), expires)
        while len(jar) > MOST_COOKIES or sum(len(k[0]) + len(c.value) for k, c in jar.items()) > MOST_BYTES:
            jar.popitem(last=False)
        while len(self._jars) > MOST_HOSTS:
            self._jars.popitem(last=False)

    def header(self, url: Url, now: float) -> str:
        """The Cookie header for a request, empty when there is none (RFC 6265 section 5.4)."""
        jar = self._jars.get(url.hostname, OrderedDict())
        target = url.target.partition("?")[0]
        return "; ".join(
            f"{name}={cookie.value}"
            for (name, path), cookie in jar.items()
            if (cookie.expires is None or cookie.expires > now)
            and (not cookie.secure or url.scheme == "https")
            and (target == path or target.startswith(path if path.endswith("/") else f"{path}/"))
        )


def _default_path(url: Url) -> str:
    return url.target.partition("?")[0].rpartition("/")[0] or "/"


def _expires(morsel: "http.cookies.Morsel[str]", now: float) -> float | None:
    age = morsel["max-age"]
    if age and age.lstrip("-").isdecimal():
        return now + min(int(age), 10**9)
    return http_rules.http_date(morsel["expires"]) if morsel["expires"] else None
