"""`SeenSet`: membership that is never invented, and contents that the first claim owns."""

import asyncio
import random

from tests.contract.world import World, run

LARGEST = (1 << 64) - 1


@run
async def test_what_was_marked_is_seen_and_nothing_else(world: World) -> None:
    engine = await world.open()
    marked = [0, 1, (1 << 63) - 1, 1 << 63, LARGEST]
    await engine.seen.mark(marked)
    engine = await world.again()
    others = [2, (1 << 63) - 2, (1 << 63) + 1, LARGEST - 1]
    assert await engine.seen.seen(marked + others) == [True] * len(marked) + [False] * len(others)


@run
async def test_answers_are_in_the_order_of_the_question(world: World) -> None:
    engine = await world.open()
    await engine.seen.mark([7, 9])
    engine = await world.again()
    assert await engine.seen.seen([9, 8, 7, 9]) == [True, False, True, True]


@run
async def test_nothing_asked_is_nothing_answered(world: World) -> None:
    engine = await world.open()
    await engine.seen.mark([])
    assert await engine.seen.seen([]) == []


@run
async def test_marking_again_changes_nothing(world: World) -> None:
    engine = await world.open()
    await engine.seen.mark([5, 5])
    await engine.seen.mark([5])
    engine = await world.again()
    assert await engine.seen.seen([5, 6]) == [True, False]


@run
async def test_many_at_once(world: World) -> None:
    engine = await world.open()
    marked = [number * 0x9E3779B97F4A7C15 & LARGEST for number in range(2000)]
    await engine.seen.mark(marked)
    engine = await world.again()
    assert all(await engine.seen.seen(marked))
    assert not any(await engine.seen.seen([number ^ 1 for number in marked]))


@run
async def test_the_first_claim_owns_a_content(world: World) -> None:
    engine = await world.open()
    assert await engine.seen.content(b"c" * 16) is None
    assert await engine.seen.claim(b"c" * 16, "http://a/") == "http://a/"
    engine = await world.again()
    assert await engine.seen.claim(b"c" * 16, "http://b/") == "http://a/"
    assert await engine.seen.content(b"c" * 16) == "http://a/"


@run
async def test_a_repeated_claim_is_still_the_owners(world: World) -> None:
    engine = await world.open()
    await engine.seen.claim(b"c" * 16, "http://a/")
    engine = await world.again()
    assert await engine.seen.claim(b"c" * 16, "http://a/") == "http://a/"


@run
async def test_one_of_many_claims_at_once_wins(world: World) -> None:
    engine = await world.open()
    answers = await asyncio.gather(*[engine.seen.claim(b"c" * 16, f"http://{number}/") for number in range(20)])
    engine = await world.again()
    assert set(answers) == {await engine.seen.content(b"c" * 16)}


@run
async def test_it_behaves_like_a_set(world: World) -> None:
    engine = await world.open()
    chance = random.Random(1)
    model: set[int] = set()
    for step in range(20):
        marked = [chance.choice([chance.randrange(50), chance.getrandbits(64)]) for _ in range(chance.randrange(20))]
        asked = [chance.choice([*range(50), *model]) for _ in range(20)]
        await engine.seen.mark(marked)
        model.update(marked)
        if step == 10:
            engine = await world.again()
        assert await engine.seen.seen(asked) == [number in model for number in asked]


@run
async def test_what_is_forgotten_was_never_marked(world: World) -> None:
    engine = await world.open()
    marked = [0, 1, 7, (1 << 63) - 1, 1 << 63, LARGEST]
    await engine.seen.mark(marked)
    for _ in range(2):
        await engine.seen.forget([1, 1 << 63, 99])
    await engine.seen.forget([])
    engine = await world.again()
    assert await engine.seen.seen(marked) == [True, False, True, True, False, True]
    await engine.seen.mark([1])
    assert await engine.seen.seen([1]) == [True]


@run
async def test_only_its_owner_gives_a_content_up(world: World) -> None:
    engine = await world.open()
    await engine.seen.claim(b"c" * 16, "http://a/")
    await engine.seen.disown(b"c" * 16, "http://b/")
    await engine.seen.disown(b"d" * 16, "http://a/")
    assert await engine.seen.content(b"c" * 16) == "http://a/"
    for _ in range(2):
        await engine.seen.disown(b"c" * 16, "http://a/")
    engine = await world.again()
    assert await engine.seen.content(b"c" * 16) is None
    assert await engine.seen.claim(b"c" * 16, "http://b/") == "http://b/"
