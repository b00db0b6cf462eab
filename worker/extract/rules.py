"""Files of rules, read strictly: whatever is not understood is named with its line and what is allowed."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import xxhash

from gregor.schemas.messages import PRIORITIES
from gregor.worker.base.printable import one_line
from gregor.worker.extract.fields import FieldReader
from gregor.worker.extract.links import LinkRule
from gregor.worker.extract.located import Located, ValuePath, load
from gregor.worker.extract.model import Rule, Source
from gregor.worker.extract.needs import names_of
from gregor.worker.links.scope import Scope, ScopeRules

TOP: Final = ("item", "links", "test")
RULE: Final = ("name", "item", "match", "when", "each", "schema", "id", "fields")
LINKS: Final = ("name", "match", "select", "priority", "follow")
CASE: Final = ("page", "url", "type", "language", "items", "expected")
"""What a test of rules has; the rest of it is read where it is run."""


class Ruleset(NamedTuple):
    """The rules of some files, in their order."""

    rules: tuple[Rule, ...] = ()
    links: tuple[LinkRule, ...] = ()


def read(paths: Iterable[Path]) -> tuple[Rule, ...]:
    """The rules for items of files, in their order. Raises `BadInput` with one line for what cannot be used."""
    return read_all(paths).rules


def read_all(paths: Iterable[Path]) -> Ruleset:
    """All rules of files, in their order. Raises `BadInput` with one line for what cannot be used."""
    rules: list[Rule] = []
    links: list[LinkRule] = []
    where: dict[str, str] = {}
    for path in paths:
        located = load(path)
        for rule, place in _rules(located):
            here = f"{one_line(str(path))}, line {located.line(place)}"
            if rule.name in where:
                raise located.refuse((*place, "name"), f"there is a rule {rule.name!r} already: {where[rule.name]}")
            where[rule.name] = here
            if isinstance(rule, Rule):
                rules.append(rule)
            else:
                links.append(rule)
    return Ruleset(tuple(rules), tuple(links))


def _rules(located: Located) -> Iterable[tuple[Rule | LinkRule, ValuePath]]:
    reader = RuleReader(located)
    reader.only(located.data, (), TOP)
    if not located.data.get("item") and not located.data.get("links"):
        raise located.refuse(("item",), "there is no rule: each begins with [[item]]")
    tests = located.data.get("test", [])
    for index, table in enumerate(tests if isinstance(tests, list) else []):
        if isinstance(table, dict):
            reader.only(table, ("test", index), CASE)
    for kind, made in (("item", reader.rule), ("links", reader.links)):
        tables = located.data.get(kind, [])
        if not isinstance(tables, list):
            raise located.refuse((kind,), f"{kind} is a list of tables: each begins with [[{kind}]]")
        for index, table in enumerate(tables):
            place: ValuePath = (kind, index)
            if not isinstance(table, dict):
                raise located.refuse(place, f"a rule is a table: it begins with [[{kind}]]")
            yield made(table, place), place


class RuleReader(FieldReader):
    """Makes rules of the tables of one file."""

    def rule(self, table: dict[str, Any], place: ValuePath) -> Rule:
        """A rule. Raises `BadInput`."""
        self.only(table, place, RULE)
        name = self.word(table, place, "name")
        if name is None:
            raise self.refuse(place, 'a rule needs a name: name = "…"')
        schema = self.word(table, place, "schema") or ""
        if schema and len(schema.split()) != 1:
            raise self.refuse((*place, "schema"), f"schema = {schema!r}: write a schema.org type, such as JobPosting")
        if schema and "each" in table:
            raise self.refuse((*place, "each"), "with schema each entity is an item: each = … is not for such a rule")
        each = self.choice(table, place, "each")
        scope = "json" if schema or self.chooses_json(table.get("each")) else self.scope_of(table.get("each"))
        if "fields" not in table and not schema:
            raise self.refuse(place, 'a rule needs fields, [item.fields.NAME], or a schema.org type: schema = "…"')
        fields = self.fields(table["fields"], (*place, "fields"), scope) if "fields" in table else ()
        item = self.word(table, place, "item") or schema or name
        when = self.choice(table, place, "when")
        id_fields = self._id(table, place, [member.name for member in fields])
        rule = Rule(name, item, self.match(table, place), when, each, fields, schema, id_fields, _version(table))
        return replace(rule, names=names_of(rule))

    def links(self, table: dict[str, Any], place: ValuePath) -> LinkRule:
        """A rule for links. Raises `BadInput`."""
        self.only(table, place, LINKS)
        priority, follow = table.get("priority", 0), table.get("follow", True)
        if "priority" in table and (isinstance(priority, bool) or priority not in PRIORITIES):
            raise self.refuse((*place, "priority"), "priority wants 1 (the highest) to 4: the front queue of the links")
        if not isinstance(follow, bool):
            raise self.refuse((*place, "follow"), "follow wants true or false")
        if "priority" not in table and follow:
            raise self.refuse(place, "a rule for links says priority = 1 to 4, or follow = false")
        if "priority" in table and not follow:
            raise self.refuse(
                (*place, "priority"), "links that are not followed have no priority: leave one of them out"
            )
        if "match" not in table and "select" not in table:
            raise self.refuse(place, "a rule for links says of which pages (match), or which of their links (select)")
        name = self.word(table, place, "name") or f"{one_line(self.file)}, line {self.line(place)}"
        return LinkRule(name, self.match(table, place), self._selects(table, place), priority, follow)

    def _selects(self, table: dict[str, Any], place: ValuePath) -> tuple[Source, ...]:
        """What chooses links: one selector, or each of a list."""
        if "select" not in table:
            return ()
        chosen = table["select"] if isinstance(table["select"], list) else [table["select"]]
        place = (*place, "select")
        if not chosen or not all(
            isinstance(selector, str) or (isinstance(selector, dict) and "json" not in selector) for selector in chosen
        ):
            reason = "select chooses links: a CSS selector, or a table with css or xpath, or a list of such"
            raise self.refuse(place, reason)
        sources = (self.choice({"select": selector}, place[:-1], "select") for selector in chosen)
        return tuple(source for source in sources if source is not None)

    def _id(self, table: dict[str, Any], place: ValuePath, names: list[str]) -> tuple[str, ...]:
        """The fields by which an item is known again. Of an entity without fields any property may be one."""
        if "id" not in table:
            return ()
        chosen = table["id"] if isinstance(table["id"], list) else [table["id"]]
        if not chosen or not all(isinstance(name, str) and name for name in chosen):
            raise self.refuse((*place, "id"), "id wants the name of a field, or a list of such")
        for name in chosen:
            if names and name not in names:
                raise self.refuse((*place, "id"), f"id = {one_line(name)!r} is no field; allowed: {', '.join(names)}")
        return tuple(chosen)

    def match(self, table: dict[str, Any], place: ValuePath) -> Scope | None:
        """The URLs that a rule is for; None for all."""
        if "match" not in table:
            return None
        patterns = table["match"] if isinstance(table["match"], list) else [table["match"]]
        if not patterns or not all(isinstance(pattern, str) for pattern in patterns):
            raise self.refuse((*place, "match"), "match is a pattern of URLs, as include has it, or a list of such")
        try:
            return Scope(ScopeRules("any", include=tuple(patterns)))
        except ValueError as error:
            raise self.refuse((*place, "match"), str(error)) from None


def _version(table: dict[str, Any]) -> str:
    """Of the text of a rule, whatever its layout: 12 hexadecimal digits."""
    text = json.dumps(table, sort_keys=True, default=str)
    return f"{xxhash.xxh3_64_intdigest(text.encode('utf-8', 'replace')):016x}"[:12]
