"""`gregor recrawl`: visit URLs again that the crawl knows, named or chosen, whatever became of them."""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import get_args

from gregor.schemas.messages import State
from gregor.worker.base import amounts
from gregor.worker.base.batches import in_batches
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED, api_client
from gregor.worker.commands.common import Flag, given_host, reading, settings, show_count
from gregor.worker.config import kept
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings
from gregor.worker.links.configured import urls_of
from gregor.worker.operate.choose import Choice, moment, pattern
from gregor.worker.operate.control import Recrawl
from gregor.worker.operate.seeds_input import open_seeds
from gregor.worker.orders.model import By
from gregor.worker.web.urls import Url

_BATCH = 100
Ask = Callable[[list[Url]], Awaitable[Recrawl]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which URLs, why, and whom to ask."""
    parser.add_argument(
        "url", nargs="*", metavar="URL", help="a URL that the crawl has visited; - reads more of standard input"
    )
    parser.add_argument("--urls", metavar="FILE", help="more URLs, one a line; - for standard input")
    chosen = parser.add_argument_group(
        "URLs that the crawl has visited, by what holds for them; together, all must hold"
    )
    chosen.add_argument("--all", action="store_true", help="every one")
    chosen.add_argument("--host", help="of this host, with its port if not the usual one")
    chosen.add_argument("--state", choices=get_args(State), help="in this state")
    chosen.add_argument("--pattern", metavar="PATTERN", help="that match it: `*` is any text, or RE2 after `re:`")
    text = "last visited before then: an age such as 12h, 1d or 2w, or a date such as 2026-11-29"
    chosen.add_argument("--older-than", metavar="AGE", help=text)
    parser.add_argument("--dry-run", action="store_true", help="print the URLs, and ask for nothing")
    parser.add_argument("--now", action="store_true", help="crawl then, until all is visited: when no crawl runs there")
    api_client.add_arguments(parser, why=True, flags=(Flag("--plugin", "plugins", "FILE.py:CLASS", item=True),))


def run(arguments: argparse.Namespace) -> int:
    """Ask for the visits, and make them with --now."""
    in_force = settings(arguments)
    if arguments.now and not arguments.dry_run and not _worker_runs(arguments):
        _refuse_unusable(in_force)
    code, by_worker = asyncio.run(_recrawl(arguments, in_force.config))
    if arguments.now and not arguments.dry_run and not by_worker:
        from gregor.worker.commands import crawl

        parts: dict[str, object] = {"seed": [], "seeds": None, "json": False, "joins": False, "every": None}
        return crawl.run(argparse.Namespace(**{**vars(arguments), **parts})) or code
    return code


def _refuse_unusable(in_force: Settings) -> None:
    """Before anything is asked for: what the crawl could not begin with. Raises `BadInput`."""
    from gregor.worker.compose.extraction import extraction_of

    if in_force.kept is not None:
        kept.refuse_missing(in_force.kept, in_force.sources)
    extraction_of(in_force.config)


def _worker_runs(arguments: argparse.Namespace) -> bool:
    return api_client.by_api(arguments, "GET", "/api/v1/status") is not None


async def _recrawl(arguments: argparse.Namespace, config: Config) -> tuple[int, bool]:
    """The exit code, and whether a worker that runs was asked."""
    choice, by = _choice(arguments), api_client.by(arguments)
    count, unknown, by_worker = 0, list[str](), False
    async with AsyncExitStack() as stack:
        ask: Ask = _print
        if not arguments.dry_run:
            by_worker = _worker_runs(arguments)
            ask = _by_worker(arguments, by) if by_worker else await _directly(config, by, stack)
        async for batch in in_batches(_urls(arguments, config, choice), _BATCH):
            done = await ask(batch)
            count, unknown = count + done.count, unknown + list(done.unknown)
            show_count("URLs", None if arguments.dry_run else count)  # a dry run prints them
    show_count("", None)
    for url in unknown:
        complain(f"{one_line(url, 200)} has no record: `gregor seed URL` adds it, unless it waits for its first visit")
    complain(f"{amounts.count(count, 'URL')} {'would' if arguments.dry_run else 'to'} be visited again", "info")
    return FAILED if unknown else FINISHED, by_worker


def _choice(arguments: argparse.Namespace) -> Choice | None:
    """What is chosen by what holds for it; None when URLs are named only. Raises `BadInput` for nothing at all."""
    older = arguments.older_than and moment("--older-than", arguments.older_than, time.time())
    host = given_host(arguments.host)
    chosen = Choice(arguments.state, host, pattern(arguments.pattern), older)
    if chosen or arguments.all:
        return chosen
    if not arguments.url and arguments.urls is None:
        raise BadInput(
            "say which URLs: name them (- for standard input), or a file with --urls, or choose by --all, --host, "
            "--state, --pattern, --older-than"
        )
    return None


async def _urls(arguments: argparse.Namespace, config: Config, choice: Choice | None) -> AsyncIterator[Url]:
    """Those that are named, then those that are chosen."""
    urls = urls_of(config)
    for number, text in enumerate(arguments.url, start=1):
        if text != "-" and urls.parse(text) is None:
            raise BadInput(f"Number {number} is {urls.refusal(text)}: {one_line(text, 200)!r}")
    seeds = open_seeds(arguments.url, arguments.urls, sys.stdin.buffer, urls)
    try:
        for seed in seeds:
            yield seed.url
    finally:
        seeds.close()
    if choice is not None:
        async for url in _chosen(config, choice):
            yield url


async def _chosen(config: Config, choice: Choice) -> AsyncIterator[Url]:
    async with reading(config) as crawl:
        async for row in crawl.reader.rows(choice.state, choice.host):
            if choice.takes(row, crawl.urls) and (url := crawl.urls.parse(row.href)) is not None:
                yield url


async def everything(config: Config, by: By) -> int:
    """Have every URL that the crawl has visited visited again, while no crawl runs there; how many. Asking twice for
    the same visit has one effect."""
    count = 0
    async with AsyncExitStack() as stack:
        ask = await _directly(config, by, stack)
        async for batch in in_batches(_chosen(config, Choice()), _BATCH):
            count += (await ask(batch)).count
    complain(f"{amounts.count(count, 'URL')} to be visited again", "info")
    return count


async def _print(urls: list[Url]) -> Recrawl:
    print("\n".join(one_line(url.href, 2000) for url in urls))
    return Recrawl(len(urls))


def _by_worker(arguments: argparse.Namespace, by: By) -> Ask:
    async def ask(urls: list[Url]) -> Recrawl:
        body = {"urls": [url.href for url in urls], "who": by.who, "why": by.why}
        answer = api_client.by_api(arguments, "POST", "/api/v1/recrawl", body)
        if answer is None:
            raise BadInput("the API went away: give the same command again")
        return Recrawl(answer["count"], tuple(answer["unknown"]))

    return ask


async def _directly(config: Config, by: By, stack: AsyncExitStack) -> Ask:
    from gregor.worker.compose.engine import engine_of

    control = await stack.enter_async_context(engine_of(config).controlled())

    async def ask(urls: list[Url]) -> Recrawl:
        return await control.recrawl(urls, by)

    return ask
