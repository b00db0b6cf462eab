"""The endpoints of what is done once: seeds, another visit, dead letters, a stop; and the record of all changes."""

from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from starlette.requests import Request

from gregor.worker.api.backend import Backend
from gregor.worker.api.endpoint import V1, Endpoint, Reason, by
from gregor.worker.api.requests import body, query
from gregor.worker.base.errors import BadInput
from gregor.worker.operate.control import Recrawl
from gregor.worker.operate.dead_letters import Treated
from gregor.worker.operate.seeds import Seed
from gregor.worker.orders.model import NEWEST, Change
from gregor.worker.web.urls import Url

_MOST: Final = 1000
_MOST_BODY: Final = 1024 * 1024
_Text = Annotated[str, Meta(max_length=8192)]


class SeedGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A URL to start from; its label travels to every page that is found from it."""

    url: _Text
    label: Annotated[str, Meta(max_length=1000)] = ""
    depth: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    priority: Annotated[int, Meta(ge=1, le=4)] | None = None


class SeedsGiven(Reason, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Seeds; all are published, or none."""

    seeds: Annotated[list[SeedGiven], Meta(min_length=1, max_length=_MOST)]


class UrlsGiven(Reason, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """URLs that the crawl knows."""

    urls: Annotated[list[_Text], Meta(min_length=1, max_length=_MOST)]


class LettersGiven(Reason, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which dead letters: those of a cause, of some URLs, of both; else all."""

    cause: Annotated[str, Meta(max_length=200)] | None = None
    urls: Annotated[tuple[_Text, ...], Meta(max_length=_MOST)] = ()


class Count(msgspec.Struct, frozen=True):
    """How many."""

    count: int


class Stopping(msgspec.Struct, frozen=True):
    """What happens."""

    ok: bool
    detail: str


class ChangesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``before``: only those with a lower number; 0: from the newest on."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    before: Annotated[int, Meta(ge=0, le=NEWEST)] = 0


class Changes(msgspec.Struct, frozen=True):
    """Some changes, the newest first. ``next``: the ``before`` of the next page; 0 on the last one."""

    changes: list[Change]
    next: int = 0


async def _seed(backend: Backend, request: Request) -> Count:
    given = await body(request, SeedsGiven, _MOST_BODY)
    urls = _urls(backend, (one.url for one in given.seeds))
    seeds = [Seed(url, one.label, one.depth, one.priority) for url, one in zip(urls, given.seeds, strict=True)]
    return Count(await backend.seed(seeds, by(backend, request, given)))


async def _recrawl(backend: Backend, request: Request) -> Recrawl:
    given = await body(request, UrlsGiven, _MOST_BODY)
    return await backend.control.recrawl(_urls(backend, given.urls), by(backend, request, given))


async def _retry(backend: Backend, request: Request) -> Treated:
    given = await body(request, LettersGiven, _MOST_BODY)
    return await backend.control.retry_dead(given.cause, _keys(backend, given), by(backend, request, given))


async def _drop(backend: Backend, request: Request) -> Treated:
    given = await body(request, LettersGiven, _MOST_BODY)
    return await backend.control.drop_dead(given.cause, _keys(backend, given), by(backend, request, given))


async def _stop(backend: Backend, request: Request) -> Stopping:
    reason = await body(request, Reason)
    await backend.stop(by(backend, request, reason))
    return Stopping(True, "the worker stops; nothing is lost")


async def _changes(backend: Backend, request: Request) -> Changes:
    asked = query(request, ChangesQuery)
    found = await backend.control.changes(asked.before or NEWEST, asked.limit)
    return Changes(found, found[-1].number if len(found) == asked.limit else 0)


def _urls(backend: Backend, texts: Iterable[str]) -> list[Url]:
    urls = []
    for number, text in enumerate(texts, start=1):
        if (url := backend.archive.urls.parse(text)) is None:
            raise BadInput(f"number {number} is not an http(s) URL")
        urls.append(url)
    return urls


def _keys(backend: Backend, given: LettersGiven) -> list[str]:
    return [url.key for url in _urls(backend, given.urls)]


ENDPOINTS: Final = (
    Endpoint("POST", f"{V1}/seeds", "operator", "Add seeds", _seed, Count, SeedsGiven),
    Endpoint("POST", f"{V1}/recrawl", "operator", "Visit URLs again now, whatever their state",
             _recrawl, Recrawl, UrlsGiven),
    Endpoint("POST", f"{V1}/deadletters/retry", "operator", "Visit URLs again that were given up",
             _retry, Treated, LettersGiven),
    Endpoint("POST", f"{V1}/deadletters/drop", "operator", "Forget dead letters; their URLs stay given up",
             _drop, Treated, LettersGiven),
    Endpoint("POST", f"{V1}/stop", "operator", "End this worker cleanly", _stop, Stopping, Reason, status=202),
    Endpoint("GET", f"{V1}/changes", "viewer", "What was changed: by whom, when, why, from where",
             _changes, Changes, query=ChangesQuery),
)  # fmt: skip
