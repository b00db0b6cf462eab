"""Pages in a data folder without a crawl, as its owner would write them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from gregor.schemas.messages import Link, Page, Row, State
from gregor.worker.adapters.embedded import EmbeddedEngine, open_engine
from gregor.worker.compose.process import SystemClock
from gregor.worker.web.canonical import CORE


def page(key: str, text: str = "", visit: int = 1, *links: Link, **more: object) -> Page:
    """A page whose content is its text."""
    fields: dict[str, object] = {
        "href": key,
        "host": key.split("/")[2],
        "kind": "new",
        "status": 200,
        "fetched_at": 1e9,
        "text": text,
        "fingerprint": text.encode()[:16],
        "content_type": "text/html",
        "links": list(links),
    }
    return Page(key=key, visit=visit, **{**fields, **more})  # type: ignore[arg-type]


def link(target: str, text: str = "", **more: object) -> Link:
    return Link(target, "a", text=text, **more)  # type: ignore[arg-type]


def row(key: str, visits: int = 1, state: State = "fetched") -> Row:
    return Row(key, key, key.split("/")[2], visits, state, state, page=visits)


@asynccontextmanager
async def crawl(folder: Path) -> AsyncIterator[EmbeddedEngine]:
    """The crawl of a data folder, made if need be."""
    engine = await open_engine(folder, 4, CORE.fingerprint(), SystemClock())
    try:
        yield engine
    finally:
        await engine.close()


async def store(engine: EmbeddedEngine, *pages: Page, state: State | None = None) -> None:
    """Store pages and their rows, in the order of a settle; with ``state`` the rows say that, and no page is stored."""
    for one in pages:
        if state is None:
            await engine.store.put_page(one, None, None, one.visit)
        settled = row(one.key, one.visit, state or one.state)
        await engine.store.put_rows([msgspec.structs.replace(settled, page=0 if state else one.visit)], one.visit)
