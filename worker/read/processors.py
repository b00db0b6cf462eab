"""Processors: what reads a document of which media type.

Built in: HTML, XHTML, other XML (RSS and Atom among it), style sheets, text, and PDF (`pdf.py`). Others are found by
the entry point group ``gregor.processors`` (docs/processors.md). A type belongs to one processor; an exact
type goes before a pattern (``text/*``); a processor from outside may take a type over from a built-in one, never from
another.
"""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint
from itertools import islice
from typing import Final, NamedTuple, Protocol, runtime_checkable

import msgspec

from gregor.worker.base.installed import entry_points
from gregor.worker.read import css
from gregor.worker.read.document import Document, Extract, Reference
from gregor.worker.read.html import guard, xhtml
from gregor.worker.read.html import parse as html
from gregor.worker.read.html.collector import MAX_LINKS
from gregor.worker.read.html.natively import NativeAttempt
from gregor.worker.read.native import Core, tree_core
from gregor.worker.read.pdf import Pdf
from gregor.worker.read.sitemaps import parse as sitemaps
from gregor.worker.web.encodings import sniff

GROUP = "gregor.processors"
"""The entry point group in which processors are found."""


MOST_OCTETS: Final = 4 << 20
"""Octets that are decoded of an encoding in which a character takes one or several of them, which takes long."""
_SLOW: Final = frozenset({"big5", "euc-jp", "euc-kr", "gb18030", "gbk", "iso-2022-jp", "shift_jis"})


@runtime_checkable
class Processor(Protocol):
    """Reads documents of some media types."""

    @property
    def types(self) -> tuple[str, ...]:
        """Media types, lower case, or patterns like ``text/*``."""

    def process(self, document: Document) -> Extract | None:
        """What the document says; None if nothing. It may be read as often as needed."""


class ProcessorError(Exception):
    """A processor that can't be used, or that failed; the message names it."""


class _Text(NamedTuple):
    """A body as text as far as it is read, its encoding, and ``size`` if that is not all of it."""

    text: str
    encoding: str
    cut: str

    def completed(self, extract: Extract) -> Extract:
        """What the text says, with what was left out of it."""
        extract.cut = self.cut or extract.cut
        return extract


def decoded(document: Document) -> tuple[str, str]:
    """The body as text, as far as its size is bounded, and the encoding it was read in: by its byte order mark, the
    header, or what it says itself."""
    return _decoded(document)[:2]


def _decoded(document: Document) -> _Text:
    body = document.read()
    encoding = sniff.sniff(body, document.header)
    most = MOST_OCTETS if encoding in _SLOW else len(body)
    text, cut = guard.limited(sniff.decode(body[:most], encoding))
    return _Text(text, encoding, "size" if most < len(body) else cut)


def _html(page: _Text, document: Document, core: Core | None) -> Extract:
    """What a page of HTML says; the document notes which way it was read."""
    kept_in, shown = document if document.keeps_tree else None, document.requisites
    attempt = None
    if core is not None and not shown and (kept_in is None or core is tree_core()):
        attempt = NativeAttempt(core)
    said = html.extract(page.text, page.encoding, shown=shown, kept_in=kept_in, attempt=attempt)
    document.way = attempt.way if attempt is not None else "python" if core is None else "tree"
    return said


class Html:
    """``text/html`` by lexbor."""

    types = ("text/html",)

    def __init__(self, core: Core | None = None) -> None:
        """``core`` reads natively what it can."""
        self._core = core

    def process(self, document: Document) -> Extract:
        """Never None: anything is HTML."""
        page = _decoded(document)
        return page.completed(_html(page, document, self._core))


class Xhtml:
    """``application/xhtml+xml`` as XML; as HTML if it is not well-formed."""

    types = ("application/xhtml+xml",)

    def __init__(self, core: Core | None = None) -> None:
        """``core`` reads natively what is no XML."""
        self._core = core

    def process(self, document: Document) -> Extract:
        """Never None: what is no XML is HTML."""
        page = _decoded(document)
        said = xhtml.extract(page.text, page.encoding, shown=document.requisites)
        return page.completed(said or _html(page, document, self._core))


class Xml:
    """Other XML: feeds give the links of their entries, XHTML is read as such, anything else gives its text."""

    types = ("text/xml", "application/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml")

    def process(self, document: Document) -> Extract:
        """Links of feeds have the kind ``a``: they lead to pages."""
        decoded = _decoded(document)
        page = xhtml.extract(decoded.text, decoded.encoding, shown=document.requisites)
        if page is not None:
            return decoded.completed(page)
        feed = sitemaps.parse(document.read(), document.href, document.header)
        if feed.kind in {"rss", "atom"}:
            return Extract(links=[Reference(url.loc, "a") for url in feed.urls[:MAX_LINKS]], encoding=decoded.encoding)
        root = xhtml.parse(decoded.text)
        words = " ".join("".join(map(str, root.itertext())).split()) if root is not None else ""
        return decoded.completed(Extract(text=words, encoding=decoded.encoding))


