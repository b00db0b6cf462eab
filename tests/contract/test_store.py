"""`PageStore`: what is older than what is there loses; a bucket is dropped with what was written before, only."""

import hashlib
import io

from gregor.schemas.items import StoredItem
from gregor.schemas.messages import (
    Attempt,
    DeadLetter,
    HostRecord,
    Link,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    stamp,
)
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.store import Entry
from tests.contract.world import World, run, ticket
from tests.sketches import sketch

OLD, NEW = stamp(1, 900), stamp(2, 1)
URL = "http://example.org/"


def row(key: str = URL, **fields: object) -> Row:
    defaults: dict[str, object] = {"visits": 1, "state": "fetched", "outcome": "fetched"}
    return Row(key=key, href=key, host="example.org", **{**defaults, **fields})  # type: ignore[arg-type]


def page(key: str = URL, visit: int = 1, **fields: object) -> Page:
    return Page(
        key=key,
        href=key,
        host="example.org",
        visit=visit,
        kind="new",
        status=200,
        fetched_at=1.5,
        **fields,  # type: ignore[arg-type]
    )


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def keys(tickets: list[Ticket]) -> set[str]:
    return {found.key.rpartition("/")[2] for found in tickets}


@run
async def test_rows_come_back_in_the_order_of_the_question(world: World) -> None:
    engine = await world.open()
    first = row("http://a/ü", attempts=(Attempt(1.0, "timeout", 0, 30.0, "w1"),), due=7.5)
    await engine.store.put_rows([first, row("http://b/")], NEW)
    engine = await world.again()
    assert await engine.store.rows(["http://b/", "http://none/", "http://a/ü"]) == [row("http://b/"), None, first]
    assert await engine.store.rows([]) == []


@run
async def test_a_late_row_of_an_old_epoch_loses(world: World) -> None:
    engine = await world.open()
    await engine.store.put_rows([row()], NEW)
    engine = await world.again()
    await engine.store.put_rows([row(state="waiting", visits=0)], OLD)
    assert await engine.store.rows([URL]) == [row()]
    await engine.store.put_rows([row(visits=2)], NEW + 1)
    engine = await world.again()
    assert await engine.store.rows([URL]) == [row(visits=2)]


@run
async def test_a_repeated_write_changes_nothing(world: World) -> None:
    engine = await world.open()
    for _ in range(2):
        await engine.store.put_rows([row()], NEW)
        await engine.store.put_entries(3, [Entry(10, ticket("a"))], NEW)
        await engine.store.put_chunk(3, "example.org", 0, [ticket("a")], NEW)
    engine = await world.again()
    assert await engine.store.rows([URL]) == [row()]
    assert await engine.store.read_bucket(3, 10) == [ticket("a")]
    assert await engine.store.read_chunk(3, "example.org", 0) == [ticket("a")]


@run
async def test_page_versions_are_kept_by_visit(world: World) -> None:
    engine = await world.open()
    links = [Link("http://example.org/b", "a", nofollow=True, fate="nofollow", text="b", key="http://example.org/b")]
    first = page(title="one", links=links, fingerprint=b"\x00\xff", directives=("noindex",))
    await engine.store.put_page(first, None, None, NEW)
    await engine.store.put_page(page(visit=2, title="two"), None, None, NEW)
    engine = await world.again()
    assert await engine.store.page(URL, 1) == first
    assert await engine.store.page(URL, 2) == page(visit=2, title="two")
    assert await engine.store.page(URL, 3) is None


ITEMS = [
    StoredItem("job", "job", "a1", '{"title":"ü","n":123456789012345678901234567890}'.encode(), '["1"]'),
    StoredItem("job", "job", "a1", b'{"title":"x"}', "", "changed", ("title",)),
]


@run
async def test_a_visit_has_one_set_of_items_the_one_of_its_page(world: World) -> None:
    engine = await world.open()
    await engine.store.put_page(page(items=ITEMS), None, None, NEW)
    await engine.store.put_page(page(visit=2, items=ITEMS[:1]), None, None, NEW + 1)
    engine = await world.again()
    for _ in range(2):  # a settle that is repeated, and one of an older owner that comes late
        await engine.store.put_page(page(visit=2, items=ITEMS[:1]), None, None, NEW + 1)
        await engine.store.put_page(page(visit=2, items=ITEMS), None, None, OLD)
    engine = await world.again()
    stored = [await engine.store.page(URL, visit) for visit in (1, 2)]
    assert [version and version.items for version in stored] == [ITEMS, ITEMS[:1]]


@run
async def test_a_late_page_of_an_old_epoch_loses(world: World) -> None:
    engine = await world.open()
    await engine.store.put_page(page(title="new"), None, None, NEW)
    engine = await world.again()
    await engine.store.put_page(page(title="old"), None, None, OLD)
    stored = await engine.store.page(URL, 1)
    assert stored is not None
    assert stored.title == "new"


