"""What of the reading of a page is done natively; `gregor.worker.read.native` asks for it. See docs/native.md."""

from typing import Final

from gregor_native._core import (
    BUILT_WITH,
    formatting_elements,
    is_too_costly,
    is_too_deep,
    links_judged,
    longest_tag,
    names_there,
    node_seen,
    read_page,
    read_tree,
    resolve,
    simhash_and_sketch,
    text_fingerprint,
    words_of,
)

INTERFACE: Final = 7
"""Which functions there are, and what they take: the worker asks for those that it knows."""

__all__ = [
    "BUILT_WITH",
    "INTERFACE",
    "formatting_elements",
    "is_too_costly",
    "is_too_deep",
    "links_judged",
    "longest_tag",
    "names_there",
    "node_seen",
    "read_page",
    "read_tree",
    "resolve",
    "simhash_and_sketch",
    "text_fingerprint",
    "words_of",
]
