"""What a query can be narrowed by: what its documents have in common, each value with the query for it. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

from gregor.search.borders import Facet
from gregor.search.facets import FIELDS
from gregor.search.query import ParsedQuery, QueryFilter, pieces, typed
from gregor.search.query_text import LONGEST, item_parts

_NARROWING: Final = tuple(FIELDS.values())


class ValueView(msgspec.Struct, frozen=True):
    """A value that documents have. ``count``: how many of those that were found, None where that is not known;
    ``query``: the one that finds these alone, or, where it is ``chosen`` already, the one without it."""

    value: str
    count: int | None
    query: str
    chosen: bool = False


class FacetView(msgspec.Struct, frozen=True):
    """What a query can be narrowed by. ``name``: the filter; ``field``: that of items, "" for what they are called."""

    name: str
    field: str
    values: list[ValueView]


def narrowing(query: str, asked: ParsedQuery, facets: Sequence[Facet], total: int) -> list[FacetView]:
    """The facets of what a query finds, ``total`` documents. Where a filter was chosen it is shown alone, to be taken
    out: others beside it would find more, not less."""
    chosen: dict[str, list[QueryFilter]] = {}
    for condition in asked.filters:
        if not condition.without and condition.name in _NARROWING:
            chosen.setdefault(condition.group, []).append(condition)
    parts = pieces(query) if chosen else []
    views = [_chosen(parts, conditions, facets, total) for conditions in chosen.values()]
    for facet in facets:
        if _group(facet) not in chosen:
            values = [ValueView(each.value, each.count, narrowed(query, each.query)) for each in facet.values]
            views.append(FacetView(facet.name, facet.field, values))
    order = {name: place for place, name in enumerate(_NARROWING)}
    return sorted(views, key=lambda view: order[view.name])


def narrowed(query: str, condition: str) -> str:
    """A query with a filter more. It stands in front: behind, it could be a part of what is quoted and not closed, or
    beyond what is read."""
    return f"{condition} {query[:LONGEST]}".strip()


def without(parts: Sequence[tuple[str, QueryFilter | None]], condition: QueryFilter) -> str:
    """The query of these parts without those that say this condition."""
    return " ".join(part for part, said in parts if said != condition)


def _group(facet: Facet) -> str:
    return f"item:{facet.field}" if facet.name == "item" else facet.name


def _chosen(
    parts: Sequence[tuple[str, QueryFilter | None]],
    conditions: Sequence[QueryFilter],
    facets: Sequence[Facet],
    total: int,
) -> FacetView:
    counts = {each.query: each.count for facet in facets for each in facet.values}
    name, field, values = conditions[0].name, "", list[ValueView]()
    for condition in conditions:
        said = value = condition.value[0]
        if name == "item":
            field, value = item_parts(said)
        count = total if len(conditions) == 1 else counts.get(typed(name, said))
        values.append(ValueView(value, count, without(parts, condition), chosen=True))
    return FacetView(name, field, values)
