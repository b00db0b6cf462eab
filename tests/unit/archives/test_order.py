"""In which order records that are read side by side are written."""

import asyncio

from gregor.worker.archives.order import BookOrder, RecordPlace


def test_of_equal_contents_the_first_is_written_first() -> None:
    async def story() -> list[str]:
        order, written = BookOrder(), list[str]()
        places = {name: order.place() for name in ("first", "other", "copy")}

        async def write(name: str, content: bytes) -> None:
            await places[name].examined(content)
            written.append(name)
            places[name].end()

        copy = asyncio.create_task(write("copy", b"x"))
        await asyncio.sleep(0)
        await asyncio.gather(write("other", b""), write("first", b"x"), copy)
        return written

    written = asyncio.run(story())
    assert written.index("first") < written.index("copy")


def test_records_of_one_content_are_not_remembered_one_by_the_other() -> None:
    async def story() -> int:
        order, waiting = BookOrder(), list[tuple[RecordPlace, asyncio.Task[None]]]()
        for _ in range(100):
            place = order.place()
            waiting.append((place, asyncio.create_task(place.examined(b"x"))))
            await asyncio.sleep(0)
            if len(waiting) > 2:
                first, task = waiting.pop(0)
                await task
                first.end()
        last, remembered = waiting[-1][0].before, 0
        for place, task in waiting:
            await task
            place.end()
        while last is not None:
            last, remembered = last.before, remembered + 1
        return remembered

    assert asyncio.run(story()) <= 2
