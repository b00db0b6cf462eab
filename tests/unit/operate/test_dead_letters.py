"""Dead letters are treated in one look at all of them, so many at a time."""

import asyncio
from collections.abc import Sequence

import pytest

from gregor.schemas.messages import DeadLetter
from gregor.worker.operate.dead_letters import slices
from tests.reading import MemoryReader, row, ticket


class Counting(MemoryReader):
    """Counts the looks at all letters."""

    looks = 0

    def dead_letters(self):  # type: ignore[no-untyped-def]
        self.looks += 1
        return super().dead_letters()


def letter(number: int, *, of_url: bool = True) -> DeadLetter:
    url = f"http://a.test/{number}" if of_url else ""
    return DeadLetter(url, url, "a.test" if of_url else "", "status", "500", 5.0 + number)


@pytest.mark.parametrize(("of_urls", "sizes"), [(False, [2, 2, 2]), (True, [2, 2, 1])])
def test_all_come_in_one_look(of_urls: bool, sizes: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gregor.worker.operate.dead_letters.MOST", 2)
    letters = [*map(letter, range(5)), letter(5, of_url=False)]
    reader = Counting([row(ticket(one.href), "dead") for one in letters if one.href], letters=letters)

    async def read() -> list[int]:
        return [len(some) async for some in slices(reader, None, of_urls=of_urls)]

    assert asyncio.run(read()) == sizes
    assert reader.looks == 1
