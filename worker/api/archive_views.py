"""What the API answers of what is kept: pages, lists of URLs, hand-overs, dead letters. Times are RFC 3339."""

from msgspec import Struct

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import Row
from gregor.worker.borders.members import HandOver
from gregor.worker.inspect.url_record import UrlRecord


class LinkView(Struct, frozen=True):
    """A link of a page, and what became of it."""

    url: str
    kind: str
    nofollow: bool
    fate: str
    text: str


class PageView(Struct, frozen=True):
    """A stored page. ``record`` tells its URL as `gregor show` does, without text and links.

    ``damage``: what is wrong with its stored body; empty when it is whole.
    """

    record: UrlRecord
    visit: int
    visits: int
    text: str
    text_cut: bool
    request_head: list[str]
    response_head: list[str]
    links: list[LinkView]
    links_total: int
    address: str
    elapsed: float
    tls_fault: str
    language: str
    damage: str


class SimilarView(Struct, frozen=True):
    """A page that is nearly the same: ``share`` of both texts is in both, ``apart`` bits of their simhashes differ."""

    url: str
    share: float
    apart: int
    title: str
    state: str


class SimilarPages(Struct, frozen=True):
    """``simhash`` as 16 hexadecimal digits; empty when the page has too little text for one."""

    simhash: str
    pages: list[SimilarView]


class Brief(Struct, frozen=True):
    """A URL in a list. ``rule``: what decided, as a line of robots.txt; empty for the answer itself."""

    url: str
    state: str
    status: int
    outcome: str
    at: str
    rule: str = ""


def brief(row: Row) -> Brief:
    """What a list says of a row."""
    at = rfc3339(row.attempts[-1].at) if row.attempts else ""
    return Brief(row.href, row.state, row.status, row.outcome, at, row.rule)


class Briefs(Struct, frozen=True):
    """Some URLs. ``complete``: no others come behind them. ``next``: the ``after`` of the next page; empty on the last
    one, or when none was found in time."""

    urls: list[Brief]
    complete: bool
    next: str = ""


class HandOvers(Struct, frozen=True):
    """Some hand-overs, the newest first. ``next``: the ``after`` of the next page; empty on the last one."""

    handovers: list[HandOver]
    next: str = ""


class LetterView(Struct, frozen=True):
    """A URL that was given up."""

    url: str
    cause: str
    detail: str
    at: str
    attempts: int


class Letters(Struct, frozen=True):
    """Some that were given up, the newest first. ``next``: the ``after`` of the next page; empty on the last one.
    A page may be short of its ``limit`` when no more were found in time."""

    letters: list[LetterView]
    next: str = ""


class Cause(Struct, frozen=True):
    """How many URLs were given up for a cause, and some of them."""

    cause: str
    count: int
    examples: list[LetterView]


class DeadLetters(Struct, frozen=True):
    """By cause, the most frequent first. ``complete``: all were counted."""

    causes: list[Cause]
    complete: bool
