"""Where references lead, and what is said of a target wherever it is found.

The pages of a site repeat most of their links, so what was found out about one is remembered.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import msgspec

from gregor.schemas.messages import url_fingerprint
from gregor.worker.scope import Refused, Scope
from gregor.worker.url_loops import malformed
from gregor.worker.urls import Url, Urls

REMEMBERED: Final = 16_384
"""References that are remembered; each takes some 400 bytes, 2 KB at most."""
LONGEST: Final = 512
"""Characters of the longest reference that is remembered: long ones seldom come again, and take much room."""


class Target(msgspec.Struct, frozen=True, gc=False):
    """What a link leads to, and the fates that it has from any page: empty where it may be followed."""

    url: Url
    fingerprint: int
    out_of_scope: str
    malformed: str


_Known = dict[str, Target | None]
_UNKNOWN: Final = Target(Url("", "", ""), 0, "", "")


class Targets:
    """Remembers references by what they are relative to: the site, or the folder of their page."""

    def __init__(self, urls: Urls, scope: Callable[[], Scope], size: int = REMEMBERED) -> None:
        """``scope`` gives the scope in force: seeds that come later make another one."""
        self._urls = urls
        self._scope = scope
        self._size = size
        self._judged_by: Scope | None = None
        self._count = 0
        self._places: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def finder(self, base: str, encoding: str) -> Callable[[str], Target | None]:
        """Resolves the references of a page; None for what is no http(s) URL, or too long a one."""
        if not base.startswith(("http://", "https://")):
            return lambda reference: self._resolved(reference, base, encoding)
        in_site, in_folder = self._remembered(base, encoding)

        def find(reference: str) -> Target | None:
            first = reference[:1]
            if len(reference) > LONGEST:
                return self._resolved(reference, base, encoding)
            if first == "/" or reference.startswith(("http://", "https://")):
                known = in_site
            elif (first.isalnum() or first == ".") and ":" not in reference:
                known = in_folder
            else:  # relative to the page itself, or too odd to say
                return self._resolved(reference, base, encoding)
            target = known.get(reference, _UNKNOWN)
            if target is _UNKNOWN:
                target = known[reference] = self._resolved(reference, base, encoding)
                self._count += 1
            return target

        return find

    def target(self, url: Url) -> Target:
        """What is said of a URL."""
        verdict, loop = self._scope().allows(url), malformed(url)
        out = f"scope: {verdict.rule}" if isinstance(verdict, Refused) else ""
        return Target(url, url_fingerprint(url.key), out, f"trap: {loop}" if loop else "")

    def _resolved(self, reference: str, base: str, encoding: str) -> Target | None:
        url = self._urls.resolve(reference, base, encoding)
        return None if url is None else self.target(url)

    def _remembered(self, base: str, encoding: str) -> tuple[_Known, _Known]:
        """What is known of references to anywhere in the site of a page, and of those relative to its folder."""
        if self._judged_by is not (scope := self._scope()):
            self._judged_by = scope
            self._places.clear()
            self._count = 0
        self._forget()
        root = base[: base.find("/", 8) + 1]
        folder = base[: base.partition("?")[0].partition("#")[0].rfind("/") + 1]
        return self._place(root, encoding), self._place(folder, encoding)

    def _place(self, start: str, encoding: str) -> _Known:
        place = start, encoding
        if place not in self._places:
            self._places[place] = {}
            self._count += 1
        self._places.move_to_end(place)
        return self._places[place]

    def _forget(self) -> None:
        """Done before a page: what is remembered may exceed the size by the links of one."""
        while self._count > self._size:
            self._count -= 1 + len(self._places.popitem(last=False)[1])
