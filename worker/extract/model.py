"""What rules are, once they are read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from gregor.worker.extract.page import Parsed
    from gregor.worker.extract.scopes import PagePart
    from gregor.worker.links.scope import Scope

KindName = Literal[
    "text", "html", "int", "float", "decimal", "price", "date", "datetime", "url", "bool", "json"
]  # fmt: skip
FieldValue = Any
"""What JSON can say: text, numbers, true, false, null, lists and tables."""


class RuleFailed(Exception):
    """A rule cannot be applied to a page. The text is the cause, the same for all pages that it meets."""


class Spent(RuleFailed):
    """A page has cost, or given, all that it may: no rule gets more of it."""


class TooMany(RuleFailed):
    """There is more than is taken."""


class NotOfType(Exception):
    """What was selected is not of the type of its field."""


class Drop(Exception):
    """Raised by a pipeline or a filter: it is not wanted. Its text is the reason, in the same words for all of them."""


class Source(Protocol):
    """Where a field's value may be."""

    def select(self, place: "PagePart") -> Iterator[object]:
        """What is there, in the order of the document: texts, elements, JSON values. Raises `RuleFailed`."""


@dataclass(frozen=True, slots=True)
class FieldKind:
    """The type of a field, and how its texts are read."""

    name: KindName = "text"
    strip: bool | str = True
    """Whether white space is made single and none left around it; or characters that are taken off both ends."""
    language: str = ""
    """Of dates and numbers; "": that of the page."""
    zone: str = ""
    """An IANA time zone, for what names none; "": such a time stays without one."""
    format: str = ""
    """Of dates, as `strptime` has it, or "iso"; "": any that can be understood."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value of an item: the first that a source has and that can be read, or with ``many`` all of that source."""

    name: str
    sources: tuple[Source, ...]
    kind: FieldKind = FieldKind()
    find: Any = None
    """A compiled RE2 expression that cuts the value out of what was selected."""
    many: bool = False
    required: bool = False
    default: FieldValue = None


@dataclass(frozen=True, slots=True)
class Group:
    """A value that is an object with fields of its own, or with ``many`` a list of such."""

    name: str
    fields: tuple["Field | Group", ...]
    each: Source | None = None
    """What the fields are looked for in; None: where the group's item is."""
    many: bool = False
    required: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """What items there are on which pages."""

    name: str
    item: str
    """What its items are called."""
    match: "Scope | None"
    """The URLs that it is for; None: all."""
    when: Source | None
    """What must be on the page; None: nothing."""
    each: Source | None
    """What is one item each; None: the page is one."""
    fields: tuple[Field | Group, ...]
    schema: str = ""
    """The schema.org type whose entities are the items."""
    id: tuple[str, ...] = ()
    """The fields by which an item is known again on a later version of its page."""
    version: str = ""
    """Another text of the rule is another version."""
    names: tuple[str, ...] = ()
    """Names of elements, classes and ids that its selectors look for in the whole page."""

    def required(self) -> tuple[str, ...]:
        """The fields without which an item is lost."""
        return tuple(member.name for member in self.fields if member.required)

    def columns(self) -> Iterator[str]:
        """The names of the values of an item, those of objects after a dot; none where the pages decide."""
        yield from _columns(self.fields, "")


def _columns(fields: tuple[Field | Group, ...], prefix: str) -> Iterator[str]:
    for member in fields:
        if isinstance(member, Group) and not member.many:
            yield from _columns(member.fields, f"{prefix}{member.name}.")
        elif isinstance(member, Field) and member.kind.name == "price" and not member.many:
            yield from (f"{prefix}{member.name}.amount", f"{prefix}{member.name}.currency")
        else:
            yield prefix + member.name


@dataclass(frozen=True, slots=True)
class Item:
    """What a rule found."""

    rule: str
    item: str
    fields: dict[str, FieldValue]


def has_value(item: Item, name: str) -> bool:
    """Whether a field of an item says anything."""
    value = item.fields.get(name)
    return value is not None and value != []


@dataclass(frozen=True, slots=True)
class Loss:
    """What a rule did not get: an item (``costs_item``), one value of it, or with ``judgement`` what is neither: what
    it, a filter or a scorer says of a page or its links."""

    rule: str
    cause: str
    costs_item: bool = True
    beyond: bool = field(default=False, compare=False)
    """How much it is was not counted: what a page has beyond the bounds."""
    field: str = field(default="", compare=False)
    """The one whose value is missing, if that is the cause."""
    judgement: bool = False


@dataclass(slots=True)
class PageItems:
    """What rules make of a page."""

    items: list[Item] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    matched: list[str] = field(default_factory=list)
    """The rules that are for the page."""


@dataclass(frozen=True, slots=True)
class Example:
    """A saved page with the items that its rules should give."""

    page: "Parsed"
    items: list[dict[str, FieldValue]]
    name: str
    line: int


class Weight(NamedTuple):
    """What is said of a link. ``priority``: its front queue, 1 to 4, 0 for the usual one; ``fate``: "" where it may be
    followed, else why it is not; ``by``: who gave the priority."""

    priority: int = 0
    fate: str = ""
    by: str = ""


UNWEIGHED: Final = Weight()
"""Of a link of which nobody says anything."""
