"""Rules applied to a page."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from gregor.worker.extract import schema_org, values
from gregor.worker.extract.model import (
    Field,
    FieldKind,
    FieldValue,
    Group,
    Item,
    Loss,
    NotOfType,
    PageItems,
    Rule,
    RuleFailed,
    Spent,
)
from gregor.worker.extract.page import Parsed
from gregor.worker.extract.scopes import PagePart
from gregor.worker.extract.selectors import NOTHING, CssSelector, group_of
from gregor.worker.links.scope import InScope
from gregor.worker.web.urls import Url

MOST_ITEMS: Final = 10_000
"""Items that one rule may make of one page."""
_HTML: Final = FieldKind("html", strip=False)
_TEXT: Final = FieldKind("text")


class _Missing(Exception):
    """A required value is not there; the text is the cause."""

    def __init__(self, cause: str, field: str) -> None:
        super().__init__(cause)
        self.field = field.partition(".")[0]


def extract(rules: tuple[Rule, ...], page: Parsed, url: Url) -> PageItems:
    """What the rules make of a page. Never raises, whatever the page: what a rule cannot do costs its item."""
    page.renew()
    extracted = PageItems()
    for rule in rules:
        if rule.match is None or isinstance(rule.match.allows(url), InScope):
            try:
                _apply(rule, page, extracted)
            except Exception as error:  # noqa: BLE001 - a page that breaks a library must not end all others
                extracted.losses.append(Loss(rule.name, _cause(error)))
    return extracted


def _cause(error: Exception) -> str:
    """Why something of a rule is lost: the same words for all pages."""
    if isinstance(error, RuleFailed | _Missing):
        return str(error)
    return f"it cannot be applied: {type(error).__name__}"


def _apply(rule: Rule, page: Parsed, extracted: PageItems) -> None:
    everywhere = PagePart(page)
    page.look_for(rule.names)
    if rule.when is not None and not any(map(_there, rule.when.select(everywhere))):
        return
    extracted.matched.append(rule.name)
    for number, place in enumerate(_places(rule, everywhere)):
        if number == MOST_ITEMS:
            raise RuleFailed(f"the page has more than {MOST_ITEMS} items")
        losses: list[Loss] = []
        try:
            if rule.schema and not rule.fields:
                fields = schema_org.properties(place.part)
            else:
                fields = _fields(rule.fields, place, "", rule.name, losses)
            if any(value is not None and value != [] for value in fields.values()):
                extracted.items.append(Item(rule.name, rule.item, fields))
            else:
                losses = [Loss(rule.name, "nothing of it was found")]
        except Spent:
            raise
        except Exception as error:  # noqa: BLE001 - what breaks on one place of a page costs one item
            losses = [Loss(rule.name, _cause(error), field=error.field if isinstance(error, _Missing) else "")]
        extracted.losses += losses


def _there(selected: object) -> bool:
    """XPath answers true or false, too."""
    return selected is not None and selected is not False


def _places(rule: Rule, everywhere: PagePart) -> Iterator[PagePart]:
    """Where the items of a page are."""
    if rule.schema:
        for entity in schema_org.entities(everywhere.page, rule.schema):
            yield everywhere.within(entity)
        if rule.schema in everywhere.page.cut_off:
            raise RuleFailed(f"the page says more of {rule.schema} than {schema_org.MOST} values")
    elif rule.each is not None:
        for part in rule.each.select(everywhere):
            yield everywhere.within(part)
    else:
        yield everywhere


def _fields(
    fields: tuple[Field | Group, ...], place: PagePart, prefix: str, rule: str, losses: list[Loss]
) -> dict[str, FieldValue]:
    """The values of an item or of an object in it. Raises `_Missing`."""
    return {
        wanted.name: _group(wanted, place, prefix, rule, losses)
        if isinstance(wanted, Group)
        else _field(wanted, place, prefix, rule, losses)
        for wanted in fields
    }


def _group(group: Group, place: PagePart, prefix: str, rule: str, losses: list[Loss]) -> FieldValue:
    """An object, or a list of such; None, or an empty list, where nothing of it was found."""
    parts = [place] if group.each is None else (place.within(part) for part in group.each.select(place))
    objects: list[dict[str, FieldValue]] = []
    for part in islice(parts, MOST_ITEMS):
        made = _fields(group.fields, part, f"{prefix}{group.name}.", rule, losses)
        if any(value is not None and value != [] for value in made.values()):
            objects.append(made)
            if not group.many:
                break
    if not objects and group.required:
        raise _Missing(f"{prefix}{group.name} is missing", f"{prefix}{group.name}")
    return objects if group.many else objects[0] if objects else None


def _field(field: Field, place: PagePart, prefix: str, rule: str, losses: list[Loss]) -> FieldValue:
    """The value that the first source has which has one; all of its values with ``many``."""
    unreadable = ""
    for source in field.sources:
        if not field.many and field.find is None and isinstance(source, CssSelector):
            value = _first(field, source, place)
            if value is NOTHING:
                continue
            if value is not None:
                return value
        value, reason = _of_source(field, source.select(place), place.page)
        unreadable = unreadable or reason
        if value is not None:
            return value
    cause = f"{prefix}{field.name} is {unreadable}" if unreadable else f"{prefix}{field.name} is missing"
    if field.required:
        raise _Missing(cause, f"{prefix}{field.name}")
    if unreadable:
        losses.append(Loss(rule, cause, costs_item=False))
    return field.default if field.default is not None else [] if field.many else None


def _first(field: Field, source: CssSelector, place: PagePart) -> FieldValue:
    """The value of the first element that a selector has, which mostly is all that is asked for; `NOTHING` where there
    is no element, None where more has to be looked at."""
    selected = source.first(place)
    if selected is None or selected is NOTHING:
        return selected
    try:
        return values.read(selected, field.kind, place.page)
    except NotOfType:
        return None


def _of_source(field: Field, selected: Iterator[object], page: Parsed) -> tuple[FieldValue, str]:
    """What is read of what one source selected; None if nothing is, and why if something was there."""
    made: list[FieldValue] = []
    unreadable = ""
    for selection in selected:
        for cut in _cuts(field, selection, page):
            try:
                value = values.read(cut, field.kind, page)
            except NotOfType as error:
                unreadable = unreadable or str(error)
                continue
            if value is None:
                continue
            if not field.many:
                return value, ""
            made.append(value)
    return made or None, unreadable


def _cuts(field: Field, selected: object, page: Parsed) -> Iterator[object]:
    """What ``find`` cuts out of what was selected: of markup where the field is that, else of the text."""
    if field.find is None:
        yield selected
        return
    text = values.read(selected, _HTML if field.kind.name == "html" else _TEXT, page)
    for match in field.find.finditer(text or ""):
        yield group_of(match)
        if not field.many:
            return
