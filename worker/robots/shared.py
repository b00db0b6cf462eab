"""What requests for robots.txt files came to, kept for the others who asked for the same file meanwhile. Pure.

Hundreds of hosts may have their file on one hub, which is asked once a turn: one answer is for all who were waiting.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from gregor.schemas.messages import Ticket
from gregor.schemas.parts import AnswerHead
from gregor.worker.robots.answers import Came, NoFile, Unreachable
from gregor.worker.web.urls import Url

KEPT: Final = 256
"""Answers."""
KEPT_BYTES: Final = 4 * 1024 * 1024
"""Their files in all."""


class Reply(msgspec.Struct, frozen=True):
    """What a request came to, the last one of a walk; ``headers`` by their lower-case names, ``head`` as kept."""

    answer: Came | NoFile | Unreachable
    headers: Mapping[str, str] = {}
    failure: str = "robots"
    head: AnswerHead | None = None

    @property
    def size(self) -> int:
        """Bytes of the file, if one came, and of the head."""
        head = len(self.head.head) if self.head is not None else 0
        return head + (len(self.answer.body) if isinstance(self.answer, Came) else 0)


class Further(msgspec.Struct, frozen=True):
    """The file is at another URL, so many ``hops`` from where it was asked for first."""

    url: Url
    hops: int


class OriginRefused(msgspec.Struct, frozen=True):
    """The origin's address is not allowed, so none of its URLs can be fetched."""

    detail: str


RequestResult: TypeAlias = Reply | Further | OriginRefused


class DatedResult(msgspec.Struct, frozen=True):
    """What a request came to, and when, unix seconds."""

    result: RequestResult
    at: float


class SharedAnswers:
    """The newest answers to those who asked for others' files, by URL and hops, since these decide with it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], DatedResult] = OrderedDict()
        self._bytes = 0

    def since(self, ticket: Ticket) -> DatedResult | None:
        """What was heard of a ticket's URL after the ticket was made."""
        heard = self._kept.get((ticket.href, ticket.hops))
        return heard if heard is not None and heard.at >= ticket.at else None

    def keep(self, ticket: Ticket, result: RequestResult, at: float) -> DatedResult:
        """Keep what a ticket's request came to, ``at`` a time, in the place of what is older."""
        place = (ticket.href, ticket.hops)
        if (older := self._kept.pop(place, None)) is not None:
            self._bytes -= _size(older)
        dated = self._kept[place] = DatedResult(result, at)
        self._bytes += _size(dated)
        while len(self._kept) > KEPT or self._bytes > KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _size(oldest)
        return dated


def _size(heard: DatedResult) -> int:
    return heard.result.size if isinstance(heard.result, Reply) else 0