@run
async def test_bodies_are_stored_once_and_whole(world: World) -> None:
    engine = await world.open()
    small, large = b"<p>small", bytes(range(256)) * 12_000
    await engine.store.put_page(page(body=sha256(large), wire=sha256(small)), io.BytesIO(large), io.BytesIO(small), NEW)
    await engine.store.put_page(page("http://b/", body=sha256(large)), io.BytesIO(large), None, NEW)
    await world.again()
    reader = await world.reader()
    for body in (small, large):
        found = await reader.body(sha256(body))
        assert found is not None
        with found:
            assert found.read() == body
    assert await reader.body(sha256(b"none")) is None
    names = [sha256(body) for body in (small, large, b"none")]
    together = await reader.small_bodies(names)
    assert together[names[0]] == small and together.get(names[1], large) == large and names[2] not in together
    assert await reader.small_bodies([]) == {}


@run
async def test_a_body_that_is_not_what_its_name_says_is_never_given_out(world: World) -> None:
    engine = await world.open()
    large = bytes(range(256)) * 12_000
    cut, flipped = large[:-1], b"X" + large[1:]
    for number, (named, stored) in enumerate(((b"whole", b"who1e"), (b"", b"more"), (large, cut), (cut, flipped))):
        await engine.store.put_page(page(visit=number, body=sha256(named)), io.BytesIO(stored), None, NEW)
    await world.again()
    reader = await world.reader()
    for named in (b"whole", b"", large, cut):
        try:
            found = await reader.body(sha256(named))
        except Damaged as damage:
            assert damage.name == sha256(named)
        else:
            assert found is None or sha256(found.read()) == sha256(named)  # an engine may know bodies by what they are
    together = await reader.small_bodies([sha256(named) for named in (b"whole", b"", large, cut)])
    assert all(sha256(body) == name for name, body in together.items())


@run
async def test_a_near_sketch_is_found(world: World) -> None:
    engine = await world.open()
    await engine.store.put_page(page(sketch=sketch(1)), None, None, NEW)
    engine = await world.again()
    for differing, keys in ((0, 6), (5, 1), (21, 3)):
        assert await engine.store.near(sketch(1, differing, keys=keys), 0.65) == URL
    assert await engine.store.near(sketch(1, 22), 0.65) is None
    assert await engine.store.near(sketch(1, 1), 1.0) is None
    assert await engine.store.near(sketch(2), 0.65) is None
    assert await engine.store.near(b"", 0.5) is None


@run
async def test_a_page_is_found_by_the_sketch_of_its_newest_version_alone(world: World) -> None:
    engine = await world.open()
    await engine.store.put_page(page(sketch=sketch(1)), None, None, NEW)
    await engine.store.put_page(page(sketch=sketch(2), visit=2), None, None, NEW + 1)
    engine = await world.again()
    assert await engine.store.near(sketch(1), 0.65) is None
    assert await engine.store.near(sketch(2), 0.65) == URL


@run
async def test_an_exact_duplicate_is_nobodys_near_duplicate(world: World) -> None:
    engine = await world.open()
    await engine.store.put_page(page(sketch=sketch(1), state="duplicate", duplicate_of="http://b/"), None, None, NEW)
    engine = await world.again()
    assert await engine.store.near(sketch(1), 0.65) is None


@run
async def test_buckets_are_numbered_in_order_and_by_partition(world: World) -> None:
    engine = await world.open()
    entries = [Entry(bucket, ticket(f"{bucket}.{n}")) for bucket in (30, 10, 20, 40) for n in range(3)]
    await engine.store.put_entries(3, entries, NEW)
    await engine.store.put_entries(4, [Entry(15, ticket("x"))], NEW)
    engine = await world.again()
    assert await engine.store.buckets(3, 0, 100, 10) == [10, 20, 30, 40]
    assert await engine.store.buckets(3, 11, 30, 10) == [20, 30]
    assert await engine.store.buckets(3, 0, 100, 2) == [10, 20]
    assert await engine.store.buckets(3, 41, 100, 2) == []
    assert await engine.store.buckets(5, 0, 100, 2) == []
    assert keys(await engine.store.read_bucket(3, 20)) == {"20.0", "20.1", "20.2"}
    assert await engine.store.read_bucket(3, 21) == []


