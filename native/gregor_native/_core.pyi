from collections.abc import Callable
from typing import Any, Final, TypeAlias

BUILT_WITH: Final[tuple[tuple[str, str], ...]]
"""Distributions whose sources are compiled in, with their versions."""

_Said: TypeAlias = tuple[
    str | None,
    str,
    list[tuple[str, str, bool, str]],
    str | None,
    str | None,
    list[tuple[str, str]],
    str | None,
    list[str],
    bool,
    list[tuple[int, str, str]],
]

def text_fingerprint(text: str, /) -> bytes:
    """16 bytes (XXH3, 128 bits) over a text whose white space counts as one space, and not at all at its ends."""

def simhash_and_sketch(text: str, letters: bytes, /) -> tuple[int, bytes]:
    """Simhash and sketch of a text in lower case; 0 and nothing for one of fewer than 32 letters.

    ``letters``: 16 KiB, a bit for each code point of the first two planes, the lowest first: whether it is a letter;
    beyond them all are. Raises ValueError for a table of another size.
    """

def read_page(html: str, characters: int, links: int, closed: bool, /) -> _Said | str:
    """What the tree of a page says; or why it is not read: ``embedded``, ``shadow``, ``surrogates``, ``parse``.

    ``characters``: of anchor texts and headings in all; ``links``: that are kept at most; ``closed``: a page with a
    declarative shadow root is not read. Title, text, references (URL, kind, nofollow, text), base, canonical link,
    metas, language, headings, whether there were more references, and attributes that are not parsed here.
    """

def read_tree(root: int, html: str, characters: int, links: int, closed: bool, /) -> _Said | str:
    """The same of a tree that selectolax made of ``html`` and keeps meanwhile; ``root``: its root's ``mem_id``."""

def words_of(element: int, single: bool, /) -> tuple[str, int, int, int]:
    """The visible text of an element of such a tree, by its ``mem_id``, with ``single`` white space; how many nodes
    were passed that are no text, how many that are, and the characters of these."""

def node_seen(node: int, /) -> tuple[int, int, int, int, int, int]:
    """Of a node by its ``mem_id``: its tag's number, and the addresses of the next, the previous, its parent, its first
    and its last child, 0 for none. Nothing else is read."""

def names_there(root: int, names: str, /) -> bytes:
    """For each of the names of elements, classes and ids, written as in selectors with a blank between them, 1 where
    the root of such a tree or an element below it may have it, else 0."""

def resolve(references: list[str], base: str, most: int, /) -> list[tuple[str, str, str, int, bool] | bool | None]:
    """Where each reference of the page ``base`` leads: href, key, host, fingerprint, and whether it is plain: nothing
    in it looks like a loop. None: to no http(s) URL, or one of more than ``most`` characters; False: Python is to say.
    """

def links_judged(
    links: list[Any],
    place: int,
    end: int,
    remembered: tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]],
    longest: int,
    followed: dict[str, str],
    unfollowed: str,
    obeys_nofollow: bool,
    link: Callable[[str, str, bool, str, str], object],
    kept: list[Any],
    chosen: dict[int, Any],
    /,
) -> int:
    """Judge ``links`` from ``place`` on and before ``end``, up to the first of which Python is to say: its place.

    ``remembered``: where references lead (with ``url``, ``fingerprint``, ``out_of_scope`` and ``malformed``) that begin
    with a slash, that are URLs, that are relative to the folder of the page, and others; one of more than ``longest``
    characters is in none. ``followed``: the fates of links by kind; other kinds are ``unfollowed``. Of each a ``link``
    is made (URL, kind, nofollow, fate, text) and ``kept``; those that are ``sent`` are ``chosen`` by fingerprint.
    """

def is_too_costly(html: str, tags: int, nulls: int, nodes: int, names: int, /) -> bool:
    """Whether a tree of markup might have more ``nodes`` or attributes, different ``names`` or U+0000 (``nulls``) than
    that; ``tags``: how often "<" is in it."""

def formatting_elements(html: str, /) -> int:
    """How many elements for formatting begin in markup."""

def longest_tag(html: str, /) -> int:
    """Characters of the longest tag in markup."""

def is_too_deep(html: str, depth: int, elements: int, /) -> bool | None:
    """Whether nesting elements exceed ``depth`` within each other, or ``elements`` in all; None: Python is to say."""
