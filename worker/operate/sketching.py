"""How far it is when the sketches of pages of earlier versions are made from their stored texts."""

from msgspec import Struct

from gregor.schemas.messages import Page
from gregor.worker.read.fingerprints import sketch_of, words_of


class Sketched(Struct):
    """``shares`` of the work, of which ``before`` were done when it began; ``pages``: so many were looked at since."""

    shares: int
    before: int = 0
    done: int = 0
    pages: int = 0


def with_sketch(page: Page) -> Page:
    """A page that has its sketch, made now if need be."""
    if not page.sketch and not page.duplicate_of:
        page.sketch = sketch_of(words_of(page.title, page.text))
    return page