@run
async def test_dropping_a_bucket_spares_what_was_written_later(world: World) -> None:
    engine = await world.open()
    await engine.store.put_entries(3, [Entry(10, ticket("read"))], stamp(2, 1))
    await engine.store.put_entries(3, [Entry(10, ticket("later"))], stamp(2, 9))
    engine = await world.again()
    await engine.store.drop_bucket(3, 10, stamp(2, 5))
    engine = await world.again()
    assert keys(await engine.store.read_bucket(3, 10)) == {"later"}
    assert await engine.store.buckets(3, 0, 100, 10) == [10]
    await engine.store.drop_bucket(3, 10, stamp(2, 10))
    engine = await world.again()
    assert await engine.store.read_bucket(3, 10) == []
    assert await engine.store.buckets(3, 0, 100, 10) == []


@run
async def test_a_late_drop_of_an_old_epoch_deletes_nothing_new(world: World) -> None:
    engine = await world.open()
    await engine.store.put_entries(3, [Entry(10, ticket("a"))], NEW)
    await engine.store.put_chunk(3, "example.org", 1, [ticket("b")], NEW)
    engine = await world.again()
    await engine.store.drop_bucket(3, 10, OLD)
    await engine.store.drop_chunk(3, "example.org", 1, OLD)
    engine = await world.again()
    assert keys(await engine.store.read_bucket(3, 10)) == {"a"}
    assert keys(await engine.store.read_chunk(3, "example.org", 1)) == {"b"}


@run
async def test_asks_of_one_url_are_entries_of_their_own(world: World) -> None:
    engine = await world.open()
    asks = [
        ticket("a", kind="retry", visit=1),
        ticket("a", kind="retry", visit=2),
        ticket("a", kind="revisit", visit=2),
        Ticket(href="", key="", host="example.org", kind="wake"),
        Ticket(href="", key="", host="other.example", kind="wake"),
    ]
    await engine.store.put_entries(3, [Entry(10, ask) for ask in asks], NEW)
    await engine.store.put_entries(3, [Entry(11, asks[0])], NEW)
    engine = await world.again()
    found = await engine.store.read_bucket(3, 10)
    assert len(found) == 5
    assert set(found) == set(asks)
    assert await engine.store.read_bucket(3, 11) == [asks[0]]


@run
async def test_an_older_owners_entry_does_not_take_the_place_of_a_newer_one(world: World) -> None:
    """In a bucket as in a chunk; the same ask has the same name, whatever else it says."""
    engine = await world.open()
    newer, older = ticket("a", priority=1), ticket("a", priority=4)
    for entry, number in ((newer, NEW), (older, OLD)):
        await engine.store.put_entries(3, [Entry(50, entry)], number)
        await engine.store.put_chunk(3, "example.org", 7, [entry], number)
    engine = await world.again()
    assert await engine.store.read_bucket(3, 50) == [newer]
    assert await engine.store.read_chunk(3, "example.org", 7) == [newer]
    for bucket in (60, 61):  # alone, and together with another
        both = [Entry(bucket, newer), *([Entry(bucket, ticket("b"))] if bucket == 61 else [])]
        await engine.store.put_entries(3, both, NEW)
        await engine.store.put_entries(3, [Entry(bucket, older), *both[1:]], OLD)
        assert newer in await engine.store.read_bucket(3, bucket)


@run
async def test_a_backlog_is_in_chunks_of_a_host(world: World) -> None:
    engine = await world.open()
    await engine.store.put_chunk(3, "example.org", 7, [ticket("a"), ticket("b")], NEW)
    await engine.store.put_chunk(3, "example.org", 7, [ticket("c")], NEW + 1)
    await engine.store.put_chunk(3, "example.org", 12, [ticket("d")], NEW + 2)
    await engine.store.put_chunk(3, "other.example", 1, [ticket("e", "other.example")], NEW + 3)
    engine = await world.again()
    assert await engine.store.chunks(3, "example.org") == [7, 12]
    assert await engine.store.chunks(3, "none.example") == []
    assert sorted(await engine.store.backlogs(3)) == ["example.org", "other.example"]
    assert await engine.store.backlogs(4) == []
    assert keys(await engine.store.read_chunk(3, "example.org", 7)) == {"a", "b", "c"}
    await engine.store.drop_chunk(3, "example.org", 7, NEW + 9)
    engine = await world.again()
    assert await engine.store.chunks(3, "example.org") == [12]
    assert await engine.store.read_chunk(3, "example.org", 7) == []
    assert keys(await engine.store.read_chunk(3, "other.example", 1)) == {"e"}


@run
async def test_a_partition_waits_while_its_calendar_or_a_backlog_holds_anything(world: World) -> None:
    engine = await world.open()
    assert not await engine.store.waiting(3)
    await engine.store.put_entries(3, [Entry(10, ticket("a"))], NEW)
    await engine.store.put_chunk(4, "example.org", 0, [ticket("b")], NEW)
    engine = await world.again()
    assert [await engine.store.waiting(partition) for partition in (2, 3, 4, 5)] == [False, True, True, False]
    await engine.store.drop_bucket(3, 10, NEW + 1)
    await engine.store.drop_chunk(4, "example.org", 0, NEW + 1)
    engine = await world.again()
    assert not await engine.store.waiting(3)
    assert not await engine.store.waiting(4)


