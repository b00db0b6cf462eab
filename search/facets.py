"""What the documents that a query finds have in common: how many are of each host, language, type, label and field of
items, so that a query can be narrowed by what is there. Pure.

Both engines count by the same aggregations, in fields that are filters, too; what cannot be typed as a filter is left
out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from gregor.search.borders import Facet, ValueCount
from gregor.search.query import typed
from gregor.search.query_text import item_parts
from gregor.search.typed_values import without_port

MOST_VALUES: Final = 10
"""Values of a facet."""
MOST_FIELDS: Final = 8
"""Fields of items that are facets, those first that most of the documents have."""
_COUNTED: Final = 20
_IN_SEVERAL_WAYS: Final = 100
_ITEMS_COUNTED: Final = 400
"""Values that are counted, of which those come that most documents have: of a field, and of all that items have."""
_IN_A_PART: Final = 5
"""So many times as many are counted in each part of an index: what is common in all may be less so in one."""
FIELDS: Final = {"host": "host", "language": "lang", "type": "type", "label": "label", "item": "item"}
"""Fields of the index that are counted, with the filter of each."""
COUNTED: Final = frozenset(FIELDS)
_ANY: Final = re.compile(".*", re.DOTALL)
_ONE_OF_A_DOCUMENT: Final = {"language": re.compile("[^-]+"), "type": re.compile("[^/]+/.+")}
"""Of what a document is in several ways (de-at and de; html and text/html) the one by which it is counted. That is
chosen here: engines take fifteen times as long where they are to choose."""


def aggregations() -> dict[str, Any]:
    """What an engine is to count, by field: terms aggregations as Elasticsearch has them."""
    wanted: dict[str, Any] = {}
    for field in FIELDS:
        size = _ITEMS_COUNTED if field == "item" else _IN_SEVERAL_WAYS if field in _ONE_OF_A_DOCUMENT else _COUNTED
        wanted[field] = {"terms": {"field": field, "size": size, "shard_size": _IN_A_PART * size}}
    return wanted


def facets(counted: Mapping[str, Any]) -> tuple[Facet, ...]:
    """The facets, by what an engine counted; those without values are left out."""
    by_filter: list[Facet] = []
    for field, name in FIELDS.items():
        chosen = _ONE_OF_A_DOCUMENT.get(field, _ANY)
        counts = ((str(bucket["key"]), int(bucket["doc_count"])) for bucket in counted[field]["buckets"])
        buckets = [(value, count) for value, count in counts if chosen.fullmatch(value)]
        if field == "host":
            buckets = _of_all_ports(buckets)
        if field == "item":
            by_filter += _of_items(buckets)
        else:
            by_filter.append(_facet(name, "", ((value, value, count) for value, count in buckets)))
    return tuple(facet for facet in by_filter if facet.values)


def _of_all_ports(buckets: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Hosts, with what their ports have added to those that are met without one, too: their filter finds these."""
    counts = dict(buckets)
    for host, count in buckets:
        name = without_port(host)
        if name != host and name in counts:
            counts[name] += count
    return [*counts.items()]


def _of_items(buckets: Iterable[tuple[str, int]]) -> list[Facet]:
    """That of the names of items, and one for each field."""
    by_field: dict[str, list[tuple[str, str, int]]] = {}
    for said, count in buckets:
        field, value = item_parts(said)
        by_field.setdefault(field, []).append((said, value, count))
    names = by_field.pop("", [])
    fields = sorted(by_field, key=lambda field: (-sum(count for _, _, count in by_field[field]), field))[:MOST_FIELDS]
    return [_facet("item", "", names), *(_facet("item", field, by_field[field]) for field in fields)]


def _facet(name: str, field: str, values: Iterable[tuple[str, str, int]]) -> Facet:
    """One, by its filters with the value and the count of each; equal counts are in the order of the values."""
    ordered = sorted(values, key=lambda each: (-each[2], each[1]))
    typeable = (
        ValueCount(value, count, query) for said, value, count in ordered if value and (query := typed(name, said))
    )
    return Facet(name, field, tuple(islice(typeable, MOST_VALUES)))
