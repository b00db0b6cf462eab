"""The native reading core: the distribution ``gregor-native`` (docs/native.md), where it is installed.

What it computes is what the Python code beside this computes, bit for bit; it takes less time. Nothing needs it.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final, Protocol, TypeAlias, cast

from selectolax.lexbor import LexborHTMLParser, LexborNode

INTERFACE: Final = 7
"""The functions that are asked for; another version of the distribution may have others."""

LETTERS: Final = re.compile("[\\w\U00020000-\U0010ffff]+")
"""Letters and digits; beyond the first two planes there is little else."""
_PLANES: Final = 0x20000


NativeAnswer: TypeAlias = tuple[
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
"""Title, text, references, base, canonical link, metas, language, headings, whether there were more references; and
attributes whose grammar is left to others, each with the place among the references before which its own belong."""


NativeTarget: TypeAlias = tuple[str, str, str, int, bool]
"""Of a URL: href, key, host, fingerprint; and whether it is plain: nothing in it looks like a loop or a heap."""


class Core(Protocol):
    """What is computed natively, without the interpreter's lock."""

    def text_fingerprint(self, text: str, /) -> bytes:
        """As `fingerprints.text_fingerprint`."""

    def simhash_and_sketch(self, text: str, letters: bytes, /) -> tuple[int, bytes]:
        """As `fingerprints.simhash_and_sketch`, of a text in lower case; ``letters`` as `table_of_letters`."""

    def read_page(self, html: str, characters: int, links: int, closed: bool, /) -> NativeAnswer | str:
        """See `html.natively.read`."""

    def read_tree(self, root: int, html: str, characters: int, links: int, closed: bool, /) -> NativeAnswer | str:
        """The same of the tree that selectolax made of it; ``root``: its root's ``mem_id``."""

    def words_of(self, element: int, single: bool, /) -> tuple[str, int, int, int]:
        """The visible text of an element of such a tree, as `extract.text.words`; how many nodes that are no text were
        passed on the way, how many that are, and the characters of these."""

    def names_there(self, root: int, names: str, /) -> bytes:
        """For each of the names (``a .price #content``) 1 where an element of such a tree may have it, else 0."""

    def is_too_costly(self, html: str, tags: int, nulls: int, nodes: int, names: int, /) -> bool:
        """See `html.guard.too_costly`."""

    def formatting_elements(self, html: str, /) -> int:
        """How many formatting elements begin in markup."""

    def longest_tag(self, html: str, /) -> int:
        """Characters of the longest tag."""

    def is_too_deep(self, html: str, depth: int, elements: int, /) -> bool | None:
        """See `html.guard`; None: Python is to say."""

    def resolve(self, references: list[str], base: str, most: int, /) -> list[NativeTarget | bool | None]:
        """Where each reference leads, as `web.urls.Urls.resolve` without optional rules; None: nowhere. False: Python
        is to say. ``most``: characters of a URL."""

    def links_judged(
        self,
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
        """See `settle.document_links`: the place of the first link that needs thought."""

    def node_seen(self, node: int, /) -> tuple[int, int, int, int, int, int]:
        """What stands in such a node: its tag's number, and where its neighbours are: next, previous, parent, first and
        last child. Nothing beside it is read."""


@cache
def core() -> Core | None:
    """The installed core; None without one, `why_not` says why."""
    return None if why_not() else cast(Core, import_module("gregor_native"))


@cache
def why_not() -> str:
    """Why pages are not read natively; empty: they may be."""
    try:
        module = import_module("gregor_native")
    except ImportError as error:
        return "gregor-native is not installed" if error.name == "gregor_native" else f"gregor-native: {error}"
    if module.INTERFACE != INTERFACE:
        return f"gregor-native is of another version ({module.INTERFACE}, not {INTERFACE})"
    others = (f"{name} {built}, not {version(name)}" for name, built in module.BUILT_WITH if built != version(name))
    return next((f"gregor-native was built with {other}" for other in others), "")


def sees(core: Core, root: LexborNode) -> bool:
    """Whether the core sees in a node what selectolax sees there: another build of lexbor has its nodes otherwise."""
    around = (root.next, root.prev, root.parent, root.first_child, root.last_child)
    addresses = (0 if node is None else node.mem_id for node in around)
    return core.node_seen(root.mem_id) == (root.tag_id, *addresses)


@cache
def tree_core() -> Core | None:
    """The installed core where it can read the trees that selectolax makes."""
    tree = LexborHTMLParser("<title>a</title><p id=b>c<br>d</p>")
    nodes = list(tree.root.traverse(include_text=True)) if tree.root is not None else []
    installed = core()
    return installed if installed is not None and all(sees(installed, node) for node in nodes) else None


@cache
def table_of_letters() -> bytes:
    """A bit for each code point of the first two planes, the lowest first: whether this Python takes it for a letter.
    It takes some milliseconds to make."""
    flags = ["0"] * _PLANES
    for letters in LETTERS.finditer("".join(map(chr, range(_PLANES)))):
        flags[letters.start() : letters.end()] = "1" * (letters.end() - letters.start())
    return int("".join(reversed(flags)), 2).to_bytes(_PLANES // 8, "little")
