"""`gregor deadletters`: the URLs that were given up, grouped by cause; `--retry` puts them into the calendar again."""

import argparse
import sys
from collections import Counter

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import DeadLetter
from gregor.worker import records, reporting
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, reading, run_reading, settings
from gregor.worker.config import Config
from gregor.worker.deadletters import dead
from gregor.worker.errors import complain
from gregor.worker.text import one_line

_EXAMPLES = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which ones, and what to do with them."""
    parser.add_argument("--cause", help="only this cause, as the list names it")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", "--jsonl", action="store_true", dest="json", help="each one, a JSON object a line")
    what.add_argument("--retry", action="store_true", help="try those still given up again; then run `gregor crawl`")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """List or retry them."""
    config = settings(arguments).config
    return run_reading(_retry(arguments.cause, config) if arguments.retry else _list(arguments, config))


async def _list(arguments: argparse.Namespace, config: Config) -> int:
    counts: Counter[str] = Counter()
    examples: dict[str, list[DeadLetter]] = {}
    async with reading(config) as crawl:
        async for one in dead(crawl.reader, arguments.cause):
            letter = one.letter
            if arguments.json:
                sys.stdout.buffer.write(records.encode(_public(letter)) + b"\n")
                continue
            counts[letter.cause] += 1
            if counts[letter.cause] <= _EXAMPLES:
                examples.setdefault(letter.cause, []).append(letter)
    if arguments.json:
        return FINISHED
    for cause, count in counts.most_common():
        print(f"{count:>8}  {one_line(cause)}")
        for letter in examples[cause]:
            print(f"{'':>10}{one_line(letter.href or letter.source, 200)}: {one_line(letter.detail, 200)}")
    if not counts:
        print("nothing was given up")
    return FINISHED


async def _retry(cause: str | None, config: Config) -> int:
    from gregor.worker import composition

    number = await composition.retry_dead(config, cause)
    complain(f"{reporting.count(number, 'URL')} to be visited again: `gregor crawl` does it")
    return FINISHED


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
