"""`gregor recrawl URL…`: visit URLs again now that the crawl knows, whatever became of them."""

import argparse
import asyncio
from collections.abc import Sequence

from gregor.worker.base.errors import complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED, api_client
from gregor.worker.commands.common import given_url, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import report
from gregor.worker.orders.model import By

_BATCH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which URLs, why, and whom to ask."""
    parser.add_argument("url", nargs="+", metavar="URL", help="a URL that the crawl has visited")
    api_client.add_arguments(parser, why=True)


def run(arguments: argparse.Namespace) -> int:
    """Ask for the visits."""
    by, count, unknown = api_client.by(arguments), 0, list[str]()
    batches = [arguments.url[at : at + _BATCH] for at in range(0, len(arguments.url), _BATCH)]
    for batch in batches:
        body = {"urls": batch, "who": by.who, "why": by.why}
        answer = api_client.by_api(arguments, "POST", "/api/v1/recrawl", body)
        if answer is None:
            count, unknown = asyncio.run(_directly(settings(arguments).config, arguments.url, by))
            break
        count, unknown = count + answer["count"], unknown + answer["unknown"]
    for url in unknown:
        complain(f"{one_line(url, 200)} has no record: `gregor seed` adds it, if it does not wait for its first visit")
    complain(f"{report.count(count, 'URL')} to be visited again")
    return FAILED if unknown else FINISHED


async def _directly(config: Config, texts: Sequence[str], by: By) -> tuple[int, list[str]]:
    from gregor.worker.compose.engine import engine_of
    from gregor.worker.links.configured import urls_of

    rules = urls_of(config)
    urls = [given_url(rules, text) for text in texts]
    async with engine_of(config).controlled() as control:
        found = await control.recrawl(urls, by)
    return found.count, list(found.unknown)
