"""Data folders of a few pages, made without a crawl."""

import asyncio
import io
from collections.abc import Mapping
from pathlib import Path

from gregor.schemas.messages import Attempt, Link
from gregor.worker.adapters.embedded import open_engine
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import canonical_rules
from tests.contract.world import ManualClock
from tests.reading import page, row


def store(data: Path, bodies: Mapping[str, bytes], links: Mapping[str, list[Link]] | None = None) -> None:
    """A crawl that has stored these pages, each with its row."""

    async def fill() -> None:
        rules = canonical_rules(Config()).fingerprint()
        engine = await open_engine(data, Config().partitions, rules, ManualClock())
        for url, body in bodies.items():
            media = "image/png" if body.startswith(b"\x89") else "text/html"
            made = page(url, body, (links or {}).get(url, ()), content_type=media, language="en")
            await engine.store.put_page(made, io.BytesIO(body), None, 1)
            await engine.store.put_rows([row(made, page=1, attempts=(Attempt(1.0, "fetched", 200),))], 1)
        await engine.close()

    asyncio.run(fill())
