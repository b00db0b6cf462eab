"""Entities of RDFa: RDFa Lite 1.1, and what pages have beside it of RDFa Core (``about``, ``rel``, ``rev``).

In the form of JSON-LD, as `microdata` has it. One pass over the tree that is there anyway, with bounds. A vocabulary is
never fetched, and a reference leads to an entity of the same page or stays a URL.
"""

import re
from typing import Any, Final, NamedTuple

from selectolax.lexbor import LexborNode

from gregor.worker.extract import text
from gregor.worker.extract.microdata import MOST_ENTITIES, MOST_TEXT, Entity, absolute, add, around
from gregor.worker.extract.work import Work

_SAYING: Final = ':is([typeof], [property], [about], [resource], [rel*=":"], [rev*=":"])'
_DECLARED: Final = re.compile(r"([\w.-]+):\s+https?://(?:www\.)?schema\.org/?(?=\s|$)", re.ASCII)
_OF_THE_PAGE: Final = ("html", "head", "body")
"""Elements that say of what is around them, at last of the page, where they do not say of what."""
Attributes = dict[str, str | None]


def rdfa(root: LexborNode, base: str, work: Work, left_out: set[str]) -> list[Entity]:
    """The entities that have a type, in the order of the page. Names of schema.org and of a default vocabulary are
    without it, others as they stand (``foaf:name``). Raises `Spent`. ``left_out`` gets what is beyond the bounds."""
    read = _Rdfa(root, base, work)
    if read.is_cut:
        left_out.add(f"more than {MOST_ENTITIES} entities of RDFa")
    return read.entities()


class _Inside(NamedTuple):
    """What holds for the elements within one."""

    subject: Entity
    """Of which they say something."""
    open: "_Relations | None" = None
    """Relations to that, or to what they say of what else they are about."""


class _Relations(NamedTuple):
    of: Entity
    forth: list[str]
    back: list[str]


class _Rdfa:
    """RDFa Core 1.1, section 7.5, for the attributes above."""

    def __init__(self, root: LexborNode, base: str, work: Work) -> None:
        self._base, self._work = base, work
        self._by_name: dict[str, Entity] = {}
        self._every: list[Entity] = []
        self.is_cut = False
        self._inside: dict[int, _Inside] = {}
        self._said: set[tuple[int, str, str | int]] = set()
        declared = (node.attributes.get("prefix") or "" for node in root.css("[prefix]"))
        self._schema_org = {"schema", *(prefix for said in declared for prefix in _DECLARED.findall(said))}
        self._page = _Inside(self._entity(base))
        for node in root.css(_SAYING):
            if len(self._every) >= MOST_ENTITIES:
                self.is_cut = True
                break
            self._read(node, node.attributes)

    def entities(self) -> list[Entity]:
        """Those with a type. Of what is only referred to the URL stands in its place."""
        for entity in self._every:
            for name, value in entity.items():
                entity[name] = [_plain(each) for each in value] if isinstance(value, list) else _plain(value)
        return [entity for entity in self._every if "@type" in entity]

    def _read(self, node: LexborNode, attributes: Attributes) -> None:
        outer = self._outer(node)
        names, is_typed, target = self._names(attributes.get("property")), "typeof" in attributes, _target(attributes)
        relations = _Relations({}, self._relations(attributes.get("rel")), self._relations(attributes.get("rev")))
        typed = about = self._about(node, attributes, outer)
        subject, inside = outer.subject if about is None else about, None
        if relations.forth or relations.back:
            relations = relations._replace(of=subject)
            if target or (is_typed and about is None):
                related = self._entity(target)
                typed = related if typed is None else typed
                self._relate(relations, related)
                inside = _Inside(related)
            else:
                inside = _Inside(self._entity(), relations)
        elif names and not attributes.keys() & {"content", "datatype"}:
            if is_typed and about is None:
                typed = self._entity(target)
        elif about is None and (target or is_typed):
            subject = typed = self._entity(target)
        if outer.open is not None:
            self._relate(outer.open, subject)
        if is_typed and typed is not None:
            self._type(typed, self._names(attributes["typeof"]))
        for name in names:
            own = typed if is_typed and about is None else None
            self._say(
                subject, name, self._value(node, attributes, "" if relations.forth or relations.back else target, own)
            )
        self._inside[node.mem_id] = inside or _Inside(typed if is_typed and typed is not None else subject)

    def _outer(self, node: LexborNode) -> _Inside:
        for ancestor in around(node):
            self._work.nodes(1)
            if (inside := self._inside.get(ancestor.mem_id)) is not None:
                return inside
        return self._page

    def _about(self, node: LexborNode, attributes: Attributes, outer: _Inside) -> Entity | None:
        """What an element says that it is about."""
        if "about" in attributes:
            return self._entity(attributes["about"] or self._base)
        return outer.subject if node.tag in _OF_THE_PAGE and not _target(attributes) else None

    def _entity(self, name: str = "") -> Entity:
        """The entity of a name, a reference; without one a new one."""
        name = name.strip().removeprefix("[").removesuffix("]")
        if name and not name.startswith("_:"):
            name = absolute(self._base, name)
        if name in self._by_name:
            return self._by_name[name]
        entity: Entity = {"@id": name} if name and not name.startswith("_:") else {}
        self._every.append(entity)
        if name:
            self._by_name[name] = entity
        return entity

    def _value(self, node: LexborNode, attributes: Attributes, target: str, typed: Entity | None) -> Any:
        """That of a property; ``typed``: the entity that the element is."""
        if "content" in attributes:
            return (attributes["content"] or "")[:MOST_TEXT]
        if "datatype" not in attributes:
            if typed is not None:
                return typed
            if target:
                return self._entity(target) if attributes.get("resource") else absolute(self._base, target)
        return text.value(node, self._work)[:MOST_TEXT]

    def _relate(self, relations: _Relations, target: Entity) -> None:
        for name in relations.forth:
            self._say(relations.of, name, target)
        for name in relations.back:
            self._say(target, name, relations.of)

    def _say(self, entity: Entity, name: str, value: Any) -> None:
        """What is said twice is said once: the same entity may stand at several places."""
        said = id(entity), name, value if isinstance(value, str) else id(value)
        if said not in self._said:
            self._said.add(said)
            add(entity, name, value)

    @staticmethod
    def _type(entity: Entity, kinds: list[str]) -> None:
        there = entity.get("@type", [])
        every = list(dict.fromkeys([*(there if isinstance(there, list) else [there]), *kinds]))
        if every:
            entity["@type"] = every[0] if len(every) == 1 else every

    def _names(self, said: str | None) -> list[str]:
        return [self._short(name) for name in dict.fromkeys((said or "").split()) if not name.startswith("@")]

    def _relations(self, said: str | None) -> list[str]:
        """Those of a vocabulary: HTML has its own, such as nofollow."""
        return self._names(" ".join(name for name in (said or "").split() if ":" in name))

    def _short(self, name: str) -> str:
        prefix, _, local = name.partition(":")
        return local if prefix in self._schema_org and local else name


def _target(attributes: Attributes) -> str:
    """What an element refers to."""
    return attributes.get("resource") or attributes.get("href") or attributes.get("src") or ""


def _plain(value: Any) -> Any:
    return value["@id"] if isinstance(value, dict) and len(value) == 1 and "@id" in value else value
