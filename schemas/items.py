"""What rules found on a page, as it is stored with the page: a msgpack array, fields are added at its end only."""

from typing import Literal

import msgspec

ItemChange = Literal["new", "changed", "unchanged", "gone", "lost"]
"""Against the version of the page before: ``gone`` is no more on the page, or the page itself is not there; ``lost``
was there and cannot be told now, since its rule failed on the page. Of both the last fields are kept."""


class StoredItem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One item of a page. It belongs to the visit of its page: a visit has one set of items, maybe an empty one."""

    rule: str  # its name
    item: str  # what it is called
    version: str  # of the rule: another text of the rule is another version
    fields: bytes  # a JSON object, UTF-8
    id: str = ""  # the values of the rule's id fields, a JSON list; "": it has none
    change: ItemChange = "new"
    changed_fields: tuple[str, ...] = ()  # of a changed one, in the order of its fields


class DayShare(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """On how many pages of a day a field had a value."""

    day: int  # since 1970, UTC
    pages: int  # on which it was looked for
    values: int  # those of them that had one


class FieldShare(msgspec.Struct, frozen=True, array_like=True):
    """How often a field of a rule has a value, see `extract.drift`."""

    days: tuple[DayShare, ...] = ()  # the last ones, the newest at the end
    recent: int = 0  # a bit for each of the last pages, the newest is the lowest: whether it had a value
    recent_pages: int = 0  # how many of these bits are told, 64 at most
    required: bool = False  # without it an item is lost
    examples: tuple[str, ...] = ()  # of a required one: the last pages without, the newest at the end
    away: int = 0  # how many pages came since the last one with a value
