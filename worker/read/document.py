"""A downloaded document: one download, read by as many processors as like to."""

import hashlib
import io
from functools import cached_property
from typing import BinaryIO

import msgspec
from selectolax.lexbor import LexborNode

from gregor.worker.base.spooled import SpooledBody
from gregor.worker.read.native import Core
from gregor.worker.web import media_type
from gregor.worker.web.encodings import sniff


class Reference(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One reference from a document to another."""

    url: str
    """The reference as it stands in the document, outer white space removed; not resolved."""
    kind: str
    """What refers: the element (``a``, ``img``, …), or what a ``link`` is for (``next``, ``canonical``, ``css``, …)."""
    nofollow: bool = False
    """Whether its rel says nofollow, ugc or sponsored."""
    text: str = ""
    """The anchor text, white space collapsed, capped."""


class Extract(msgspec.Struct):
    """What a document says."""

    title: str | None = None
    text: str = ""
    """The visible text, white space collapsed."""
    main: str = ""
    """Of it the main content, where that is told apart: what is kept then. Pages are compared by all of their text."""
    links: list[Reference] = []
    base: str | None = None
    """The reference of the first ``base[href]``, not resolved: see `references.base_url`."""
    canonical: str | None = None
    meta_robots: list[tuple[str, str]] = []
    """Name and content of every ``meta`` with a name that may speak to robots, in order."""
    refresh: str | None = None
    """Where the first ``meta`` refresh leads, ``""`` being the page itself; None without one."""
    encoding: str = "utf-8"
    lang: str | None = None
    refresh_delay: int = 0
    """Seconds after which a browser would follow ``refresh``."""
    truncated: bool = False
    """Whether there were more links than were kept."""
    headings: list[str] = []
    """Texts of its first headings (``h1`` to ``h3``), white space collapsed, capped; none of a page without a tree."""
    cut: str = ""
    """Of what there was too much to read the document to its end (``size``, ``tags``, ``embedded``); empty: it was."""


class Document:
    """A body with its URL and its type. Reading it does not use it up."""

    def __init__(
        self, href: str, body: bytes | SpooledBody, content_type: str | None = None, requisites: bool = False
    ) -> None:
        """``content_type`` is the header as received (several lines joined by ", "); None if there was none.
        ``requisites``: all that a page shows is asked for, be it named in styles or drawings."""
        self.href = href
        self.requisites = requisites
        self.header = content_type
        self.keeps_tree = False
        """Whether who parses it as HTML leaves the tree here: it is looked at once more."""
        self.tree: LexborNode | None = None
        """The root of the tree that it was parsed to, where that is kept."""
        self.core: Core | None = None
        """What reads that tree natively, if anything does."""
        self.way = ""
        """Which way it was read, of one that is HTML: ``native``, or why by Python."""
        self._body = body

    @cached_property
    def content_type(self) -> str:
        """The media type, lower case, without parameters; sniffed where the header says nothing."""
        return media_type.sniff(self.prefix(media_type.SNIFFED), self.header)

    @cached_property
    def header_charset(self) -> str | None:
        """The encoding that the header names, by its standard name."""
        return sniff.header_charset(self.header)

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return len(self._body) if isinstance(self._body, bytes) else self._body.size

    @cached_property
    def sha256(self) -> str:
        """Of the body, in hexadecimal."""
        return hashlib.sha256(self._body).hexdigest() if isinstance(self._body, bytes) else self._body.sha256

    def read(self) -> bytes:
        """The whole body."""
        return self._body if isinstance(self._body, bytes) else self._body.read()

    def prefix(self, size: int) -> bytes:
        """Its first ``size`` bytes."""
        return self._body[:size] if isinstance(self._body, bytes) else self._body.read(size)

    def open(self) -> BinaryIO:
        """A reader over the whole body; each call gives another one."""
        return io.BytesIO(self._body) if isinstance(self._body, bytes) else self._body.open()
