"""The settle of a visit, in one call or in its steps: all of it is there afterwards, once; who comes second, or late,
is told so, whatever else is settled in the same moment."""

import asyncio
import io
import random
from types import SimpleNamespace
from typing import Any

from gregor.schemas.messages import PRIORITIES, DeadLetter, Page, Row, stamp, url_fingerprint
from gregor.worker.borders.effects import Retries
from gregor.worker.borders.settlement import Settlement
from gregor.worker.borders.store import Entry
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.rows import forgotten
from gregor.worker.settle.settling import AtOnce, InSteps, Settling
from tests.contract.engines import Engine
from tests.contract.test_store import page, row, sha256
from tests.contract.world import World, run, ticket

BODY, WIRE = b"<p>words</p>", b"packed"
LINKS = [ticket("y"), ticket("z", priority=4)]
LETTER = DeadLetter("http://a/", "http://a/", "a", "decode", "why", 1.0, 1)
HELD: Any = SimpleNamespace(holds=lambda: True)


def settling(engine: Engine) -> Settling:
    """Settles as a worker does."""
    effects = Retries(Stats(), random.Random(1)).under(HELD)
    if engine.settler is not None:
        return AtOnce(engine.settler, effects)
    return InSteps(engine.log, engine.seen, engine.store, effects)


def answer() -> Any:
    """As much of a response as is stored."""
    return SimpleNamespace(
        body=SimpleNamespace(open=lambda: io.BytesIO(BODY)), wire_body=SimpleNamespace(open=lambda: io.BytesIO(WIRE))
    )


def settlement(name: str = "a", *, at: int = stamp(2, 1), opted_out: bool = False, **changes: Any) -> Settlement:
    """That of a page of ``name`` with all that a visit may leave."""
    url = f"http://example.org/{name}"
    found = page(url, body=sha256(BODY), wire=sha256(WIRE), fingerprint=b"c" * 16)
    whole: dict[str, Any] = {
        "page": found,
        "answer": answer(),
        "claims": True,
        "tickets": LINKS,
        "news": found,
        "partition": 3,
        "entry": Entry(10, ticket(name, visit=1, kind="revisit")),
        "letter": LETTER,
        "row": row(url, page=1),
    }
    marks: dict[str, Any] = {"mark": url_fingerprint(url), "stamp": lambda: at, "opted_out": lambda: opted_out}
    return Settlement(**{**whole, **changes}, **marks, forgotten=forgotten)


async def published(engine: Engine) -> list[str]:
    """The URLs in the log."""
    found = [
        record.ticket
        for partition in range(8)
        for priority in PRIORITIES
        for record in await engine.log.read(partition, priority, 0, 99)
    ]
    return sorted(getattr(there, "key", "?") for there in found)


async def stored(engine: Engine, name: str = "a") -> tuple[Row | None, Page | None]:
    url = f"http://example.org/{name}"
    return (await engine.store.rows([url]))[0], await engine.store.page(url, 1)


@run
async def test_all_that_a_visit_leaves_is_there(world: World) -> None:
    engine, left = await world.open(), settlement()
    await settling(engine).settle(left)
    engine = await world.again()
    assert await stored(engine) == (left.row, left.page)
    assert left.entry is not None
    assert await engine.store.read_bucket(3, 10) == [left.entry.ticket]
    assert await published(engine) == sorted(link.key for link in LINKS)
    assert await engine.seen.seen([left.mark]) == [True]
    assert await engine.seen.content(b"c" * 16) == "http://example.org/a"
    reader = await world.reader()
    for sha, body in ((sha256(BODY), BODY), (sha256(WIRE), WIRE)):
        stream = await reader.body(sha)
        assert stream is not None
        assert stream.read() == body
    assert [letter async for letter in reader.dead_letters()] == [LETTER]


