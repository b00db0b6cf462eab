"""What must be in a page for a CSS selector to choose anything of it: names of elements, classes and ids. Pure.

To look through a whole page for what is not there takes as long as all else that a rule does.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gregor.worker.extract.model import Field, Group, Rule

Alternatives = tuple[tuple[str, ...], ...]
"""For each part of a list of selectors the names that must all be there: ``a``, ``.price``, ``#content``."""

MOST: Final = 200
"""Names of a rule that are looked for at once."""
_COMBINED: Final = re.compile(r"\s*[>+~]\s*|\s+")
_NARROWED: Final = re.compile(
    r"""\[\s*[\w-]+\s*(?:[~|^$*]?=\s*(?:"[^"\\\[\]]*"|'[^'\\\[\]]*'|[\w-]+)\s*)?\]"""
    r"|:(?:first|last|only)-(?:child|of-type)|:nth-(?:last-)?(?:child|of-type)\(\s*(?:odd|even|[\dn+\s-]+)\s*\)",
    re.ASCII,
)
"""Conditions that only make fewer of what a name chooses."""
_COMPOUND: Final = re.compile(r"(\*|[A-Za-z][A-Za-z0-9-]*)?((?:[.#][A-Za-z_][\w-]*)*)", re.ASCII)
_NAME: Final = re.compile(r"[.#][^.#]+")


def alternatives(selector: str) -> Alternatives:
    """Nothing where it cannot be said: also without these names something may be chosen."""
    made = []
    for part in _NARROWED.sub("", selector).split(","):
        names = _names(part.strip())
        if not names:
            return ()
        made.append(tuple(dict.fromkeys(names)))
    return tuple(made)


def _names(selector: str) -> list[str]:
    """Those of one selector; none where it is written otherwise than with names."""
    names: list[str] = []
    for compound in _COMBINED.split(selector):
        said = _COMPOUND.fullmatch(compound)
        if said is None:
            return []
        if said[1] and said[1] != "*":
            names.append(said[1].lower())
        names += _NAME.findall(said[2])
    return names


def names_of(rule: Rule) -> tuple[str, ...]:
    """Those that a rule looks for in the whole page."""
    sources = [rule.when, rule.each, *(() if rule.each or rule.schema else _sources(rule.fields))]
    names: dict[str, None] = {}
    for source in sources:
        needs: Alternatives = getattr(source, "needs", ())
        names |= dict.fromkeys(name for each in needs for name in each)
    return tuple(names)[:MOST]


def _sources(fields: Iterable[Field | Group]) -> Iterator[object]:
    for member in fields:
        if isinstance(member, Field):
            yield from member.sources
        else:
            yield member.each
            if member.each is None:
                yield from _sources(member.fields)
