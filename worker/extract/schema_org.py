"""The schema.org entities of a page: JSON-LD, else microdata, else RDFa; whatever a page nests or refers to is bounded.

Nothing is fetched: contexts are not read, and a reference leads to an entity of the same page or nowhere.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gregor.worker.extract.microdata import Entity, microdata
from gregor.worker.extract.page import Parsed
from gregor.worker.extract.rdfa import rdfa

LARGEST: Final = 5000
"""Values of one entity, with all that it refers to; the rest is left out."""
MOST: Final = 50_000
"""Values of all entities of a page that are asked for; entities beyond are left out, and `Parsed.left_out` says so."""
DEEPEST: Final = 24
"""Objects within objects, whether they stand there or are referred to."""
_PREFIXES: Final = (
    "http://schema.org/",
    "https://schema.org/",
    "http://www.schema.org/",
    "https://www.schema.org/",
    "schema:",
)
_LD: Final = 'script[type*="ld+json" i]'
_HIDDEN: Final = ("@context", "@graph")


def entities(page: Parsed, kind: str) -> list[Entity]:
    """The entities of a type, in the order of the page: those of the first syntax that has any."""
    if kind not in page.entities:
        page.entities[kind] = _read(page, kind)
    return page.entities[kind]


def _read(page: Parsed, kind: str) -> list[Entity]:
    left_out = page.left_out[kind]
    documents = page.json if page.kind == "json" else page.scripts(_LD)
    left_out |= page.left_out_of_json(_LD)
    matching = _of_type(documents, kind, page)
    if matching or page.node is None:
        return matching
    markup = page.markup.lower()
    if "itemscope" in markup:
        matching = _of_type(microdata(page.node, page.base, page.work, left_out), kind, page)
    if not matching and "typeof" in markup:
        return _of_type(rdfa(page.node, page.base, page.work, left_out), kind, page)
    return matching


def follow(entity: Any, names: Sequence[str]) -> Iterator[Any]:
    """What stands at the end of a path; on the way every member of a list is followed."""
    if isinstance(entity, list):
        for member in entity:
            yield from follow(member, names)
    elif not names:
        if entity not in (None, "", {}):
            yield entity
    elif isinstance(entity, dict) and names[0] in entity:
        yield from follow(entity[names[0]], names[1:])


def properties(entity: Entity) -> Entity:
    """What an entity says, without what it is, and without names that could be taken for ours."""
    return {name: value for name, value in entity.items() if name != "@type" and not name.startswith("_")}


def _of_type(documents: Sequence[Any], kind: str, page: Parsed) -> list[Entity]:
    wanted = _short(kind)
    every = _all(documents)
    named = _named(every)
    made: list[Entity] = []
    left = MOST
    for entity in every:
        if wanted not in _types(entity):
            continue
        if left > 0:
            plain = _Plain(named, min(left, LARGEST))
            made.append(plain.entity(entity))
            left -= min(left, LARGEST) - plain.left
            page.shortened[kind] |= {f"{cause} in a {kind}" for cause in plain.left_out}
        else:
            page.left_out[kind].add(f"more than {MOST} values of {kind}")
    return made


def _all(documents: Sequence[Any]) -> list[Entity]:
    """Every object that there is, once, outer ones first, in their order."""
    objects: dict[int, Entity] = {}
    waiting: list[Any] = list(reversed(documents))
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if id(value) in objects:
                continue
            objects[id(value)] = value
            value = list(value.values())
        if isinstance(value, list):
            waiting += [below for below in reversed(value) if isinstance(below, dict | list)]
    return list(objects.values())


def _named(every: Sequence[Entity]) -> dict[str, Entity]:
    """What an ``@id`` leads to: the object of that name that says most."""
    named: dict[str, Entity] = {}
    for entity in every:
        name = entity.get("@id")
        if isinstance(name, str) and len(entity) > max(1, len(named.get(name, ()))):
            named[name] = entity
    return named


def _types(entity: Entity) -> set[str]:
    kinds = entity.get("@type")
    return {_short(kind) for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)}


def _short(name: str) -> str:
    """A name of schema.org without what says so."""
    name = name.strip()
    return next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)


class _Plain:
    """Makes plain values of one entity: what it refers to in its place, short names, no wrapped literals."""

    def __init__(self, named: dict[str, Entity], left: int) -> None:
        self._named = named
        self.left = left
        self._open: list[int] = []
        self.left_out: set[str] = set()

    def entity(self, entity: Entity) -> Entity:
        """The entity, with short names."""
        self._open.append(id(entity))
        table = {}
        for key, value in entity.items():
            if key in _HIDDEN or not self._has_room():
                continue
            table[_short(key)] = self._value(value)
        self._open.pop()
        return table

    def _has_room(self) -> bool:
        if self.left <= 0:
            self.left_out.add(f"more than {LARGEST} values")
        return self.left > 0

    def _value(self, value: Any) -> Any:
        self.left -= 1
        if isinstance(value, list):
            return [self._value(member) for member in value if self._has_room()]
        if not isinstance(value, dict):
            return _short(value) if isinstance(value, str) and value.startswith(_PREFIXES) else value
        if "@value" in value:
            return value["@value"] if isinstance(value["@value"], str | int | float | bool) else None
        if len(value) == 1 and ("@list" in value or "@set" in value):
            return self._value(next(iter(value.values())))
        name = value.get("@id")
        if isinstance(name, str) and len(value) == 1:
            value = self._named.get(name, value)
        if id(value) in self._open or len(self._open) == DEEPEST:
            if id(value) not in self._open:
                self.left_out.add(f"objects more than {DEEPEST} deep")
            return {"@id": name} if isinstance(name, str) else None
        return self.entity(value)
