"""The native reading core: the distribution ``gregor-native`` (docs/native.md), where it is installed.

What it computes is what the Python code beside this computes, bit for bit; it takes less time. Nothing needs it.
"""

import re
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Final, Protocol, TypeAlias, cast

INTERFACE: Final = 2
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


class Core(Protocol):
    """What is computed natively, without the interpreter's lock."""

    def text_fingerprint(self, text: str, /) -> bytes:
        """As `fingerprints.text_fingerprint`."""

    def simhash_and_sketch(self, text: str, letters: bytes, /) -> tuple[int, bytes]:
        """As `fingerprints.simhash_and_sketch`, of a text in lower case; ``letters`` as `table_of_letters`."""

    def read_page(self, html: str, characters: int, links: int, closed: bool, /) -> NativeAnswer | str:
        """See `html.natively.read`."""


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


@cache
def table_of_letters() -> bytes:
    """A bit for each code point of the first two planes, the lowest first: whether this Python takes it for a letter.
    It takes some milliseconds to make."""
    flags = ["0"] * _PLANES
    for letters in LETTERS.finditer("".join(map(chr, range(_PLANES)))):
        flags[letters.start() : letters.end()] = "1" * (letters.end() - letters.start())
    return int("".join(reversed(flags)), 2).to_bytes(_PLANES // 8, "little")
