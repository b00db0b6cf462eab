"""A cookie jar per host, off by default: session cookies of RFC 6265 that a host set for itself.

Cookies are kept in memory, never sent to another host, and bounded per host so that a request is not refused for them.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from gregor.worker.fetch.cookie_file import GivenCookie
from gregor.worker.web.domains import registered_domain
from gregor.worker.web.loose_values import cookie_date
from gregor.worker.web.urls import Url

MOST_HOSTS = 10_000
MOST_COOKIES = 50
MOST_BYTES = 4096
_AGE = re.compile("-?[0-9]+")
_CONTROL = re.compile(r"[\0-\x08\n-\x1f\x7f]")


class _Cookie:
    __slots__ = ("expires", "path", "secure", "value")

    def __init__(self, value: str, path: str, secure: bool, expires: float | None) -> None:
        self.value = value
        self.path = path
        self.secure = secure
        self.expires = expires


class Cookies:
    """Jars by host name; the least recently used host is forgotten first."""

    def __init__(self, persons: Iterable[GivenCookie] = ()) -> None:
        """``persons``: those that a person gave, which are sent wherever no answer has set another of their name."""
        self._of_persons: dict[str, list[GivenCookie]] = {}
        for cookie in persons:
            self._of_persons.setdefault(cookie.domain, []).append(cookie)
        self._jars: OrderedDict[str, OrderedDict[tuple[str, str], _Cookie]] = OrderedDict()

    def store(self, url: Url, headers: list[tuple[str, str]], now: float) -> None:
        """Take the Set-Cookie lines of an answer (RFC 6265 section 5.2); a line that cannot be read is ignored."""
        for name, value in headers:
            if name.lower() != "set-cookie" or len(value) > MOST_BYTES:
                continue
            pair, *attributes = value.split(";")
            key, sign, content = (part.strip(" \t") for part in pair.partition("="))
            if sign and key and not _CONTROL.search(value):
                # Attributes that nobody knows yet are none of ours (Partitioned, Priority); the last of a name counts.
                parts = (part.partition("=") for part in attributes)
                self._set(url, key, content, [(name.strip().lower(), text.strip()) for name, _, text in parts], now)

    def _set(self, url: Url, key: str, value: str, stated: list[tuple[str, str]], now: float) -> None:
        attributes = dict(stated)
        domain = attributes.get("domain", "").lstrip(".").lower()
        above = url.hostname.endswith(f".{domain}") and registered_domain(domain) is not None  # no public suffix
        if domain and domain != url.hostname and not above:
            return
        path = attributes.get("path", "")
        path = path if path.startswith("/") else _default_path(url)
        jar = self._jars.setdefault(url.hostname, OrderedDict())
        self._jars.move_to_end(url.hostname)
        expires = _expires(stated, now)
        jar.pop((key, path), None)
        if expires is None or expires > now:
            jar[(key, path)] = _Cookie(value, path, "secure" in attributes, expires)
        while (
            len(jar) > MOST_COOKIES
            or sum(len(name[0]) + len(cookie.value) for name, cookie in jar.items()) > MOST_BYTES
        ):
            jar.popitem(last=False)
        while len(self._jars) > MOST_HOSTS:
            self._jars.popitem(last=False)

    def header(self, url: Url, now: float) -> str:
        """The Cookie header for a request, longer paths first; empty when there is none (RFC 6265 section 5.4)."""
        jar: Mapping[tuple[str, str], _Cookie] = self._jars.get(url.hostname, OrderedDict())
        if self._of_persons:
            jar = {**self._of_a_person(url.hostname), **jar}
        target = url.target.partition("?")[0]
        return "; ".join(
            f"{name}={cookie.value}"
            for (name, path), cookie in sorted(jar.items(), key=lambda item: -len(item[0][1]))
            if (cookie.expires is None or cookie.expires > now)
            and (not cookie.secure or url.scheme == "https")
            and (target == path or target.startswith(path if path.endswith("/") else f"{path}/"))
        )

    def _of_a_person(self, hostname: str) -> dict[tuple[str, str], _Cookie]:
        """What a person gave for a host: for itself, or for a domain that it is below."""
        jar: dict[tuple[str, str], _Cookie] = {}
        domain = hostname
        while domain:
            for cookie in self._of_persons.get(domain, ()):
                if cookie.below or domain == hostname:
                    jar.setdefault(
                        (cookie.name, cookie.path), _Cookie(cookie.value, cookie.path, cookie.secure, cookie.expires)
                    )
            domain = domain.partition(".")[2]
        return jar


def _default_path(url: Url) -> str:
    return url.target.partition("?")[0].rpartition("/")[0] or "/"


def _expires(stated: list[tuple[str, str]], now: float) -> float | None:
    """When a cookie ends: by its age, else by its date; of several the last that can be read (RFC 6265 section 5.2)."""
    ages = [int(text) for name, text in stated if name == "max-age" and _AGE.fullmatch(text)]
    dates = [date for name, text in stated if name == "expires" and (date := cookie_date(text)) is not None]
    if ages:
        return now + min(ages[-1], 10**9)
    return dates[-1] if dates else None
