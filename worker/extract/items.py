"""Rules applied to a page."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from gregor.worker.extract import schema_org, values
from gregor.worker.extract.json_text import TOO_DEEP
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
    TooMany,
)
from gregor.worker.extract.page import Parsed
from gregor.worker.extract.scopes import PagePart
from gregor.worker.extract.selectors import NOTHING, CssSelector, Json, bounded, group_of
from gregor.worker.links.scope import InScope
from gregor.worker.web.urls import Url

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
                extracted.losses.append(Loss(rule.name, _cause(error), beyond=isinstance(error, TooMany)))
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
    for place in bounded(_places(rule, everywhere), "items"):
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
    for cause in sorted(page.shortened[rule.schema]) if rule.schema else ():
        extracted.losses.append(Loss(rule.name, f"the page has {cause}", costs_item=False, beyond=True))


def _there(selected: object) -> bool:
    """XPath answers true or false, too."""
    return selected is not None and selected is not False


def _places(rule: Rule, everywhere: PagePart) -> Iterator[PagePart]:
    """Where the items of a page are. Raises `TooMany` where others may be in what was left out of its data."""
    page = everywhere.page
    if rule.schema:
        parts: Iterable[object] = schema_org.entities(page, rule.schema)
    elif rule.each is not None:
        parts = rule.each.select(everywhere)
    else:
        yield everywhere
        return
    has_any = False
    for part in parts:
        has_any = True
        yield everywhere.within(part)
    left_out = (
        page.left_out[rule.schema] if rule.schema else rule.each.left_out(page) if isinstance(rule.each, Json) else ()
    )
    if causes := [cause for cause in left_out if cause != TOO_DEEP or not has_any]:
        raise TooMany(f"the page has {min(causes)}")


def _fields(
    fields: tuple[Field | Group, ...], place: PagePart, prefix: str, rule: str, losses: list[Loss]
) -> dict[str, FieldValue]:
    """The values of an item or of an object in it. Raises `_Missing`."""
    made: dict[str, FieldValue] = {}
    for wanted in fields:
        if isinstance(wanted, Group):
            made[wanted.name] = _group(wanted, place, prefix, rule, losses)
            continue
        made[wanted.name] = _field(wanted, place, prefix, rule, losses)
        if place.page.is_cut:
            place.page.is_cut = False
            cause = f"{prefix}{wanted.name}: there are more than {values.LONGEST} characters"
            losses.append(Loss(rule, cause, costs_item=False, beyond=True))
    return made


def _group(group: Group, place: PagePart, prefix: str, rule: str, losses: list[Loss]) -> FieldValue:
    """An object, or a list of such; None, or an empty list, where nothing of it was found."""
    parts = [place] if group.each is None else (place.within(part) for part in group.each.select(place))
    objects: list[dict[str, FieldValue]] = []
    try:
        for part in bounded(parts, "objects"):
            made = _fields(group.fields, part, f"{prefix}{group.name}.", rule, losses)
            if any(value is not None and value != [] for value in made.values()):
                objects.append(made)
                if not group.many:
                    break
    except TooMany as error:
        losses.append(Loss(rule, f"{prefix}{group.name}: {error}", costs_item=False, beyond=True))
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
        value, reason, left_out = _of_source(field, source.select(place), place.page)
        if left_out:
            losses.append(Loss(rule, f"{prefix}{field.name}: {left_out}", costs_item=False, beyond=True))
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


def _of_source(field: Field, selected: Iterator[object], page: Parsed) -> tuple[FieldValue, str, str]:
    """What is read of what one source selected; None if nothing is, and why if something was there; and why some of it
    was not looked at."""
    made: list[FieldValue] = []
    unreadable = ""
    if field.find is not None:
        selected = chain.from_iterable(_cuts(field, selection, page) for selection in selected)
    try:
        for cut in bounded(selected, "values"):
            try:
                value = values.read(cut, field.kind, page)
            except NotOfType as error:
                unreadable = unreadable or str(error)
                continue
            if value is None:
                continue
            if not field.many:
                return value, "", ""
            made.append(value)
    except TooMany as error:
        return made or None, unreadable, str(error)
    return made or None, unreadable, ""


def _cuts(field: Field, selected: object, page: Parsed) -> Iterator[object]:
    """What ``find`` cuts out of what was selected: of markup where the field is that, else of the text."""
    text = values.read(selected, _HTML if field.kind.name == "html" else _TEXT, page)
    for match in field.find.finditer(text or ""):
        yield group_of(match)
        if not field.many:
            return
