"""The main content of a page, where the setting ``text`` is "main": without menus, banners and footers.

By resiliparse, which the extra "text" installs; a page in which it finds nothing keeps all of its text.
"""

from importlib.util import find_spec
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.read.document import Document, Extract
from gregor.worker.read.processors import Html, Processors, Xhtml, decoded

MOST: Final = 2 << 20
"""Characters of markup: of a longer page all text is kept, since it is looked through once more."""


def telling_apart(processors: Processors) -> Processors:
    """The same, with the main content of pages told apart. Raises `BadInput` without the extra."""
    if find_spec("resiliparse") is None:
        raise BadInput("text = \"main\" needs packages more: pip install 'gregor-crawler[text]'")
    return processors.replacing((MainHtml(processors.core), MainXhtml(processors.core)))


def main_text(markup: str) -> str:
    """The main content, white space made single; "" where none is found. Needs the extra."""
    from resiliparse.extract.html2text import extract_plain_text  # heavy: only where it is asked for

    text: str = extract_plain_text(markup, main_content=True, alt_texts=False, list_bullets=False)
    return " ".join(text.split())


class MainHtml(Html):
    """HTML whose main content is told apart."""

    def process(self, document: Document) -> Extract:
        """See `Html.process`."""
        return _with_main(super().process(document), document)


class MainXhtml(Xhtml):
    """XHTML likewise."""

    def process(self, document: Document) -> Extract:
        """See `Xhtml.process`."""
        return _with_main(super().process(document), document)


def _with_main(said: Extract, document: Document) -> Extract:
    markup = decoded(document)[0] if document.size <= MOST else ""
    said.main = main_text(markup) if markup else ""
    return said
