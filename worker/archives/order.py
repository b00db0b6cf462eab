"""In which order records that are read side by side are written: of equal contents the first is the original."""

import asyncio
from collections import deque


class BookOrder:
    """The order in which records were begun. A record goes on when it is known of all before it what they have, and
    when those with the same content are written. None waits for one behind it."""

    def __init__(self) -> None:
        self._places: deque[RecordPlace] = deque()
        self._last: dict[bytes, RecordPlace] = {}

    def place(self) -> "RecordPlace":
        """That of the next record."""
        self._places.append(made := RecordPlace(self))
        return made

    def advance(self) -> None:
        """Let those go on of which all before are known."""
        while self._places and self._places[0].is_known:
            place = self._places.popleft()
            if place.content and not place.ended.is_set():
                place.before = self._last.get(place.content)
                self._last[place.content] = place
            place.passed.set()

    def forget(self, place: "RecordPlace") -> None:
        """Nobody need wait for it."""
        if self._last.get(place.content) is place:
            del self._last[place.content]
        self.advance()


class RecordPlace:
    """That of one record."""

    def __init__(self, order: BookOrder) -> None:
        self._order = order
        self.content = b""
        self.is_known = False
        self.before: RecordPlace | None = None
        """The last one before it that has the same content and is not written yet."""
        self.passed, self.ended = asyncio.Event(), asyncio.Event()

    async def examined(self, content: bytes) -> None:
        """Until a record with a page of this content may be written; b"": it has none, and waits for nobody."""
        if not self.is_known:
            self.content, self.is_known = content, True
            self._order.advance()
        if content:
            await self.passed.wait()
            if self.before is not None:
                await self.before.ended.wait()

    def end(self) -> None:
        """Whatever became of it."""
        self.is_known, self.before = True, None  # else all of one content would be remembered, one by the other
        self.ended.set()
        self._order.forget(self)
