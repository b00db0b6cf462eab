"""What downstream consumers read: an event for every stored page, every item and every dead letter, as JSON.

A consumer gets each event at least once; a page's is named by (key, visit). Words of a site are cut at `LONGEST`
characters, so that an event fits a message whatever was sent. Fields are only ever added; one that changes its meaning
makes another version. `python -m gregor.schemas.events` writes the JSON Schemas beside this file.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, cast

import msgspec

from gregor.schemas.items import ItemChange
from gregor.schemas.messages import Changed, DeadLetter, Page, State

FOLDER: Final = Path(__file__).with_name("json")
LONGEST: Final = 2000
"""Characters of a title, or of what else is free text. URLs have a bound of their own."""
LONGEST_FIELDS: Final = 512 * 1024
"""Bytes of an item's fields in an event."""


class PageEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A page was stored: visit number ``visit`` of ``key``. Hashes are hexadecimal, times RFC 3339 in UTC."""

    version: Literal[1] = 1
    crawl: str
    url: str
    key: str
    host: str
    visit: int
    status: int
    state: State
    fetched_at: str
    content_type: str
    charset: str
    title: str | None
    language: str
    sha256: str
    fingerprint: str
    simhash: str
    size: int
    truncated: str
    duplicate_of: str
    near_duplicate_of: str
    canonical: str
    directives: tuple[str, ...]
    label: str
    depth: int
    via: str
    links: int
    requisite: bool = False
    page_class: str = ""
    class_probability: float = 0.0
    relevance: float | None = None


class StateEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was stored stands otherwise now, without a new version of it: ``change`` says how.

    A `State` of the URL (gone, redirected, denied …, or fetched where a link made a page of a requisite); or "erased":
    its host opted out, and nothing of it is kept. ``visit``: the one that found it, or the last.
    """

    version: Literal[1] = 1
    crawl: str
    url: str
    key: str
    host: str
    visit: int
    change: str
    at: str
    requisite: bool = False


class DeadLetterEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A URL was given up, or a message could not be read: then ``source`` says where it is."""

    version: Literal[1] = 1
    crawl: str
    url: str
    key: str
    host: str
    cause: str
    detail: str
    at: str
    attempts: int
    source: str


class ItemEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an item of a page by a visit: named by (key, visit, rule, number).

    ``change``: new, changed (``changed_fields``), unchanged, gone (from the page, or with it), lost (its rule failed).
    ``id``: the values of the rule's id fields. ``fields`` are the item's; {} where they would not fit a message, then
    ``cut`` is true and the store has them.
    """

    version: Literal[1] = 1
    crawl: str
    url: str
    key: str
    host: str
    visit: int
    number: int
    fetched_at: str
    item: str
    rule: str
    rule_version: str
    id: list[Any] | None
    change: ItemChange
    changed_fields: tuple[str, ...]
    fields: dict[str, Any]
    cut: bool = False
    label: str = ""
    language: str = ""


EVENTS: Final[dict[str, type[msgspec.Struct]]] = {
    "page-event.v1.json": PageEvent,
    "state-event.v1.json": StateEvent,
    "dead-letter-event.v1.json": DeadLetterEvent,
    "item-event.v1.json": ItemEvent,
}


def rfc3339(at: float) -> str:
    """Unix seconds as RFC 3339, in UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def of_page(crawl: str, page: Page) -> PageEvent:
    """The event of a stored page."""
    return PageEvent(
        crawl=crawl,
        url=page.href,
        key=page.key,
        host=page.host,
        visit=page.visit,
        status=page.status,
        state=page.state,
        fetched_at=rfc3339(page.fetched_at),
        content_type=page.content_type[:LONGEST],
        charset=page.encoding,
        title=page.title and page.title[:LONGEST],
        language=page.language[:LONGEST],
        sha256=page.body,
        fingerprint=page.fingerprint.hex(),
        simhash=f"{page.simhash:016x}",
        size=page.size,
        truncated=page.truncated,
        duplicate_of=page.duplicate_of,
        near_duplicate_of=page.near_duplicate_of,
        canonical=page.canonical,
        directives=page.directives,
        label=page.label,
        depth=page.depth,
        via=page.via,
        links=len(page.links),
        requisite=page.requisite,
        page_class=page.page_class,
        class_probability=page.class_probability,
        relevance=page.relevance,
    )


def of_change(crawl: str, changed: Changed) -> StateEvent:
    """The event of a page that stands otherwise now."""
    return StateEvent(
        crawl=crawl,
        url=changed.href,
        key=changed.key,
        host=changed.host,
        visit=changed.visit,
        change=changed.change,
        at=rfc3339(changed.at),
        requisite=changed.requisite,
    )


def of_dead_letter(crawl: str, letter: DeadLetter) -> DeadLetterEvent:
    """The event of a dead letter."""
    return DeadLetterEvent(
        crawl=crawl,
        url=letter.href,
        key=letter.key,
        host=letter.host,
        cause=letter.cause,
        detail=letter.detail[:LONGEST],
        at=rfc3339(letter.at),
        attempts=letter.attempts,
        source=letter.source,
    )


def of_items(crawl: str, page: Page) -> Iterator[ItemEvent]:
    """The events of a page's items. Fields are encoded as they are stored: no number loses a digit by being read."""
    for number, item in enumerate(page.items):
        fits = len(item.fields) <= LONGEST_FIELDS
        yield ItemEvent(
            crawl=crawl,
            url=page.href,
            key=page.key,
            host=page.host,
            visit=page.visit,
            number=number,
            fetched_at=rfc3339(page.fetched_at),
            item=item.item,
            rule=item.rule,
            rule_version=item.version,
            id=json.loads(item.id) if item.id else None,
            change=item.change,
            changed_fields=item.changed_fields,
            fields=cast(dict[str, Any], msgspec.Raw(item.fields)) if fits else {},
            cut=not fits,
            label=page.label,
            language=page.language[:LONGEST],
        )


def json_schema(event: type[msgspec.Struct]) -> str:
    """The JSON Schema of an event, as text."""
    return json.dumps(msgspec.json.schema(event), indent=2) + "\n"


def main() -> int:
    """Write the schemas."""
    FOLDER.mkdir(exist_ok=True)
    for name, event in EVENTS.items():
        (FOLDER / name).write_text(json_schema(event))
    return 0


if __name__ == "__main__":
    sys.exit(main())
