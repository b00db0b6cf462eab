"""An item is known again on the next version of its page: by its rule's id fields, or where it stands alone. Pure."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from gregor.schemas.items import ItemChange, StoredItem
from gregor.worker.extract import writing
from gregor.worker.extract.model import Item

LONGEST_ID: Final = 1000
"""Characters of an identity: beyond it a value names nothing."""


def identity(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """The values of the id fields as a JSON list; "" where one of them is not there."""
    values = [fields.get(name) for name in names]
    if not values or any(value is None or value in ("", []) for value in values):
        return ""
    text = writing.encode(values).decode().strip()
    return text if len(text) <= LONGEST_ID else ""


def stored(item: Item, names: Sequence[str], version: str) -> StoredItem:
    """An item as it is kept, of which nothing was known before."""
    fields = writing.encode(item.fields).strip()
    return StoredItem(item.rule, item.item, version, fields, identity(item.fields, names))


def compared(items: Iterable[StoredItem], before: Sequence[StoredItem], asked: Mapping[str, bool]) -> list[StoredItem]:
    """The items of a page, with what became of those of its version before.

    ``asked``: the rules that were applied to the page, and whether one of their items was lost there: then what is not
    there is ``lost``, else ``gone``. What other rules had found is told of no more.
    """
    rest: dict[tuple[str, str], list[StoredItem]] = {}
    for earlier in before:
        if earlier.change != "gone" and earlier.rule in asked:
            rest.setdefault((earlier.rule, earlier.id), []).append(earlier)
    made: list[StoredItem] = []
    differing: list[int] = []
    for number, item in enumerate(items):
        candidates = rest.get((item.rule, item.id), [])
        same = next((place for place, other in enumerate(candidates) if other.fields == item.fields), None)
        if same is None:
            differing.append(number)
        else:
            candidates.pop(same)
            item = msgspec.structs.replace(item, change="unchanged")
        made.append(item)
    for number in differing:
        rule, name = made[number].rule, made[number].id
        # Without an identity the only item of its rule is the one that was there before.
        known_again = name or all(sum(item.rule == rule for item in version) == 1 for version in (made, before))
        if known_again and rest.get((rule, name)):
            made[number] = _changed(made[number], rest[rule, name].pop(0))
    for (rule, _), left in rest.items():
        became: ItemChange = "lost" if asked[rule] else "gone"
        made += [msgspec.structs.replace(earlier, change=became, changed_fields=()) for earlier in left]
    return made


def _changed(item: StoredItem, earlier: StoredItem) -> StoredItem:
    """Which fields have other values. What only one version of the rule has is no change of the page."""
    now, was = json.loads(item.fields), json.loads(earlier.fields)
    names = [name for name in {**now, **was} if now.get(name) != was.get(name)]
    if item.version != earlier.version:
        names = [name for name in names if name in now and name in was]
    if not names:
        return msgspec.structs.replace(item, change="unchanged")
    return msgspec.structs.replace(item, change="changed", changed_fields=tuple(names))


def carried(items: Iterable[StoredItem], before: Sequence[StoredItem], asked: Collection[str]) -> list[StoredItem]:
    """Items of a version that was extracted anew: what was told of those that it had already stays, and so does what
    other rules than those ``asked`` had found, and what is gone."""
    rest = {(earlier.rule, earlier.id): earlier for earlier in before if earlier.id and earlier.rule in asked}
    made: list[StoredItem] = []
    for item in items:
        earlier = rest.pop((item.rule, item.id), None)
        if earlier is not None and earlier.change == "lost":
            item = _changed(item, earlier)
        elif earlier is not None and earlier.change in ("changed", "unchanged"):
            item = msgspec.structs.replace(item, change=earlier.change, changed_fields=earlier.changed_fields)
        made.append(item)
    gone = [earlier for earlier in rest.values() if earlier.change == "gone"]
    return [*made, *gone, *(earlier for earlier in before if earlier.rule not in asked)]


def of_vanished(items: Iterable[StoredItem]) -> list[StoredItem]:
    """The items of a page that is no longer there."""
    return [msgspec.structs.replace(item, change="gone", changed_fields=()) for item in items if item.change != "gone"]
