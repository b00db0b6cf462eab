"""Rules and pages of tests."""

from pathlib import Path
from typing import Any

from gregor.worker.extract import rules
from gregor.worker.extract.items import extract
from gregor.worker.extract.model import PageItems, Rule
from gregor.worker.extract.page import PageFacts, Parsed
from gregor.worker.read.document import Document
from gregor.worker.web.urls import Urls

URL = "https://shop.example/a/1"


def parsed(body: str, media: str = "text/html", url: str = URL, **facts: Any) -> Parsed:
    """A document with what the crawl would know of it."""
    return Parsed(Document(url, body.encode(), f"{media}; charset=utf-8"), PageFacts(url=url, **facts))


def rules_of(folder: Path, text: str, name: str = "rules.toml") -> tuple[Rule, ...]:
    """Rules that stand in a file."""
    (folder / name).write_text(text)
    return rules.read([folder / name])


def found(known: tuple[Rule, ...], page: Parsed) -> PageItems:
    """What rules make of a page."""
    url = Urls().parse(page.facts.url)
    assert url is not None
    return extract(known, page, url)


def fields(folder: Path, text: str, page: Parsed) -> dict[str, Any]:
    """The fields of the one item that one rule with these fields makes of a page."""
    (item,) = found(rules_of(folder, f'[[item]]\nname = "x"\n[item.fields]\n{text}'), page).items
    return item.fields
