"""`Reader`: it sees what was acknowledged, beside a running crawl and after it."""

import random
from collections import Counter

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import TERMINAL, HostRecord, Page, PartitionRecord, RobotsRecord, Row, State, Ticket
from gregor.schemas.parts import AnswerHead, Takeover
from gregor.worker.borders.reader import Part, Reader
from gregor.worker.borders.store import Entry
from tests.contract.engines import PARTITIONS
from tests.contract.world import World, run, ticket
from tests.counted import counted
from tests.sketches import sketch

HOST = "example.org"
HOME = partition_of(HOST, PARTITIONS)


def row(path: str, state: State = "fetched", host: str = HOST, visits: int = 1) -> Row:
    url = f"http://{host}/{path}"
    return Row(key=url, href=url, host=host, visits=visits, state=state, outcome=state)


def page(path: str, visit: int = 1, status: int = 200, size: int = 10) -> Page:
    url = f"http://{HOST}/{path}"
    return Page(
        key=url, href=url, host=HOST, visit=visit, kind="new", status=status, fetched_at=float(visit), size=size
    )


async def states(reader: Reader, state: str | None = None, host: str | None = None) -> dict[str, str]:
    return {found.key.rpartition("/")[2]: found.state async for found in reader.rows(state, host)}


@run
async def test_an_empty_crawl_reads_as_empty(world: World) -> None:
    await world.open()
    await world.again()
    reader = await world.reader()
    assert await states(reader) == {}
    assert [found async for found in reader.pages()] == []
    assert [found async for found in reader.waiting()] == []
    assert await reader.find("http://example.org/", HOST) == []
    assert await reader.row("http://example.org/") is None
    assert await reader.page("http://example.org/") is None
    assert not any((await counted(reader)).values())


@run
async def test_rows_are_filtered_by_state_and_host(world: World) -> None:
    engine = await world.open()
    rows = [row("a"), row("b", "gone"), row("c", host="other.example"), row("d", "waiting", visits=0)]
    await engine.store.put_rows(rows, 1)
    await world.again()
    reader = await world.reader()
    assert await states(reader) == {"a": "fetched", "b": "gone", "c": "fetched", "d": "waiting"}
    assert await states(reader, "fetched") == {"a": "fetched", "c": "fetched"}
    assert await states(reader, None, HOST) == {"a": "fetched", "b": "gone", "d": "waiting"}
    assert await states(reader, "fetched", HOST) == {"a": "fetched"}
    assert await reader.row("http://example.org/b") == rows[1]


@run
async def test_rows_are_read_on_behind_any_of_them(world: World) -> None:
    engine = await world.open()
    rows = [row(f"{number:02}", "gone" if number % 3 else "fetched") for number in range(20)]
    await engine.store.put_rows(rows, 1)
    await world.again()
    reader = await world.reader()
    for state in (None, "gone"):
        keys = [found.key async for found in reader.rows(state, HOST)]
        assert len(keys) == len(set(keys)) == (20 if state is None else 13)
        for at, key in enumerate(keys):
            assert [found.key async for found in reader.rows(state, HOST, key)] == keys[at + 1 :]


@run
async def test_rows_are_read_several_at_once(world: World) -> None:
    engine = await world.open()
    await engine.store.put_rows([row("a"), row("b")], 1)
    await world.again()
    reader = await world.reader()
    keys = [f"http://{HOST}/{path}" for path in ("b", "unknown", "a")]
    assert await reader.rows_of(keys) == {found.key: found for found in (row("a"), row("b"))}
    assert await reader.rows_of([]) == {}


@run
async def test_records_of_partitions_are_read(world: World) -> None:
    engine = await world.open()
    kept = PartitionRecord(3, 2, takeovers=(Takeover("a", 1, 5.0), Takeover("b", 2, 6.5)))
    await engine.store.put_partition(kept, 1)
    await world.again()
    reader = await world.reader()
    assert [found async for found in reader.partitions()] == [kept]


