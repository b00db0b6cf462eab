"""The items that a crawl stored with its pages, as they stand now by the rows of these."""

import json
from collections.abc import Iterator
from typing import Any

from gregor.schemas.events import rfc3339
from gregor.schemas.items import ItemChange, StoredItem
from gregor.schemas.messages import Page, Row


def change_of(item: StoredItem, page: Page, row: Row | None) -> ItemChange:
    """What became of an item by the last visit of its page; of an older version by the visit that brought it."""
    if row is None or row.page != page.visit:
        return item.change
    if row.state == "gone":
        return "gone"
    is_there = item.change not in ("gone", "lost")
    return "unchanged" if is_there and row.visits > page.visit and row.outcome == "unchanged" else item.change


def records(page: Page, row: Row | None) -> Iterator[dict[str, Any]]:
    """Each item of a version as one flat object; names that begin with _ are ours."""
    for item in page.items:
        change = change_of(item, page, row)
        yield {
            "_item": item.item,
            "_rule": item.rule,
            "_url": page.href,
            "_fetched_at": rfc3339(page.fetched_at),
            "_language": page.language or None,
            "_version": page.visit,
            "_rule_version": item.version,
            "_id": json.loads(item.id) if item.id else None,
            "_change": change,
            "_changed_fields": list(item.changed_fields) if change == item.change else [],
            **json.loads(item.fields),
        }
