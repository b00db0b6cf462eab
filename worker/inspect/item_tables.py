"""The items of one rule as a table with a column for each field, of the types that their values have. Two passes: the
first sees all values, and keeps their types alone."""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.reader import WHOLE, Part, Reader
from gregor.worker.inspect import selection, stored_items
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.shapes import Seen, SeenPlaces, ValueShape, sound
from gregor.worker.inspect.tables import Column, RowValues, Table

OURS: Final = (
    *(Column("_url"), Column("_key"), Column("_host"), Column("_version", "int"), Column("_number", "int")),
    *(Column("_item"), Column("_rule"), Column("_rule_version"), Column("_id", "json"), Column("_change")),
    *(Column("_changed_fields", "texts"), Column("_fetched_at", "time"), Column("_label"), Column("_language")),
)
"""Columns before those of the fields."""
MOST: Final = 1000
"""Columns of fields: entities have what names pages like. What is beyond them is left out."""
_NAMED: Final = 20
"""Rules that are named in one line."""
_NO_WORD: Final = re.compile(r"\W+", re.ASCII)


async def of_rule(reader: Reader, wanted: Selection, rule: str) -> Table:
    """The table of a rule's items. Raises `BadInput` where a crawl has items and none of this rule."""
    seen, others, room = dict[str, Seen](), Counter[str](), SeenPlaces()
    async for page, _ in selection.pages(reader, wanted, WHOLE):  # also of one part: all parts have the same columns
        for item in page.items:
            if item.rule != rule:
                others[item.rule] += 1
                continue
            for name, value in json.loads(item.fields).items():
                if name in seen or len(seen) < MOST:
                    seen[name] = seen.get(name) or Seen(room)
                    seen[name].add(value)
    if not seen and others and wanted == Selection():
        names = ", ".join(one_line(name, 60) for name, _ in others.most_common(_NAMED))
        raise BadInput(f"there is no item of a rule {one_line(rule, 100)!r}; there are: {names}")
    return _table(rule, {name: values.shape() for name, values in seen.items()})


def _table(rule: str, shapes: dict[str, ValueShape]) -> Table:
    names = list(shapes)

    async def rows(reader: Reader, wanted: Selection, part: Part) -> AsyncIterator[RowValues]:
        async for page, row in selection.pages(reader, wanted, part):
            for number, item in enumerate(page.items):
                if item.rule != rule:
                    continue
                change, fields = stored_items.change_of(item, page, row), json.loads(item.fields)
                yield (
                    *(page.href, page.key, page.host, page.visit, number, item.item, item.rule, item.version),
                    *(item.id or None, change, list(item.changed_fields) if change == item.change else []),
                    *(page.fetched_at, page.label or None, page.language or None),
                    *(fields.get(name) for name in names),
                )

    columns = (*OURS, *(Column(name, "field", shapes[own]) for own, name in _apart(names)))
    name = f"items_{_NO_WORD.sub('_', rule)[:100]}".lower()
    return Table(name, columns, ("_key", "_number"), rows, "_host", "_fetched_at", len(OURS))


def _apart(names: list[str]) -> list[tuple[str, str]]:
    """Each name with that of its column: databases take upper and lower case for the same."""
    taken = {column.name for column in OURS}
    made = []
    for own in names:
        name, number = sound(own), 1
        while name.lower() in taken:
            number += 1
            name = f"{sound(own)}_{number}"
        taken.add(name.lower())
        made.append((own, name))
    return made
