from typing import Final, TypeAlias

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
