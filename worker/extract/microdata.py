"""Entities that the elements of a page carry: microdata (HTML Standard, section 5).

In the form of JSON-LD: ``@type``, ``@id``, and the properties, a list where one comes several times. One pass over the
tree that is there anyway, with bounds: libraries for it parse the page again, and follow references without end.
"""

from collections.abc import Iterator
from typing import Any, Final

import ada_url
from selectolax.lexbor import LexborNode

from gregor.worker.extract import text
from gregor.worker.extract.work import Work

Entity = dict[str, Any]
MOST_ENTITIES: Final = 2000
"""Entities of a page that are read."""
MOST_REFERENCES: Final = 200
"""Elements of a page that ``itemref`` names and that are read, each time that they are named."""
MOST_TEXT: Final = 100_000
"""Characters of a property's text."""
_URLS: Final = frozenset({"a", "area", "link", "audio", "embed", "iframe", "img", "source", "track", "video", "object"})


def microdata(root: LexborNode, base: str, work: Work, left_out: set[str]) -> list[Entity]:
    """The items that are no property of another one, in order. Raises `Spent`. ``left_out`` gets what is beyond the
    bounds."""
    read = _Microdata(root, base, work)
    if read.is_cut:
        left_out.add(f"more than {MOST_ENTITIES} entities of microdata")
    if read.refers_on:
        left_out.add(f"more than {MOST_REFERENCES} references of microdata (itemref)")
    return read.entities


class _Microdata:
    def __init__(self, root: LexborNode, base: str, work: Work) -> None:
        self._work = work
        self.entities: list[Entity] = []
        self._base = base
        self._by_node: dict[int, Entity] = {}
        self._left = MOST_REFERENCES
        self._entities = MOST_ENTITIES
        self.is_cut = self.refers_on = False
        referring: list[tuple[Entity, list[str]]] = []
        for node in root.css(":is([itemscope], [itemprop])"):
            attributes = node.attributes
            if "itemscope" in attributes and not self._entities:
                self.is_cut = True
            elif "itemscope" in attributes:
                self._entities -= 1
                entity = self._begin(attributes)
                self._by_node[node.mem_id] = entity
                if names := list(dict.fromkeys((attributes.get("itemref") or "").split())):
                    referring.append((entity, names))
                if "itemprop" not in attributes:
                    self.entities.append(entity)
            if "itemprop" in attributes and (owner := _nearest(node, self._by_node, work)) is not None:
                self._put(owner, node)
        for entity, names in referring:
            for name in names:
                self._refer(root, entity, name)

    def _begin(self, attributes: dict[str, str | None]) -> Entity:
        kinds = (attributes.get("itemtype") or "").split()
        entity: Entity = {"@type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
        if name := attributes.get("itemid"):
            entity["@id"] = absolute(self._base, name)
        return entity

    def _put(self, owner: Entity, node: LexborNode) -> None:
        value = self._by_node.get(node.mem_id)
        said = _said(node, self._base, self._work) if value is None else value
        for name in (node.attributes.get("itemprop") or "").split():
            add(owner, name, said)

    def _refer(self, root: LexborNode, entity: Entity, name: str) -> None:
        """The properties of the element of that name belong to the item, too."""
        if any(mark in name for mark in '"\\'):
            return
        if self._left <= 0:
            self.refers_on = True
            return
        self._left -= 1
        self._work.steps(1)
        named = root.css_first(f'[id="{name}"]')
        if named is None:
            return
        within = [named] if "itemprop" in named.attributes else named.css("[itemprop]")
        self.refers_on |= len(within) > MOST_REFERENCES
        for node in within[:MOST_REFERENCES]:
            if self._by_node.get(node.mem_id) is entity:
                continue  # it would hold itself
            owner = _nearest(node, self._by_node, self._work)
            if owner is entity:
                continue  # it is within the item, and a property of it anyway
            if owner is None or node.mem_id == named.mem_id:
                self._put(entity, node)


def _nearest(node: LexborNode, by_node: dict[int, Entity], work: Work) -> Entity | None:
    """The entity of the nearest element around."""
    for ancestor in around(node):
        work.nodes(1)
        if (entity := by_node.get(ancestor.mem_id)) is not None:
            return entity
    return None


def around(node: LexborNode) -> Iterator[LexborNode]:
    """The elements that a node is in, the nearest first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _said(node: LexborNode, base: str, work: Work) -> str:
    """The value of a property (HTML Standard, section 5.2.4); ``content`` goes before, as schema.org's examples have
    it and RDFa says."""
    if content := node.attributes.get("content"):
        return content[:MOST_TEXT]
    if node.tag in _URLS:
        return absolute(base, text.reference(node, work))
    return text.value(node, work)[:MOST_TEXT]


def absolute(base: str, reference: str) -> str:
    """A reference resolved; as it stands where that cannot be."""
    try:
        return ada_url.join_url(base, reference)
    except ValueError:
        return reference


def add(entity: Entity, name: str, value: Any) -> None:
    """A property more; of several of a name a list."""
    if name not in entity:
        entity[name] = value
    elif isinstance(entity[name], list):
        entity[name].append(value)
    else:
        entity[name] = [entity[name], value]
