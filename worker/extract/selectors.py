"""Where values are: CSS, XPath, JMESPath, regular expressions, meta elements, facts of the crawl, constants.

Each is compiled when the rules are read, and raises ValueError with the reason if it cannot be.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import jmespath
import re2
from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from gregor.worker.extract import text
from gregor.worker.extract.jmespath_calls import check_calls
from gregor.worker.extract.model import RuleFailed, TooMany
from gregor.worker.extract.needs import alternatives
from gregor.worker.extract.page import PageFacts, Parsed
from gregor.worker.extract.schema_org import entities, follow
from gregor.worker.extract.scopes import PagePart
from gregor.worker.extract.work import Work
from gregor.worker.read.html.collector import names

_EMPTY: Final = LexborHTMLParser("<p>")
_PSEUDO: Final = re.compile(r"(\s*)::(?:(text)|attr\(\s*([^\s()]+)\s*\))\s*\Z")
_FUNCTIONS: Final = names(
    "last position count id local-name namespace-uri name string concat starts-with contains substring-before"
    " substring-after substring string-length normalize-space translate boolean not true false lang number sum floor"
    " ceiling round text node comment processing-instruction"
)
_CALL: Final = re.compile(r"([\w:-]+)\s*\(")
_LITERAL: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_OPERATORS: Final = frozenset({"and", "or", "div", "mod"})
NOTHING: Final = object()
"""Stands for it where None has another meaning."""
MOST: Final = 10_000
"""Items that one rule may make of one page, and values that one source may give: see `bounded`."""
T = TypeVar("T")


class CssSelector:
    """CSS Selectors level 4 as lexbor has them, and at the end ``::text`` (each piece of the element's own text; after
    a blank: of all within it) or ``::attr(NAME)``. Without a selector before these the place itself is meant."""

    def __init__(self, selector: str) -> None:
        pseudo = _PSEUDO.search(selector)
        self._selector = selector[: pseudo.start()].strip() if pseudo else selector.strip()
        self._text = bool(pseudo and pseudo[2])
        self._below = bool(pseudo and pseudo[1])
        self._attribute = pseudo[3] if pseudo else None
        self.needs = alternatives(self._selector)
        """What must be in a page, unless that cannot be said."""
        if self._selector or pseudo is None:
            try:
                _EMPTY.css(self._selector)
            except SelectolaxError:
                hint = "; ::text and ::attr(NAME) stand at its end" if "::" in self._selector else ""
                raise ValueError(f"{selector!r} is no CSS selector{hint}") from None

    def select(self, place: PagePart) -> Iterator[object]:
        """Elements, or texts."""
        if (node := self._paid(place)) is None:
            return
        yield from self._values(node, place.page.work)

    def first(self, place: PagePart) -> object:
        """What `select` gives first, in the shortest way, or `NOTHING`; None: only `select` can tell."""
        if (node := self._paid(place)) is None:
            return NOTHING
        element = node.css_first(self._selector) if self._selector else node
        if element is None:
            return NOTHING
        if self._text:
            return None
        return element if self._attribute is None else text.attribute(element, self._attribute)

    def _paid(self, place: PagePart) -> LexborNode | None:
        """What is looked through, which the page has paid for; None where nothing can be chosen."""
        node = place.node
        if node is None or (place.part is None and place.page.lacks(self.needs)):
            return None
        place.pay()
        return node

    def _values(self, node: LexborNode, work: Work) -> Iterator[object]:
        for element in self._elements(node, work):
            if self._text:
                yield from text.direct(element, work, below=self._below)
            elif self._attribute is None:
                yield element
            elif (value := text.attribute(element, self._attribute)) is not None:
                yield value

    def _elements(self, node: LexborNode, work: Work) -> Iterator[LexborNode]:
        """The first one apart: mostly no other is asked for."""
        if not self._selector:
            yield node
        elif (first := node.css_first(self._selector)) is not None:
            yield first
            met = {first.mem_id}  # lexbor gives an element once for each part of a list of selectors
            elements = node.css(self._selector)
            work.steps(len(elements))
            for element in elements:
                if element.mem_id not in met:
                    met.add(element.mem_id)
                    yield element


class XPath:
    """XPath 1.0, without extension functions."""

    def __init__(self, path: str) -> None:
        called = {name for name in _CALL.findall(_LITERAL.sub("''", path)) if "::" not in name} - _OPERATORS
        if unknown := sorted(name for name in called - _FUNCTIONS if name.rpartition(":")[2] or ":" in name):
            raise ValueError(f"{path!r} is no XPath 1.0: there is no function {unknown[0]}()")
        try:
            self._path = etree.XPath(path, regexp=False, smart_strings=False)
            self._path(etree.Element("html"))
        except (etree.XPathError, ValueError) as error:
            raise ValueError(f"{path!r} is no XPath 1.0: {error}") from None

    def select(self, place: PagePart) -> Iterator[object]:
        """Elements, texts, numbers, true or false."""
        element = place.element
        if element is None or not isinstance(element.tag, str):  # nothing is in a comment
            return
        place.pay()
        try:
            result = self._path(element)
        except etree.XPathError as error:
            raise RuleFailed(f"an XPath cannot be reckoned: {error}") from None
        yield from result if isinstance(result, list) else (result,)


class Json:
    """A JMESPath into JSON: the place, if it is JSON; the document, if it is; else what the page's scripts have."""

    def __init__(self, path: str, script: str | None = None) -> None:
        """``script``: a CSS selector of the scripts; None: those that say they are JSON."""
        try:
            self._path = jmespath.compile(path)
            check_calls(self._path.parsed)
            if script is not None:
                _EMPTY.css(script)
        except SelectolaxError:
            raise ValueError(f"script = {script!r} is no CSS selector") from None
        except Exception as error:  # noqa: BLE001 - beside its own errors it lets those of its parser through
            raise ValueError(f"{path!r} is no JMESPath: {' '.join(str(error).split())}") from None
        self._script = script

    def left_out(self, page: Parsed) -> set[str]:
        """What of the JSON that it looks in is beyond the bounds."""
        return page.left_out_of_json(self._script)

    def select(self, place: PagePart) -> Iterator[object]:
        """What the first document that has anything there has; of a list its members."""
        documents = [place.part] if place.holds_json else place.page.json or place.page.scripts(self._script)
        for document in documents:
            try:
                result = self._path.search(document)
            except (jmespath.exceptions.JMESPathError, RecursionError, TypeError, ValueError, ArithmeticError) as error:
                raise RuleFailed(f"a JMESPath cannot be reckoned: {type(error).__name__}") from None
            if result is not None and result != []:
                yield from result if isinstance(result, list) else (result,)
                return