@run
async def test_what_is_more_than_a_slice_is_read_whole(world: World) -> None:
    engine = await world.open()
    await engine.store.put_rows([row(f"{number:05}") for number in range(2500)], 1)
    for number in range(70):
        await engine.store.put_page(page(f"{number:05}"), None, None, 1)
    await world.again()
    reader = await world.reader()
    assert len([found async for found in reader.rows(None, None)]) == 2500
    assert len({found.key async for found in reader.pages()}) == 70


@run
async def test_parts_are_together_all_pages_and_each_page_is_in_one(world: World) -> None:
    engine = await world.open()
    for number in range(50):
        key = f"http://{HOST}/{number}"
        await engine.store.put_page(Page(key, key, HOST, 1, "new", 200, 1.0), None, None, 1)
    await world.again()
    reader = await world.reader()
    found = [[page.key async for page in reader.pages(Part(number, 3))] for number in range(3)]
    assert all(found)
    assert sorted(key for part in found for key in part) == sorted(f"http://{HOST}/{number}" for number in range(50))


@run
async def test_the_newest_version_of_a_page_is_read(world: World) -> None:
    engine = await world.open()
    for visit in (1, 3, 2):
        await engine.store.put_page(page("a", visit), None, None, 1)
    await engine.store.put_page(page("b"), None, None, 1)
    await world.again()
    reader = await world.reader()
    assert sorted([(found.key[-1], found.visit) async for found in reader.pages()]) == [("a", 3), ("b", 1)]
    every = sorted([(found.key[-1], found.visit) async for found in reader.pages(versions=True)])
    assert every == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]
    assert await reader.page("http://example.org/a") == page("a", 3)
    assert await reader.page("http://example.org/a", 1) == page("a", 1)
    assert await reader.page("http://example.org/a", 9) is None


@run
async def test_pages_that_are_nearly_the_same_are_found(world: World) -> None:
    engine = await world.open()
    for path, differing, keys in (("same", 0, 6), ("half", 30, 1), ("less", 35, 6), ("few", 4, 5)):
        found = page(path)
        found.sketch = sketch(1, differing, keys=keys)
        await engine.store.put_page(found, None, None, 1)
    await engine.store.put_page(page("without"), None, None, 1)
    await world.again()
    reader = await world.reader()
    likest = [(found.key[19:], round(found.share, 2)) for found in await reader.similar(sketch(1), 0.5, 10)]
    assert likest == [("same", 1.0), ("few", 0.93), ("half", 0.5)]
    assert [found.key[19:] for found in await reader.similar(sketch(1), 0.5, 2)] == ["same", "few"]
    assert [found.key[19:] for found in await reader.similar(sketch(1), 1, 10)] == ["same"]
    assert await reader.similar(sketch(2), 0.5, 10) == []
    assert await reader.similar(b"", 0.5, 10) == []


@run
async def test_a_waiting_url_is_found_where_it_is(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket("log"), ticket("other")])
    await engine.store.put_entries(HOME, [Entry(50, ticket("calendar", kind="retry", visit=1))], 1)
    await engine.store.put_chunk(HOME, HOST, 0, [ticket("backlog")], 1)
    await world.again()
    reader = await world.reader()
    for path in ("log", "calendar", "backlog"):
        (found,) = await reader.find(f"http://example.org/{path}", HOST)
        assert (found.place, found.ticket.key) == (path, f"http://example.org/{path}")
    (entry,) = await reader.find("http://example.org/calendar", HOST)
    assert entry.due == 50.0
    assert await reader.find("http://example.org/lo", HOST) == []
    assert sorted([(found.place, found.ticket.key[19:]) async for found in reader.waiting()]) == [
        ("backlog", "backlog"),
        ("calendar", "calendar"),
        ("log", "log"),
        ("log", "other"),
    ]


@run
async def test_a_finished_record_that_is_still_in_the_log_does_not_wait(world: World) -> None:
    engine = await world.open()
    await engine.log.publish([ticket("below"), ticket("settled"), ticket("left")])
    await engine.log.commit(HOME, {2: 1}, epoch=1)
    await engine.store.put_rows([row("settled")], 1)
    await world.again()
    reader = await world.reader()
    assert [found.ticket.key[19:] async for found in reader.waiting()] == ["left"]
    assert await reader.find("http://example.org/settled", HOST) == []


