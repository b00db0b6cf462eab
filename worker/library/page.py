"""A stored page, as the library gives it."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from gregor.schemas.messages import Link, Page, Row
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Damaged
from gregor.worker.extract import markdown, rules, schema_org, text, writing
from gregor.worker.extract.items import extract
from gregor.worker.extract.model import Rule, RuleFailed
from gregor.worker.extract.page import Parsed, of_stored
from gregor.worker.extract.scopes import PagePart
from gregor.worker.extract.selectors import CssSelector, Json, XPath
from gregor.worker.inspect import stored_items
from gregor.worker.library.arguments import text as as_text
from gregor.worker.library.arguments import texts
from gregor.worker.web.urls import Url

RulesFiles = str | PathLike[str] | Iterable[str | PathLike[str]]


class CannotSelect(BadInput, ValueError):
    """A selector or a path is none, or cannot be applied to the page: its elements are nested too deep, say."""


class StoredPage:
    """One version of one page. Its body is read when something asks for it, and then kept."""

    def __init__(self, page: Page, read: Callable[[Page], bytes | None], row: Row | None = None) -> None:
        self._page = page
        self._read = read
        self._row = row

    def __repr__(self) -> str:
        return f"<StoredPage {self.url} {self.status}>"

    @property
    def url(self) -> str:
        """As requested."""
        return self._page.href

    @property
    def key(self) -> str:
        """The canonical form of the URL, which names the page."""
        return self._page.key

    @property
    def host(self) -> str:
        """With its port, if that is not the usual one."""
        return self._page.host

    @property
    def status(self) -> int:
        """Of HTTP."""
        return self._page.status

    @property
    def state(self) -> str:
        """ "fetched", or "duplicate" for an exact copy of another page."""
        return self._page.state

    @property
    def title(self) -> str | None:
        """None without one."""
        return self._page.title

    @property
    def text(self) -> str:
        """What is visible, white space made single."""
        return self._page.text

    @property
    def language(self) -> str | None:
        """As the page states it (BCP 47)."""
        return self._page.language or None

    @property
    def content_type(self) -> str:
        """The media type, without parameters."""
        return self._page.content_type.partition(";")[0].strip().lower()

    @property
    def fetched_at(self) -> datetime:
        """UTC."""
        return datetime.fromtimestamp(self._page.fetched_at, UTC)

    @property
    def version(self) -> int:
        """Which visit brought it, from 1."""
        return self._page.visit

    @property
    def depth(self) -> int:
        """Links from a seed."""
        return self._page.depth

    @property
    def label(self) -> str | None:
        """That of its seed."""
        return self._page.label or None

    @property
    def page_class(self) -> str | None:
        """That a model has put it into; None where none was asked."""
        return self._page.page_class or None

    @property
    def relevance(self) -> float | None:
        """For the topic of the crawl, from 0 to 1; None where there is none."""
        return self._page.relevance

    @property
    def links(self) -> list[Link]:
        """In the order of the page, each with ``url``, ``kind``, ``nofollow``, ``text`` and ``fate``."""
        return self._page.links

    @cached_property
    def body(self) -> bytes:
        """Decoded of content codings; empty where it is not kept, or damaged."""
        return self._read(self._page) or b""

    @property
    def html(self) -> str:
        """The body as text."""
        return self._parsed.markup

    @property
    def markdown(self) -> str:
        """The page as Markdown, its links absolute; its text where it is no HTML."""
        made = markdown.of_page(self._parsed)
        return self.text if made is None else made

    def css(self, selector: str) -> list[str]:
        """The texts of what a CSS selector chooses, or with ``::attr(NAME)`` at its end attributes.

        Raises `CannotSelect`.
        """
        with _refused():
            return [_words(selected) for selected in CssSelector(as_text("selector", selector)).select(self._place)]

    def xpath(self, path: str) -> list[str]:
        """The texts of what an XPath 1.0 chooses. Raises `CannotSelect`."""
        with _refused():
            return [_words(selected) for selected in XPath(as_text("path", path)).select(self._place)]

    def json(self, path: str) -> list[Any]:
        """What a JMESPath finds in the page, if it is JSON, or in its scripts. Raises `CannotSelect`."""
        with _refused():
            return list(Json(as_text("path", path)).select(self._place))

    def schema(self, kind: str) -> list[dict[str, Any]]:
        """The page's schema.org entities of a type. Raises `CannotSelect`."""
        with _refused():
            return schema_org.entities(self._place.page, as_text("kind", kind))

    @property
    def items(self) -> "ItemsOfPage":
        """The items that were stored with the page, by the rules of its crawl; ``page.items("rules.toml")``: what files
        of rules make of it, as `gregor extract` reads them.

        The call raises `gregor.BadInput`.
        """
        return ItemsOfPage(stored_items.records(self._page, self._row), self.extracted)

    def extracted(self, ruleset: tuple[Rule, ...]) -> Iterable[dict[str, Any]]:
        """What rules that were read make of the page."""
        url = Url(self._page.href, self._page.key, self._page.host)
        for item in extract(ruleset, self._parsed, url).items:
            yield writing.record(item, self._parsed.facts)

    @cached_property
    def _parsed(self) -> Parsed:
        return of_stored(self._page, self.body)

    @property
    def _place(self) -> PagePart:
        self._parsed.renew()
        return PagePart(self._parsed)


class ItemsOfPage(list[dict[str, Any]]):
    """The items of a page, as a list; called, what files of rules make of the page, or without any the same list."""

    def __init__(
        self,
        stored: Iterable[dict[str, Any]],
        extracted: Callable[[tuple[Rule, ...]], Iterable[dict[str, Any]]],
    ) -> None:
        super().__init__(stored)
        self._extracted = extracted

    def __call__(self, files: RulesFiles | None = None) -> list[dict[str, Any]]:
        """Raises `gregor.BadInput`."""
        return list(self if files is None else self._extracted(read_rules(files)))

    def __reduce__(self) -> tuple[type[list[dict[str, Any]]], tuple[list[dict[str, Any]]]]:
        """Copies are lists: who gets one elsewhere has no crawl to ask."""
        return list, (list(self),)


def read_rules(files: RulesFiles) -> tuple[Rule, ...]:
    """The rules of one file or several. Raises `BadInput`."""
    return rules.read([Path(name) for name in texts("rules", files)])


@contextmanager
def _refused() -> Iterator[None]:
    """What is raised for rules, as the library says it."""
    try:
        yield
    except (RuleFailed, ValueError) as error:
        raise CannotSelect(str(error)) from None


def _words(selected: object) -> str:
    return text.words(selected) if isinstance(selected, text.TreeNode) else str(selected)


def warn(damage: Damaged) -> None:
    """What a program hears of what cannot be read."""
    warnings.warn(f"{damage}; `gregor check` looks through all that is stored", RuntimeWarning, stacklevel=2)