@run
async def test_a_visit_without_a_page_leaves_the_rest(world: World) -> None:
    engine, gone = await world.open(), row("http://example.org/a", state="gone")
    left = settlement(page=None, answer=None, claims=False, news=None, entry=None, letter=None, row=gone)
    await settling(engine).settle(left)
    engine = await world.again()
    assert await stored(engine) == (gone, None)
    assert len(await published(engine)) == 2
    assert await engine.seen.seen([left.mark]) == [True]


@run
async def test_settled_again_it_is_there_once_but_for_its_links(world: World) -> None:
    engine, left = await world.open(), settlement()
    for _ in range(2):
        await settling(engine).settle(left)
        engine = await world.again()
    assert await stored(engine) == (left.row, left.page)
    assert len(await engine.store.read_bucket(3, 10)) == 1
    assert set(await published(engine)) == {link.key for link in LINKS}


@run
async def test_of_equal_pages_settled_in_one_moment_one_is_the_original_and_the_others_say_so(world: World) -> None:
    engine = await world.open()
    left = [settlement(name) for name in "abcd"]
    await asyncio.gather(*(settling(engine).settle(one) for one in left))
    engine = await world.again()
    owner = await engine.seen.content(b"c" * 16)
    states = {}
    for name, one in zip("abcd", left, strict=True):
        kept_row, kept_page = await stored(engine, name)
        assert (kept_row, kept_page) == (one.row, one.page), "who settled it knows how it was stored"
        assert kept_row is not None
        assert kept_page is not None
        assert kept_row.state == kept_page.state
        assert kept_page.duplicate_of == ("" if kept_page.key == owner else owner)
        states[kept_page.key] = kept_page.state
    assert sorted(states.values()) == ["duplicate"] * 3 + ["fetched"]
    assert states[owner or ""] == "fetched"


@run
async def test_a_page_that_was_stored_before_is_relabelled_when_its_content_has_another_owner(world: World) -> None:
    engine = await world.open()
    await settling(engine).settle(settlement("b"))
    before = settlement()
    assert before.page is not None
    await engine.store.put_page(before.page, io.BytesIO(BODY), io.BytesIO(WIRE), stamp(1, 1))
    engine = await world.again()
    await settling(engine).settle(settlement(answer=None))
    engine = await world.again()
    kept_row, kept_page = await stored(engine)
    assert kept_row is not None
    assert kept_page is not None
    assert (kept_row.state, kept_page.state, kept_page.duplicate_of) == (
        "duplicate",
        "duplicate",
        "http://example.org/b",
    )


@run
async def test_an_older_owners_settle_that_comes_late_changes_nothing_but_what_is_told(world: World) -> None:
    engine = await world.open()
    newer = settlement(row=row("http://example.org/a", visits=2, page=1))
    await settling(engine).settle(newer)
    engine = await world.again()
    old = settlement(at=stamp(1, 900), row=row("http://example.org/a", state="waiting"))
    assert old.page is not None
    old.page.title = "old"
    await settling(engine).settle(old)
    engine = await world.again()
    assert await stored(engine) == (newer.row, newer.page)


@run
async def test_of_a_host_that_opted_out_nothing_of_the_answer_is_kept(world: World) -> None:
    engine, left = await world.open(), settlement(opted_out=True)
    await settling(engine).settle(left)
    engine = await world.again()
    kept_row, kept_page = await stored(engine)
    assert kept_page is None
    assert kept_row == forgotten(left.row)
    assert await engine.seen.content(b"c" * 16) is None
    reader = await world.reader()
    assert await reader.body(sha256(BODY)) is None
    assert (await published(engine), left.published) == ([], ())
    assert [letter async for letter in reader.dead_letters()] == []


@run
async def test_who_waits_for_records_hears_of_links(world: World) -> None:
    engine, heard = await world.open(), asyncio.Event()
    engine.log.on_news(lambda _: heard.set())
    await settling(engine).settle(settlement())
    async with asyncio.timeout(10):
        await heard.wait()
