"""No document holds the event loop for long, however many links it has: what grows with them is done in pieces."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from benchmarks import holds
from gregor.schemas.messages import Ticket
from gregor.worker.adapters.embedded import open_engine
from gregor.worker.base.pieces import PIECE
from gregor.worker.compose.process import SystemClock
from gregor.worker.fetch.outcomes import Fetched
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.web.canonical import CORE
from tests.unit.test_examine import examiner, response, ticket, url

MANY = 20 * PIECE
START = url("http://host/")
HTML = "".join(f'<a href="/page/{number}">x</a>' for number in range(MANY)).encode()
LOCATIONS = "".join(f"<url><loc>http://host/page/{number}</loc></url>" for number in range(MANY))
SITEMAP = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{LOCATIONS}</urlset>'.encode()
TICKETS = [Ticket(f"http://host/{number}", f"http://host/{number}", "host") for number in range(MANY)]


def turns_of_others(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """How often another task had its turn while this was done."""
    count = 0

    async def other() -> None:
        nonlocal count
        while True:
            count += 1
            await asyncio.sleep(0)

    async def run() -> None:
        task = asyncio.create_task(other())
        await work()
        task.cancel()

    asyncio.run(run())
    return count


@pytest.mark.parametrize(("body", "kind"), [(HTML, "text/html"), (SITEMAP, "application/xml")])
def test_the_links_of_a_document_are_judged_in_pieces(body: bytes, kind: str) -> None:
    async def examine() -> None:
        reads, answer = examiner(max_links=MANY), response(body, ("Content-Type", kind))
        answer.headers.pop(0)
        link = "sitemap" if "xml" in kind else ""
        examined = await reads.of(ticket(START, link=link), START, Fetched(answer))
        assert len(examined.tickets) == MANY

    assert turns_of_others(examine) >= MANY // PIECE - 1


def test_what_was_published_is_learnt_in_pieces() -> None:
    sent = RecentlySent(4 * MANY)
    assert turns_of_others(lambda: sent.learn_all(TICKETS)) >= MANY // PIECE - 1


def test_tickets_are_published_in_pieces_of_one_transaction(tmp_path: Path) -> None:
    ends: set[int] = set()

    async def publish() -> None:
        engine = await open_engine(tmp_path, 1, CORE.fingerprint(), SystemClock())

        async def look() -> None:
            while True:
                rows = await engine.log.read(0, TICKETS[0].priority, 0, MANY)
                ends.add(len(rows))
                await asyncio.sleep(0)

        looking = asyncio.create_task(look())
        await engine.log.publish(TICKETS)
        assert len(await engine.log.read(0, TICKETS[0].priority, 0, 2 * MANY)) == MANY
        looking.cancel()
        await engine.close()

    assert turns_of_others(publish) >= 2 * (MANY // PIECE - 1)
    assert ends <= {0, MANY}  # whoever reads meanwhile sees nothing of it, or all


def test_a_page_of_very_many_links_holds_the_loop_no_longer_than_an_ordinary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loosely: it was four to six tenths of a second of processor, and a test may run beside others."""
    monkeypatch.setattr(holds, "WORK", tmp_path)
    assert holds.held("queries", holds.MB).cpu < 0.15