@run
async def test_counts_tell_every_url_once(world: World) -> None:
    engine = await world.open()
    wake = Ticket(href="", key="", host=HOST, kind="wake")
    await engine.log.publish([ticket("new"), ticket("new"), ticket("settled"), ticket("retried")])
    await engine.store.put_entries(
        HOME,
        [
            Entry(5, wake),
            Entry(5, ticket("retried", kind="retry", visit=1)),
            Entry(9, ticket("settled", kind="revisit", visit=1)),
        ],
        1,
    )
    await engine.store.put_chunk(HOME, HOST, 0, [ticket("new"), ticket("overflow")], 1)
    await engine.store.put_rows([row("settled"), row("gone", "gone"), row("retried", "waiting")], 1)
    await engine.store.put_page(page("settled", 1, size=7), None, None, 1)
    await engine.store.put_page(page("settled", 2, size=9), None, None, 1)
    await engine.store.put_page(page("gone", 1, status=404, size=5), None, None, 1)
    await world.again()
    reader = await world.reader()
    assert {name: count for name, count in (await counted(reader)).items() if count} == {
        "fetched": 1,
        "gone": 1,
        "waiting": 3,
        "pages": 2,
        "pages_200": 1,
        "bytes": 14,
    }


@run
async def test_counts_follow_every_change(world: World) -> None:
    engine = await world.open()
    chance = random.Random(1)
    rows: dict[str, str] = {}
    pages: dict[str, dict[int, tuple[int, int]]] = {}
    for step in range(1, 200):
        path = str(chance.randrange(12))
        state = chance.choice(TERMINAL)
        rows[path] = state
        await engine.store.put_rows([row(path, state)], step)
        visit, status, size = chance.randrange(1, 4), chance.choice([200, 404]), chance.randrange(9)
        pages.setdefault(path, {})[visit] = (status, size)
        await engine.store.put_page(page(path, visit, status, size), None, None, step)
        await engine.store.put_page(page(path, visit, 500, 99), None, None, step - 1)
    await world.again()
    newest = [versions[max(versions)] for versions in pages.values()]
    counts = await counted(await world.reader())
    assert {name: count for name, count in counts.items() if count} == {
        **Counter(rows.values()),
        "pages": len(pages),
        "pages_200": sum(status == 200 for status, _ in newest),
        "bytes": sum(size for _, size in newest),
    }


@run
async def test_the_hosts_of_the_seeds_are_kept(world: World) -> None:
    engine = await world.open()
    await engine.store.add_seed_hosts(["a.example", "b.example"])
    await engine.store.add_seed_hosts(["b.example", "c.example:8080"])
    engine = await world.again()
    expected = ["a.example", "b.example", "c.example:8080"]
    assert sorted(await engine.store.seed_hosts()) == expected
    assert sorted(await (await world.reader()).seed_hosts()) == expected


@run
async def test_hosts_and_robots_are_read(world: World) -> None:
    engine = await world.open()
    host, robots = HostRecord(HOST, ceiling=2.0), RobotsRecord("http://example.org", "allow", 1.0, 2.0)
    await engine.store.put_host(host, 1)
    answer = AnswerHead("https://example.org/robots.txt", b"HTTP/1.1 200 OK\r\n\r\n", "::1", 5, "size")
    other = RobotsRecord("https://example.org", "parsed", 1.0, 2.0, answer=answer)
    for record in (robots, other):
        await engine.store.put_robots(record, 1)
    await world.again()
    reader = await world.reader()
    assert await reader.host(HOST) == host
    assert await reader.host("none.example") is None
    assert await reader.robots("http://example.org") == robots
    assert await reader.robots("http://none.example") is None
    assert {found.origin: found async for found in reader.all_robots()} == {robots.origin: robots, other.origin: other}


@run
async def test_a_reader_beside_a_running_crawl_sees_what_comes(world: World) -> None:
    engine = await world.open()
    reader = await world.reader()
    assert await states(reader) == {}
    await engine.store.put_rows([row("a")], 1)
    assert await states(reader) == {"a": "fetched"}
