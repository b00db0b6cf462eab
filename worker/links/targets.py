"""Where references lead, and what is said of a target wherever it is found.

The pages of a site repeat most of their links, so what was found out about one is remembered.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

import msgspec

from gregor.schemas.messages import url_fingerprint
from gregor.worker.links.reasons import reason
from gregor.worker.links.scope import Scope
from gregor.worker.links.url_loops import malformed
from gregor.worker.read.native import Core
from gregor.worker.web.urls import Url, Urls

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


class _Place(NamedTuple):
    """What is known of references that are relative to one place: those met lately, and those met before."""

    young: _Known
    old: _Known


RememberedTargets: TypeAlias = tuple[_Known, _Known, _Known, _Known]
"""What is remembered of the references of a page that begin with a slash, that are URLs, that are relative to its
folder; and what was resolved ahead."""


class Finder(NamedTuple):
    """Resolves the references of a page. ``find``: None for what is no http(s) URL, or too long a one; ``ahead``: what
    comes next, for where many are resolved at once; ``remembered``: what need not be resolved, where any is."""

    find: Callable[[str], Target | None]
    ahead: Callable[[Iterable[str]], None]
    remembered: RememberedTargets | None = None


class Targets:
    """Remembers references by what they are relative to: nothing, the site, or the folder of their page.

    What was not met for half as many references as are remembered is forgotten at once.
    """

    def __init__(
        self, urls: Urls, scope: Callable[[], Scope], size: int = REMEMBERED, core: Core | None = None
    ) -> None:
        """``scope`` gives the scope in force: seeds that come later make another one. ``core`` resolves natively."""
        self._urls = urls
        self._core = core if urls.plain else None
        self._scope = scope
        self._most = size // 2
        self._judged_by: Scope | None = None
        self._young: dict[tuple[str, str], _Known] = {}
        self._old: dict[tuple[str, str], _Known] = {}
        self._young_count = self._old_count = 0

    def __len__(self) -> int:
        return self._young_count + self._old_count

    def finder(self, base: str, encoding: str) -> Finder:
        """That of a page of this base and encoding."""
        ready: _Known = {}

        def resolved(reference: str) -> Target | None:
            target = ready.get(reference, _UNKNOWN)
            return self._resolved(reference, base, encoding) if target is _UNKNOWN else target

        if not base.startswith(("http://", "https://")):
            return Finder(resolved, lambda references: None)
        self._forget()
        anywhere = self._place("", encoding)
        in_site = self._place(base[: base.find("/", 8) + 1], encoding)
        in_folder = self._place(base[: base.partition("?")[0].partition("#")[0].rfind("/") + 1], encoding)

        def find(reference: str) -> Target | None:
            first = reference[:1]
            if len(reference) > LONGEST:
                return resolved(reference)
            if first == "/":
                young, old = in_site
            elif reference.startswith(("http://", "https://")):
                young, old = anywhere
            elif (first.isalnum() or first == ".") and ":" not in reference:
                young, old = in_folder
            else:  # relative to the page itself, or too odd to say
                return resolved(reference)
            target = young.get(reference, _UNKNOWN)
            if target is _UNKNOWN:
                target = old.pop(reference, _UNKNOWN)
                if target is _UNKNOWN:
                    target = resolved(reference)
                young[reference] = target
                self._young_count += 1
            return target

        def ahead(references: Iterable[str]) -> None:
            ready.clear()
            unknown = set(references)
            for remembered in (*in_site, *anywhere, *in_folder):
                unknown = unknown.difference(remembered)
            if encoding != "utf-8":  # in which their queries are
                unknown = {reference for reference in unknown if "?" not in reference}
            ready.update(self._natively(list(unknown), base))

        remembered = in_site.young, anywhere.young, in_folder.young, ready
        return Finder(find, ahead if self._core is not None else lambda references: None, remembered)

    def _natively(self, references: list[str], base: str) -> Iterator[tuple[str, Target | None]]:
        """Those that the core resolves, with where they lead."""
        core, excludes = self._core, self._scope().excludes
        if core is None or not references:
            return
        for reference, answer in zip(references, core.resolve(references, base, self._urls.max_length), strict=True):
            if answer is None:
                yield reference, None
            elif not isinstance(answer, bool):
                href, key, host, fingerprint, plain = answer
                url = Url(href, key, host)
                loop = None if plain else malformed(url)
                yield reference, Target(url, fingerprint, excludes(url), reason("trap", loop) if loop else "")

    def target(self, url: Url) -> Target:
        """What is said of a URL."""
        loop = malformed(url)
        return Target(url, url_fingerprint(url.key), self._scope().excludes(url), reason("trap", loop) if loop else "")

    def _resolved(self, reference: str, base: str, encoding: str) -> Target | None:
        url = self._urls.resolve(reference, base, encoding)
        return None if url is None else self.target(url)

    def _place(self, start: str, encoding: str) -> _Place:
        place = start, encoding
        if place not in self._young:
            self._young[place] = {}
            self._young_count += 1
        return _Place(self._young[place], self._old.get(place, {}))

    def _forget(self) -> None:
        """Done before a page: what is remembered may exceed the size by the links of one."""
        if self._judged_by is not (scope := self._scope()):
            self._judged_by = scope
            self._young, self._young_count = {}, 0
            self._old, self._old_count = {}, 0
        elif self._young_count >= self._most:
            self._old, self._old_count = self._young, self._young_count
            self._young, self._young_count = {}, 0
