"""`gregor deadletters`: the URLs that were given up, grouped by cause; they may be visited again, or forgotten."""

import argparse
import asyncio
import sys
from collections import Counter
from typing import Literal

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import DeadLetter
from gregor.worker.base import amounts
from gregor.worker.base.errors import complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED, api_client
from gregor.worker.commands.common import reading, run_reading, settings, show_count
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record
from gregor.worker.operate.dead_letters import dead
from gregor.worker.orders.model import By

_EXAMPLES = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which ones, and what to do with them."""
    parser.add_argument("--cause", help="only this cause, as the list names it")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", "--jsonl", action="store_true", dest="json", help="each one, a JSON object a line")
    what.add_argument("--retry", action="store_true", help="have those still given up visited again")
    what.add_argument("--drop", action="store_true", help="forget them; their URLs stay given up")
    api_client.add_arguments(parser, why=True)


def run(arguments: argparse.Namespace) -> int:
    """List, retry or drop them."""
    if arguments.retry:
        complain(f"{amounts.count(_treat(arguments, 'retry'), 'URL')} to be visited again")
        return FINISHED
    if arguments.drop:
        complain(f"{amounts.count(_treat(arguments, 'drop'), 'dead letter')} dropped")
        return FINISHED
    return run_reading(_list(arguments, settings(arguments).config))


async def _list(arguments: argparse.Namespace, config: Config) -> int:
    counts: Counter[str] = Counter()
    examples: dict[str, list[DeadLetter]] = {}
    async with reading(config) as crawl:
        async for given_up in dead(crawl.reader, arguments.cause):
            letter = given_up.letter
            if arguments.json:
                sys.stdout.buffer.write(url_record.encode(_public(letter)) + b"\n")
                continue
            counts[letter.cause] += 1
            if counts[letter.cause] <= _EXAMPLES:
                examples.setdefault(letter.cause, []).append(letter)
    if arguments.json:
        return crawl.code
    for cause, count in counts.most_common():
        print(f"{count:>8}  {one_line(cause)}")
        for letter in examples[cause]:
            print(f"{'':>10}{one_line(letter.href or letter.source, 200)}: {one_line(letter.detail, 200)}")
    if not counts:
        print("nothing was given up" + (f" for the cause {one_line(arguments.cause, 80)!r}" if arguments.cause else ""))
    return crawl.code


def _treat(arguments: argparse.Namespace, verb: Literal["retry", "drop"]) -> int:
    """Retry or drop them, so many at a time as are treated in one go; how many."""
    by, count, more = api_client.by(arguments), 0, True
    body = {"cause": arguments.cause, "who": by.who, "why": by.why}
    while more:
        answer = api_client.by_api(arguments, "POST", f"/api/v1/deadletters/{verb}", body)
        if answer is None:
            return count + asyncio.run(_directly(settings(arguments).config, arguments.cause, verb, by))
        count, more = count + answer["count"], answer["more"]
        show_count("dead letters", count if more else None)
    return count


async def _directly(config: Config, cause: str | None, verb: Literal["retry", "drop"], by: By) -> int:
    from gregor.worker.compose.engine import engine_of

    count = 0
    async with engine_of(config).controlled() as control:
        async for count in control.treat_all_dead(verb, cause, by):
            show_count("dead letters", count)
    show_count("", None)
    return count


def _public(letter: DeadLetter) -> dict[str, object]:
    return {
        "url": letter.href or None,
        "key": letter.key or None,
        "host": letter.host or None,
        "cause": letter.cause,
        "detail": letter.detail,
        "at": rfc3339(letter.at),
        "attempts": letter.attempts,
        "source": letter.source or None,
    }