@run
async def test_a_partitions_record_survives_and_older_ones_lose(world: World) -> None:
    engine = await world.open()
    assert await engine.store.partition(5) == PartitionRecord(5)
    record = PartitionRecord(5, epoch=2, cursor=77, counts={"fetched": 3})
    await engine.store.put_partition(record, NEW)
    await engine.store.put_partition(PartitionRecord(5, epoch=1, cursor=70), OLD)
    engine = await world.again()
    assert await engine.store.partition(5) == record


@run
async def test_a_hosts_record_survives_and_older_ones_lose(world: World) -> None:
    engine = await world.open()
    assert await engine.store.host("example.org:8080") is None
    record = HostRecord(
        "example.org:8080", ceiling=4.0, not_before=9.5, failures=2, pages=3, bytes=1 << 40, shapes=b"\0\xff"
    )
    await engine.store.put_host(record, NEW)
    await engine.store.put_host(HostRecord("example.org:8080"), OLD)
    engine = await world.again()
    assert await engine.store.host("example.org:8080") == record


@run
async def test_the_robots_that_was_fetched_last_wins(world: World) -> None:
    engine = await world.open()
    assert await engine.store.robots("http://example.org") is None
    newer = RobotsRecord("http://example.org", "parsed", fetched_at=20.0, expires=99.0, body=b"User-agent: *\xff")
    await engine.store.put_robots(newer, OLD)
    await engine.store.put_robots(RobotsRecord("http://example.org", "allow", fetched_at=10.0, expires=99.0), NEW)
    engine = await world.again()
    assert await engine.store.robots("http://example.org") == newer


@run
async def test_a_dead_letter_that_is_written_again_is_one(world: World) -> None:
    engine = await world.open()
    letter = DeadLetter(URL, URL, "example.org", "timeout", "no answer in 30 s", 12.5, attempts=5)
    other = DeadLetter("", "", "", "unreadable", "not a ticket", 13.0)
    for written in (letter, other, letter):
        await engine.store.put_dead_letter(written)
    await world.again()
    reader = await world.reader()
    found = [written async for written in reader.dead_letters()]
    assert sorted(found, key=lambda letter: letter.at) == [letter, other]


@run
async def test_a_dead_letter_is_dropped_as_it_was_read(world: World) -> None:
    engine = await world.open()
    letters = [DeadLetter("k", "h", "a.example", "timeout", detail, 1.8e9) for detail in ("one", "two")]
    for letter in letters:
        await engine.store.put_dead_letter(letter)
    engine = await world.again()
    reader = await world.reader()
    first = next(letter for letter in [one async for one in reader.dead_letters()] if letter.detail == "one")
    for _ in range(2):
        await engine.store.drop_dead_letter(first)
    engine = await world.again()
    reader = await world.reader()
    assert [one async for one in reader.dead_letters()] == [letters[1]]


@run
async def test_what_is_kept_of_a_url_is_dropped_and_nothing_else(world: World) -> None:
    engine = await world.open()
    other = "http://example.org/other"
    for number, key in enumerate((URL, other)):
        await engine.store.put_page(page(key, sketch=sketch(number)), None, None, NEW)
        await engine.store.put_page(page(key, visit=3, sketch=sketch(number)), None, None, NEW)
        await engine.store.put_rows([row(key, visits=3, page=3)], NEW)
    assert await engine.store.versions(URL) == [1, 3]
    for _ in range(2):
        await engine.store.drop(URL, NEW + 1)
    engine = await world.again()
    assert await engine.store.versions(URL) == []
    assert await engine.store.near(sketch(0), 0.9) is None
    assert await engine.store.near(sketch(1), 0.9) == other
    assert await engine.store.rows([URL, other]) == [None, row(other, visits=3, page=3)]
    assert await engine.store.page(URL, 1) is None
    assert await engine.store.versions(other) == [1, 3]
    await engine.store.drop("http://none/", NEW)
    await engine.store.put_page(page(title="anew"), None, None, NEW + 2)
    await engine.store.put_rows([row(page=1)], NEW + 2)
    engine = await world.again()
    assert await engine.store.rows([URL]) == [row(page=1)]
    assert await engine.store.versions(URL) == [1]


@run
async def test_a_late_drop_of_an_old_epoch_loses(world: World) -> None:
    engine = await world.open()
    await engine.store.put_page(page(), None, None, NEW)
    await engine.store.put_rows([row(page=1)], NEW)
    await engine.store.drop(URL, OLD)
    engine = await world.again()
    assert await engine.store.rows([URL]) == [row(page=1)]
    assert await engine.store.versions(URL) == [1]
