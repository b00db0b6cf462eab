"""Documents that are made to cost much, each as large as a body may be, and what reading them costs.

`python -m tests.web.hostile [NAME…]` reads them, each in a process of its own, and prints what it took.
"""

from typing import Final

from tests.web.hostile.costs import MOST_MEMORY, MOST_SECONDS, Reader
from tests.web.hostile.document import Hostile
from tests.web.hostile.more_pages import ATTRIBUTES, STRUCTURES
from tests.web.hostile.others import CODED, HEADER_LINES, ROBOTS_FILES, SITEMAPS
from tests.web.hostile.pages import PAGES
from tests.web.hostile.texts import TEXTS, XMLS

__all__ = ["DOCUMENTS", "MOST_MEMORY", "MOST_SECONDS", "Hostile", "Reader"]

DOCUMENTS: Final = (
    *PAGES,
    *ATTRIBUTES,
    *STRUCTURES,
    *TEXTS,
    *XMLS,
    *SITEMAPS,
    *ROBOTS_FILES,
    *HEADER_LINES,
    *CODED,
)
