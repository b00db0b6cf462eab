"""The fields of rules, read strictly."""

import json
import re
from difflib import get_close_matches
from typing import Any, Final, cast, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.extract import dates, selectors, values
from gregor.worker.extract.located import Located, ValuePath
from gregor.worker.extract.model import Field, FieldKind, Group, KindName, NotOfType, Source
from gregor.worker.extract.page import PageFacts, Parsed
from gregor.worker.read.document import Document

SOURCES: Final = ("css", "xpath", "regex", "json", "meta", "schema", "page", "constant")
FIELD: Final = (
    *(*SOURCES, "script", "type", "many", "required", "default", "strip", "find", "language", "zone", "format"),
)
GROUP: Final = ("fields", "each", "many", "required")
CHOICE: Final = ("css", "xpath", "json", "script")
KINDS: Final = get_args(KindName)
MOST: Final = 1000
"""Fields of one table."""
DEEPEST: Final = 8
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}")
_LIST: Final = re.compile(r"list\[(\w+)\]|list of (\w+)")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_CONSTANTS: Final = (str, int, float, bool, list, dict)


class FieldReader:
    """Makes fields of the tables of one file."""

    def __init__(self, located: Located) -> None:
        self._located = located

    def refuse(self, place: ValuePath, reason: str) -> BadInput:
        """What a person is told, with the line."""
        return self._located.refuse(place, reason)

    @property
    def file(self) -> str:
        """Its name."""
        return self._located.path.name

    def line(self, place: ValuePath) -> int:
        """Where a value stands."""
        return self._located.line(place)

    def only(self, table: dict[str, Any], place: ValuePath, allowed: tuple[str, ...]) -> None:
        """Raises `BadInput` for a key that means nothing."""
        for key in table:
            if key not in allowed:
                near = get_close_matches(str(key), allowed, 1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise self.refuse(
                    (*place, key), f"{one_line(str(key))!r} means nothing here{hint}; allowed: {', '.join(allowed)}"
                )

    def word(self, table: dict[str, Any], place: ValuePath, key: str) -> str | None:
        """A text that is not empty; None where there is none."""
        value = table.get(key)
        if key in table and not (isinstance(value, str) and value.strip()):
            raise self.refuse((*place, key), f"{key} wants a text")
        return value.strip() if isinstance(value, str) else None

    def flag(self, table: dict[str, Any], place: ValuePath, key: str) -> bool:
        """True or false; false where there is none."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self.refuse((*place, key), f"{key} wants true or false")
        return value

    def fields(self, table: Any, place: ValuePath, scope: str, depth: int = 0) -> tuple[Field | Group, ...]:
        """The fields of an item. ``scope``: what they are looked for in, "page", "xpath" or "json"."""
        if not isinstance(table, dict) or not table:
            raise self.refuse(place, "fields are tables: [item.fields.NAME]")
        if depth == DEEPEST or len(table) > MOST:
            raise self.refuse(place, f"at most {MOST} fields, and objects {DEEPEST} deep")
        return tuple(self._field(name, below, (*place, name), scope, depth) for name, below in table.items())

    def _field(self, name: str, table: Any, place: ValuePath, scope: str, depth: int) -> Field | Group:
        if not _NAME.fullmatch(name):
            raise self.refuse(
                place, f"{one_line(name)!r} is no name of a field: letters, digits, _ and -, a letter first"
            )
        if isinstance(table, str):
            table = {"json" if scope == "json" else "css": table}
        if not isinstance(table, dict):
            raise self.refuse(place, f"field {name!r} is a table, or a CSS selector")
        if "fields" in table:
            return self._group(name, table, place, scope, depth)
        self.only(table, place, FIELD)
        kind, many = self._kind(table, place)
        sources = tuple(source for key in table if key in SOURCES for source in self._sources(key, table, place, scope))
        if not sources:
            raise self.refuse(place, f"field {name!r} has no source: one or more of {', '.join(SOURCES)}")
        if "script" in table and "json" not in table:
            raise self.refuse((*place, "script"), "script says in which scripts json looks: there is no json")
        required = self.flag(table, place, "required")
        if required and "default" in table:
            raise self.refuse((*place, "default"), f"field {name!r} is required, so its default would never be used")
        if {"constant", "type"} <= table.keys() and "find" not in table:
            constant = table["constant"]
            self._read(constant if isinstance(constant, list) else [constant], kind, (*place, "constant"))
        default = self._default(table, place, kind, many)
        return Field(name, sources, kind, self._find(table, place), many, required, default)

    def _group(self, name: str, table: dict[str, Any], place: ValuePath, scope: str, depth: int) -> Group:
        self.only(table, place, GROUP)
        many = self.flag(table, place, "many")
        each = self.choice(table, place, "each", scope)
        if many and each is None:
            raise self.refuse(
                (*place, "many"), f"objects of {name!r} are many where each = … says what each of them is"
            )
        below = (
            "json" if self.chooses_json(table.get("each")) else scope if each is None else self.scope_of(table["each"])
        )
        fields = self.fields(table["fields"], (*place, "fields"), below, depth + 1)
        return Group(name, fields, each, many, self.flag(table, place, "required"))

    def choice(self, table: dict[str, Any], place: ValuePath, key: str, scope: str = "page") -> Source | None:
        """A selector of places: CSS as a text, or a table with css, xpath or json."""
        chosen = table.get(key)
        if key not in table:
            return None
        if isinstance(chosen, str):
            chosen = {"json" if scope == "json" else "css": chosen}
        place = (*place, key)
        if not isinstance(chosen, dict):
            raise self.refuse(place, f"{key} is a CSS selector, or a table with css, xpath or json")
        self.only(chosen, place, CHOICE)
        kinds = [selector for selector in CHOICE[:3] if selector in chosen]
        if len(kinds) != 1 or not isinstance(chosen[kinds[0]], str):
            raise self.refuse(place, f"{key} has one selector: css, xpath or json")
        (source,) = self._sources(kinds[0], chosen, place, scope)
        return source

    @staticmethod
    def chooses_json(chosen: Any) -> bool:
        """Whether what is chosen are values of JSON."""
        return isinstance(chosen, dict) and "json" in chosen

    @staticmethod
    def scope_of(chosen: Any) -> str:
        """What is looked in, in what is chosen."""
        return "xpath" if isinstance(chosen, dict) and "xpath" in chosen else "page"

    def _sources(self, key: str, table: dict[str, Any], place: ValuePath, scope: str) -> list[Source]:
        """The alternatives of one key."""
        value = table[key]
        here = (*place, key)
        if key == "constant":
            if not isinstance(value, _CONSTANTS) or not _is_json(value):
                raise self.refuse(here, "constant wants a text, a number, true or false, a list or a table")
            return [selectors.Constant(value)]
        texts = value if isinstance(value, list) else [value]
        if not texts or not all(
            isinstance(alternative, str) and (alternative.strip() or key == "css") for alternative in texts
        ):
            raise self.refuse(here, f"{key} wants a text, or a list of alternatives")
        if key == "css" and scope == "xpath":
            raise self.refuse(here, "within what an xpath chose fields are found by xpath: write './/…'")
        if key in ("css", "xpath") and scope == "json":
            raise self.refuse(here, f'within JSON there is no {key}: json = "…" looks there')
        try:
            return [self._source(key, alternative, table) for alternative in texts]
        except ValueError as error:
            raise self.refuse(here, str(error)) from None

    def _source(self, key: str, value: str, table: dict[str, Any]) -> Source:
        match key:
            case "css":
                return selectors.CssSelector(value)
            case "xpath":
                return selectors.XPath(value)
            case "regex":
                return selectors.Regex(value)
            case "json":
                script = table.get("script")
                if script is not None and not isinstance(script, str):
                    raise ValueError("script wants a CSS selector")
                return selectors.Json(value, script)
            case "meta":
                return selectors.Meta(value)
            case "schema":
                return selectors.Schema(value)
            case _:
                return selectors.Fact(value)

    def _kind(self, table: dict[str, Any], place: ValuePath) -> tuple[FieldKind, bool]:
        """The type, and whether there are many values."""
        constant = table.get("constant") if [key for key in SOURCES if key in table] == ["constant"] else ""
        texts = all(isinstance(value, str) for value in (constant if isinstance(constant, list) else [constant]))
        name = self.word(table, place, "type") or ("text" if texts else "json")
        many = self.flag(table, place, "many") or isinstance(constant, list)
        if of := _LIST.fullmatch(name):
            name, many = of[1] or of[2], True
        if name not in KINDS:
            near = get_close_matches(name, KINDS, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise self.refuse(
                (*place, "type"), f"{one_line(name)!r} is no type{hint}; allowed: {', '.join(KINDS)}, list[TYPE]"
            )
        strip = table.get("strip", True)
        if not isinstance(strip, bool | str):
            raise self.refuse((*place, "strip"), "strip wants true, false, or the characters to take off both ends")
        kind = FieldKind(
            cast(KindName, name), strip, *(self.word(table, place, key) or "" for key in ("language", "zone", "format"))
        )
        for key in ("zone", "format"):
            if key in table and name not in ("date", "datetime"):
                raise self.refuse((*place, key), f"{key} is for the types date and datetime")
        self._check(kind, place)
        return kind, many

    def _check(self, kind: FieldKind, place: ValuePath) -> None:
        if kind.zone:
            try:
                ZoneInfo(kind.zone)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                raise self.refuse(
                    (*place, "zone"), f"{one_line(kind.zone)!r} is no time zone: write one such as Europe/Berlin"
                ) from None
        if kind.format and kind.format != "iso" and not dates.is_form(kind.format):
            raise self.refuse((*place, "format"), 'format wants "iso", or a form such as "%d.%m.%Y"')
        if kind.language and not _LANGUAGE.fullmatch(kind.language):
            raise self.refuse(
                (*place, "language"), f"{one_line(kind.language)!r} is no language: write one such as de or pt-BR"
            )
        try:
            values.check(kind)
        except BadInput as error:
            raise self.refuse((*place, "type"), str(error)) from None

    def _find(self, table: dict[str, Any], place: ValuePath) -> Any:
        expression = self.word(table, place, "find")
        try:
            return None if expression is None else selectors.compile_re2(expression)
        except ValueError as error:
            raise self.refuse((*place, "find"), str(error)) from None

    def _default(self, table: dict[str, Any], place: ValuePath, kind: FieldKind, many: bool) -> Any:
        """What is said where nothing is found: of the field's type."""
        if "default" not in table:
            return None
        value = table["default"]
        if many != isinstance(value, list) and kind.name != "json":
            raise self.refuse((*place, "default"), "default wants a list" if many else "default wants one value")
        made = self._read(value if many else [value], kind, (*place, "default"))
        return made if many else made[0] if made[0] is not None else value

    def _read(self, members: list[Any], kind: FieldKind, place: ValuePath) -> list[Any]:
        """What the rules themselves say, as values of the field's type."""
        nowhere = Parsed(Document("http://localhost/", b"", "text/plain"), PageFacts(url="http://localhost/"))
        made = []
        for member in members:
            try:
                made.append(values.read(member, kind, nowhere))
            except (NotOfType, TypeError) as error:
                raise self.refuse(place, f"{place[-1]} {one_line(str(member))!r} is {error}") from None
            if made[-1] is None and kind.name not in ("text", "html"):
                reason = f"{place[-1]} {one_line(str(member))!r} is not {values.article(kind.name)}"
                raise self.refuse(place, reason)
        return made


def _is_json(value: Any) -> bool:
    """Whether JSON can say it: TOML and YAML have dates and infinite numbers, too."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
