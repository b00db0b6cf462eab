"""A page read by the native core: what `parse` makes of its tree, equal in everything."""

from itertools import islice, starmap
from typing import Final

from selectolax.lexbor import LexborNode

from gregor.worker.read.document import Extract, Reference
from gregor.worker.read.html import references
from gregor.worker.read.native import Core, NativeAnswer

NATIVE: Final = "native"
SHADOW: Final = "shadow"
"""Why a page is left whose shadow root is closed."""


class NativeAttempt:
    """The core as it is asked for one document, and what came of it."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.way = "costly"
        """Which way the document was read: ``native``, or why by Python; ``costly`` as long as nothing was asked."""

    def read(
        self, html: str, characters: int, encoding: str, max_links: int, closed: bool, root: LexborNode | None = None
    ) -> Extract | str:
        """What the tree of a page says; or why that has to be told by Python: ``shadow`` for one with a shadow root
        that is ``closed`` still. ``characters``: so many of anchor texts and headings are read in all. ``root``: that
        of the page's tree, where it is made already."""
        if root is None:
            answer = self.core.read_page(html, characters, max_links, closed)
        else:
            answer = self.core.read_tree(root.mem_id, html, characters, max_links, closed)
        said = answer if isinstance(answer, str) else _extract(answer, encoding, max_links)
        self.way = said if isinstance(said, str) else NATIVE
        return said


def _extract(said: NativeAnswer, encoding: str, max_links: int) -> Extract | str:
    title, text, links, base, canonical, metas, language, headings, truncated, unparsed = said
    extract = Extract(
        title=title,
        text=text,
        links=list(starmap(Reference, links)),
        base=base,
        canonical=canonical,
        meta_robots=[(name.strip().lower(), content) for name, content in metas],
        encoding=encoding,
        lang=(language or "").strip() or None,
        truncated=truncated,
        headings=headings,
    )
    return _completed(extract, unparsed, max_links) if unparsed else extract


def _completed(extract: Extract, unparsed: list[tuple[int, str, str]], max_links: int) -> Extract | str:
    """With the links of attributes that have a grammar of their own, each at its place; they may be too many."""
    links, done, budget = list[Reference](), 0, references.CandidateBudget()
    for place, kind, value in unparsed:
        links += extract.links[done:place]
        done = place
        if kind == "srcset":
            links += (Reference(url, kind) for url in islice(references.srcset(value, budget), max_links + 1))
        elif extract.refresh is None and (refresh := references.refresh(value)) is not None:
            extract.refresh, extract.refresh_delay = (refresh.url or "").strip(references.SPACE), refresh.delay
            if extract.refresh:
                links.append(Reference(extract.refresh, kind))
    links += extract.links[done:]
    if extract.truncated or len(links) > max_links or budget.left < 0:
        return "links"
    extract.links = links
    return extract