class Regex:
    """An RE2 expression in the visible text, and if it is not there in the markup: its first group, or all of it."""

    def __init__(self, expression: str) -> None:
        self._regex = compile_re2(expression)

    def select(self, place: PagePart) -> Iterator[object]:
        """Texts."""
        matched = False
        for searched in place.texts():
            for match in self._regex.finditer(searched):
                matched = True
                yield group_of(match)
            if matched:
                return


class Meta:
    """The content of the page's ``meta`` element of a name, property, itemprop or http-equiv."""

    def __init__(self, name: str) -> None:
        self._name = name.strip().lower()

    def select(self, place: PagePart) -> Iterator[object]:
        """Texts."""
        yield from place.page.metas.get(self._name, ())


class Fact:
    """What the crawl knows of the page."""

    def __init__(self, name: str) -> None:
        if name not in PageFacts.__struct_fields__ or name == "at":
            allowed = ", ".join(known for known in PageFacts.__struct_fields__ if known != "at")
            raise ValueError(f"page = {name!r} is nothing that is known of a page: {allowed}")
        self._name = name

    def select(self, place: PagePart) -> Iterator[object]:
        """A text or a number; nothing where it is not known."""
        value = getattr(place.page.facts, self._name)
        if value or self._name == "depth":
            yield value


class Constant:
    """A value that is the same on every page."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def select(self, place: PagePart) -> Iterator[object]:
        """The value, or its members."""
        yield from self._value if isinstance(self._value, list) else (self._value,)


class Schema:
    """A property of the page's first schema.org entity of a type: ``JobPosting.hiringOrganization.name``."""

    def __init__(self, path: str) -> None:
        self._type, *self._names = path.strip().split(".")
        if not all((self._type, *self._names)):
            raise ValueError(f"schema = {path!r}: write a schema.org type, or a path such as JobPosting.title")

    def select(self, place: PagePart) -> Iterator[object]:
        """What is there, of lists the members; whole entities for a type alone."""
        for entity in entities(place.page, self._type):
            values = list(follow(entity, self._names))
            yield from values
            if values and self._names:
                return


def bounded(values: Iterable[T], what: str) -> Iterator[T]:
    """The first of what a source gives. Raises `TooMany` where there is more, which then is left out."""
    for number, value in enumerate(values):
        if number == MOST:
            raise TooMany(f"there are more than {MOST} {what}")
        yield value


def compile_re2(expression: str) -> Any:
    """An RE2 expression, which no text makes slow. Raises ValueError with the reason."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise ValueError(f"{expression!r} is no RE2 expression: {reason}") from None


def group_of(match: Any) -> str:
    """The first group of a match that took part; the whole of it where there is none."""
    return next((group for group in match.groups() if group is not None), None) or match[0] or ""
