"""Files of rules, read strictly: whatever is not understood is named with its line and what is allowed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from gregor.worker.base.printable import one_line
from gregor.worker.extract.fields import FieldReader
from gregor.worker.extract.located import Located, Place, load
from gregor.worker.extract.model import Rule
from gregor.worker.links.scope import Scope, ScopeRules

TOP: Final = ("item", "test")
RULE: Final = ("name", "item", "match", "when", "each", "schema", "fields")


def read(paths: Iterable[Path]) -> tuple[Rule, ...]:
    """The rules of files, in their order. Raises `BadInput` with one line for what cannot be used."""
    rules: list[Rule] = []
    where: dict[str, str] = {}
    for path in paths:
        located = load(path)
        for rule, place in _rules(located):
            here = f"{one_line(str(path))}, line {located.line(place)}"
            if rule.name in where:
                raise located.refuse((*place, "name"), f"there is a rule {rule.name!r} already: {where[rule.name]}")
            where[rule.name] = here
            rules.append(rule)
    return tuple(rules)


def _rules(located: Located) -> Iterable[tuple[Rule, Place]]:
    reader = RuleReader(located)
    reader.only(located.data, (), TOP)
    tables = located.data.get("item")
    if not isinstance(tables, list) or not tables:
        raise located.refuse(("item",), "there is no rule: each begins with [[item]]")
    for index, table in enumerate(tables):
        place: Place = ("item", index)
        if not isinstance(table, dict):
            raise located.refuse(place, "a rule is a table: it begins with [[item]]")
        yield reader.rule(table, place), place


class RuleReader(FieldReader):
    """Makes rules of the tables of one file."""

    def rule(self, table: dict[str, Any], place: Place) -> Rule:
        """A rule. Raises `BadInput`."""
        self.only(table, place, RULE)
        name = self.word(table, place, "name")
        if name is None:
            raise self.refuse(place, 'a rule needs a name: name = "…"')
        schema = self.word(table, place, "schema") or ""
        if schema and "each" in table:
            raise self.refuse((*place, "each"), "with schema each entity is an item: each = … is not for such a rule")
        each = self.choice(table, place, "each")
        scope = "json" if schema or self.chooses_json(table.get("each")) else self.scope_of(table.get("each"))
        if "fields" not in table and not schema:
            raise self.refuse(place, 'a rule needs fields, [item.fields.NAME], or a schema.org type: schema = "…"')
        fields = self.fields(table["fields"], (*place, "fields"), scope) if "fields" in table else ()
        item = self.word(table, place, "item") or schema or name
        when = self.choice(table, place, "when")
        return Rule(name, item, self._match(table, place), when, each, fields, schema)

    def _match(self, table: dict[str, Any], place: Place) -> Scope | None:
        """The URLs that a rule is for."""
        if "match" not in table:
            return None
        patterns = table["match"] if isinstance(table["match"], list) else [table["match"]]
        if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
            raise self.refuse((*place, "match"), "match is a pattern of URLs, as include has it, or a list of such")
        try:
            return Scope(ScopeRules("any", include=tuple(patterns)))
        except ValueError as error:
            raise self.refuse((*place, "match"), str(error)) from None