class Css:
    """``text/css``: the references of the style sheet."""

    types = ("text/css",)

    def process(self, document: Document) -> Extract:
        """The text is the style sheet itself."""
        sheet = _decoded(document)
        references = [Reference(url, kind) for url, kind in islice(css.references(sheet.text), MAX_LINKS + 1)]
        links, more = references[:MAX_LINKS], len(references) > MAX_LINKS
        return sheet.completed(Extract(text=sheet.text, links=links, encoding=sheet.encoding, truncated=more))


class Text:
    """Plain text and what is written like it: the text is the decoded body."""

    types = ("text/*", "application/json", "application/javascript", "application/x-javascript", "application/ld+json")

    def process(self, document: Document) -> Extract:
        """No links: addresses in a text are not references."""
        whole = _decoded(document)
        return whole.completed(Extract(text=whole.text, encoding=whole.encoding))


BUILT_IN: tuple[Processor, ...] = (Html(), Xhtml(), Xml(), Css(), Text(), Pdf())


class Processors:
    """Processors by media type."""

    def __init__(self, processors: Iterable[Processor] = BUILT_IN, core: Core | None = None) -> None:
        """``core`` computes natively what can be."""
        self.core = core
        self._by_type: dict[str, tuple[str, Processor]] = {}
        self._replaceable: set[str] = set()
        for processor in processors:
            self.add(type(processor).__name__, processor)
        self._replaceable = set(self._by_type)

    def add(self, name: str, processor: object) -> None:
        """Registers ``processor``. Raises :class:`ProcessorError` if it is none, or if a type of it is taken."""
        if not isinstance(processor, Processor) or not processor.types:
            raise ProcessorError(f"processor {name!r} ({processor!r}) has no types and process(document)")
        for taken in processor.types:
            if taken in self._by_type and taken not in self._replaceable:
                raise ProcessorError(f"{taken} is claimed by two processors: {self._by_type[taken][0]!r} and {name!r}")
            self._replaceable.discard(taken)
            self._by_type[taken] = (name, processor)

    def replacing(self, processors: Iterable[Processor]) -> "Processors":
        """A registry in which these are in the place of built-in ones; what plug-ins read stays theirs."""
        other = Processors((), self.core)
        other._by_type, other._replaceable = dict(self._by_type), set(self._replaceable)
        for processor in processors:
            for taken in self._replaceable.intersection(processor.types):
                other._by_type[taken] = (type(processor).__name__, processor)
        return other

    def natively(self, core: Core | None) -> "Processors":
        """The same, with what can be computed natively; without a core by Python alone."""
        other = self.replacing((Html(core), Xhtml(core)))
        other.core = core
        return other

    def load(self, points: Iterable[EntryPoint]) -> None:
        """Registers the processors of entry points: a class, called without arguments, or an instance."""
        for point in points:
            try:
                loaded = point.load()
                processor = loaded() if isinstance(loaded, type) else loaded
            except (Exception, SystemExit) as error:
                raise ProcessorError(f"processor {point.name!r} ({point.value}) can't be loaded: {error!r}") from error
            self.add(point.name, processor)

    def process(self, document: Document) -> Extract:
        """What the document says; an empty answer for types that no processor reads.

        Raises :class:`ProcessorError` if a processor fails: the built-in ones never do.
        """
        kind = document.content_type
        taken = kind if kind in self._by_type else kind.partition("/")[0] + "/*"
        name, processor = self._by_type.get(taken, ("", None))
        if processor is None:
            return Extract(encoding=document.header_charset or "utf-8")
        try:
            said = processor.process(document) or Extract(encoding=document.header_charset or "utf-8")
            if taken not in self._replaceable:
                msgspec.msgpack.encode(said)  # what could not be stored fails here, where it costs this page alone
            return said
        except (Exception, SystemExit) as error:
            raise ProcessorError(f"processor {name!r} failed on {document.href}: {error!r}") from error


@cache
def installed() -> Processors:
    """The built-in processors and those of the installed distributions. Raises :class:`ProcessorError`."""
    registry = Processors()
    registry.load(entry_points(group=GROUP))
    return registry


def process(document: Document) -> Extract:
    """:meth:`Processors.process` of :func:`installed`."""
    return installed().process(document)
