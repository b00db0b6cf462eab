"""A page read token by token, without a tree: for pages of which a tree would cost more than they are worth.

What is built is text and links alone, so time and memory grow with the tokens that are read, whatever they nest, repeat
or leave open. Well-formed markup says the same as by its tree; where browsers mend (an anchor that a table cell closes
and the next one opens again), it is read as it stands.
"""

import html as entities
import re
from collections.abc import Mapping
from typing import Final

from gregor.worker.read.document import Extract
from gregor.worker.read.html.attributes import MAX_REFERENCES, attributes_of, cost_of
from gregor.worker.read.html.collector import BLOCKS, HANDLERS, HEADINGS, HIDDEN, MAX_ANCHOR, Collector, names
from gregor.worker.read.html.references import SPACE
from gregor.worker.read.white_space import collapse

MAX_COST: Final = 305_000
"""Tags and comments that are read (some 0.4 s), each that refers to something as several; there the page is cut."""

_TAG = re.compile(
    r"""([^<]*+)<(/?)([A-Za-z][^\s/>]*+)((?:[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+)*+[\s/]*+)(>?)"""
)
"""A tag, and the text before it."""
_LINK = re.compile(r"""[\s/]*+[hH][rR][eE][fF]=(?:"([^"&]*+)"|'([^'&]*+)'|([^\s"'&>]++))\s*+""")
"""All that is in the tag of most anchors of a page that has many."""
_LINK_TEXT = re.compile(r"([^<&]*+)</[aA]>")
_COMMENT_END = re.compile(r"--!?>")
_RAW: Final = names("script style xmp iframe noembed noframes title textarea")
"""Elements, not those of drawings, whose content has no tags."""
_ENDS: Final = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW}
_DECODED: Final = names("title textarea")
_FOREIGN: Final = names("svg math")
_BREAKOUT: Final = names(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta"
    " nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
"""Elements at which a drawing ends, though its end tag is missing (HTML Standard, 13.2.6.5)."""
_HEAD: Final = names("html head base basefont bgsound link meta title noscript noframes style script template")


def extract(html: str, encoding: str, max_links: int) -> Extract:
    """What a page says, read up to `MAX_COST`. Never raises, whatever the text."""
    page = Collector(html, encoding, max_links, embed)
    html = html.replace("\0", "")  # ignored, HTML Standard 13.2.6.4.7
    if "\r" in html:
        html = html.replace("\r\n", "\n").replace("\r", "\n")
    _Reader(page, html).read(MAX_COST)
    return page.finished()


def embed(page: Collector, html: str, most: int) -> int:
    """Read the document of a ``srcdoc`` into its page, up to a cost; what it costs."""
    reader = _Reader(page, html.replace("\0", ""))
    reader.read(most)
    return reader.cost


class _Element:
    """A start tag, as the collector asks for it; its text is there if it is known already."""

    def __init__(
        self, tag: str, attributes: Mapping[str, str | None], parent: "_Element | None", text: str = ""
    ) -> None:
        self.tag: str | None = tag
        self.attributes = attributes
        self.parent = parent
        self._text = text

    def text(self) -> str:
        return self._text


_IN_HEAD: Final = _Element("head", {}, None)
_DRAWING: Final = _Element("svg", {}, None)
_ELSEWHERE: Final = _Element("body", {}, None)


class _Reader:
    """Where it is in a page: in a template, in a drawing, in an anchor, still in the head."""

    def __init__(self, page: Collector, html: str) -> None:
        self._page = page
        self._html = html
        self._at = self.cost = 0
        self._templates = self._drawings = 0
        self._head = True
        self._rooted = False
        self._references = 0
        self._anchor = -1
        self._anchor_texts: list[str] = []
        self._room = 0

    def read(self, most: int) -> None:
        """Token by token, to the end or the bound."""
        html, match, append = self._html, _TAG.match, self._page.parts.append
        plain = self._is_plain()
        while self.cost < most:
            self.cost += 1
            tag = match(html, self._at)
            if tag is None:
                if not self._without_tag():
                    break
                plain = self._is_plain()
                continue
            text, end, name, attributes, closed = tag.groups()
            self._at = tag.end()
            if text:
                if plain and self._anchor < 0 and "&" not in text:
                    append(text)
                else:
                    self._text(text)
                    plain = self._is_plain()
            if not closed:
                break
            name = name.lower()
            if plain and name in _APART:
                append(" ")
            elif end:
                self._end(name)
                plain = self._is_plain()
            elif (name in _MATTERING or self._head) and not (plain and name == "a" and self._link(attributes)):
                self._start(name, attributes)
                plain = self._is_plain()
        else:
            self._page.cut("tags")
        self._close_anchor()

    def _is_plain(self) -> bool:
        """Whether a text is one of the page, and a block's tag nothing more than a space."""
        return not (self._head or self._templates or self._drawings)

    def _link(self, attributes: str) -> bool:
        """Take an anchor that has nothing but a reference, with its text if no tag is in it; whether it is one."""
        link = _LINK.fullmatch(attributes)
        if link is None:
            return False
        self._close_anchor()
        self.cost += cost_of(attributes)
        url = link[link.lastindex or 1].strip(SPACE)
        text = _LINK_TEXT.match(self._html, self._at)
        if text is None:
            self._anchor, self._room = self._page.open_link(url), 4 * MAX_ANCHOR
            return True
        self.cost += 1
        self._at = text.end()
        words = text[1]
        self._page.parts.append(words)
        self._page.add(url, "a", text=collapse(words[: 4 * MAX_ANCHOR])[:MAX_ANCHOR])
        return True

    def _without_tag(self) -> bool:
        """Read on where a text is followed by no tag; whether there is more."""
        start = self._html.find("<", self._at)
        self._text(self._html[self._at : start if start >= 0 else len(self._html)])
        if start >= 0:
            self._at = self._past_markup(start)
        return start >= 0

    def _past_markup(self, start: int) -> int:
        """The end of a comment or of what counts as one; a mere "<" is text."""
        html = self._html
        if html.startswith("<!--", start):
            if html.startswith((">", "->"), start + 4):
                return html.index(">", start) + 1
            end = _COMMENT_END.search(html, start + 4)
            return end.end() if end is not None else len(html)
        if self._drawings and html.startswith("<![CDATA[", start):
            end_of_data = html.find("]]>", start)
            self._text(html[start + 9 : end_of_data if end_of_data >= 0 else len(html)], as_it_is=True)
            return end_of_data + 3 if end_of_data >= 0 else len(html)
        if html.startswith(("<!", "<?", "</"), start):
            end_of_mark = html.find(">", start)
            return end_of_mark + 1 if end_of_mark >= 0 else len(html)
        self._text("<", as_it_is=True)
        return start + 1

    def _text(self, text: str, as_it_is: bool = False) -> None:
        if not text or self._templates:
            return
        if "&" in text and not as_it_is:
            text = self._decoded(text)
        if self._head and not text.isspace():
            self._head = False
        self._page.parts.append(text)
        if self._anchor >= 0 and self._room > 0:
            self._anchor_texts.append(text[: self._room])
            self._room -= len(text)

    def _decoded(self, text: str) -> str:
        """With the characters that are meant by references, unless there were very many: then as it stands."""
        self._references += text.count("&")
        return entities.unescape(text) if self._references <= MAX_REFERENCES else text

    def _end(self, name: str) -> None:
        if name == "template":
            self._templates = max(0, self._templates - 1)
        elif name in _FOREIGN:
            self._drawings = max(0, self._drawings - 1)
        elif name == "a":
            self._close_anchor()
        if name in BLOCKS:
            self._page.parts.append(" ")

    def _start(self, name: str, attributes: str) -> None:
        if self._drawings and name in _BREAKOUT:
            self._drawings = 0
        drawn = self._drawings > 0
        if name == "template":
            self._templates += not drawn
        elif self._templates:
            if name in _RAW:
                self._content(name)
            return
        elif name in _FOREIGN:
            self._drawings += not attributes.endswith("/")
        if self._head and name not in _HEAD:
            self._head = False
        if name in BLOCKS:
            self._page.parts.append(" ")
        if name == "plaintext" and not drawn:
            self._text(self._html[self._at :], as_it_is=True)
            self._at = len(self._html)
        elif name in _HANDLED:
            self._handle(name, attributes, drawn)
        if name in _RAW and (name in _ALWAYS_RAW or not drawn) and not (drawn and attributes.endswith("/")):
            self._raw(name)

    def _handle(self, name: str, attributes: str, drawn: bool) -> None:
        self.cost += cost_of(attributes)
        parent = _DRAWING if drawn else _IN_HEAD if self._head else _ELSEWHERE
        element = _Element(name, attributes_of(attributes), parent)
        if name == "a":
            self._close_anchor()
            self._anchor, self._room = self._page.open_anchor(element), 4 * MAX_ANCHOR
        elif name == "html":
            if not self._rooted:
                self._page.root(element)
            self._rooted = True
        elif name != "title":
            HANDLERS[name](self._page, element)

    def _raw(self, name: str) -> None:
        content = self._content(name)
        if name in _DECODED:
            content = self._decoded(content)
        if name == "title":
            self._page.title(_Element(name, {}, _DRAWING if self._drawings else _ELSEWHERE, content))
        if name not in HIDDEN:
            self._text(content, as_it_is=True)
        elif self._anchor >= 0:
            self._anchor_texts.append(content[: max(0, self._room)])
            self._room -= len(content)

    def _content(self, name: str) -> str:
        """What is inside an element without tags; the position is then at its end tag."""
        start = self._at
        end = _ENDS[name].search(self._html, start)
        self._at = end.start() if end is not None else len(self._html)
        return self._html[start : self._at]

    def _close_anchor(self) -> None:
        if self._anchor >= 0 and self._anchor_texts:
            self._page.name_anchor(self._anchor, "".join(self._anchor_texts))
            self._anchor_texts = []
        self._anchor = -1


_HANDLED: Final = frozenset(HANDLERS) - HEADINGS
_MATTERING: Final = names("template plaintext") | _HANDLED | _RAW | BLOCKS | _FOREIGN | _BREAKOUT
"""Elements that say something, or change how what follows is read."""
_APART: Final = BLOCKS - _HANDLED - _RAW - _FOREIGN - names("template plaintext")
"""Elements that do nothing but stand apart, in a page's body and out of drawings."""
_ALWAYS_RAW: Final = names("script style title")
"""In drawings too: what they have there is no text of the page, either."""
