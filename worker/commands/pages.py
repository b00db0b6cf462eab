"""`gregor pages`: every URL of a crawl and what became of it, filtered; as a list for people or as JSON lines."""

import argparse
import sys
from typing import get_args

from gregor.schemas.messages import Page, State
from gregor.worker.base.printable import one_line
from gregor.worker.commands.common import (
    add_selection,
    add_settings,
    not_negative,
    reading,
    run_reading,
    selection,
    settings,
    within,
)
from gregor.worker.config.settings import Config
from gregor.worker.inspect.url_record import UrlRecord, all_records, encode

_HEAD = f"{'STATE':<10} {'STATUS':>6} {'DEPTH':>5} {'BYTES':>10} {'CHECKED':<20}  URL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Filters and form."""
    parser.add_argument("--state", choices=get_args(State), help="only URLs in this state")
    add_selection(parser)
    parser.add_argument("--language", metavar="LANG", help="only documents in it: de, or de-CH")
    parser.add_argument("--status", type=int, metavar="N", help="only URLs whose last answer had this status")
    parser.add_argument("--label", help="only URLs with this label, given to their seed")
    text = "only pages that a model has put into this class (docs/topics.md)"
    parser.add_argument("--class", dest="page_class", metavar="CLASS", help=text)
    text = "only pages of this relevance for the topic at least, from 0 to 1 (docs/topics.md)"
    parser.add_argument("--topic-min", type=within(0.0, 1.0), metavar="RELEVANCE", help=text)
    parser.add_argument("--mime", metavar="TYPE", help="only documents of this media type, e.g. text/html or image/*")
    parser.add_argument("--limit", type=not_negative, metavar="N", help="at most so many")
    parser.add_argument("--json", "--jsonl", action="store_true", dest="json", help="one JSON object a line")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """List them."""
    return run_reading(_list(arguments, settings(arguments).config))


async def _list(arguments: argparse.Namespace, config: Config) -> int:
    left = sys.maxsize if arguments.limit is None else arguments.limit
    wanted = selection(arguments)
    async with reading(config) as crawl:
        if not arguments.json:
            print(_HEAD)
        async for record, page in all_records(crawl.reader, wanted):
            if left <= 0:
                break
            if _wanted(arguments, record, page):
                left -= 1
                write(record, arguments.json)
        return crawl.code


def _wanted(arguments: argparse.Namespace, record: UrlRecord, page: Page | None) -> bool:
    return (
        arguments.status in (None, record.status)
        and arguments.label in (None, record.label)
        and arguments.page_class in (None, record.page_class)
        and (arguments.topic_min is None or (record.relevance is not None and record.relevance >= arguments.topic_min))
        and (arguments.language is None or _speaks(record.language or "", arguments.language))
        and (arguments.mime is None or (page is not None and _is_of(record.mime or "", arguments.mime.lower())))
    )


def _speaks(language: str, wanted: str) -> bool:
    """Whether a language tag is the wanted one, or a narrower one (RFC 4647 section 3.3.1)."""
    return f"{language}-".lower().replace("_", "-").startswith(f"{wanted}-".lower())


def _is_of(mime: str, wanted: str) -> bool:
    return mime.startswith(wanted.removesuffix("*")) if wanted.endswith("/*") else mime == wanted


def write(record: UrlRecord, as_json: bool) -> None:
    """One line on standard output."""
    if as_json:
        sys.stdout.buffer.write(encode(record) + b"\n")
    else:
        size = "" if record.size is None else str(record.size)
        checked = "-" if record.checked_at is None else f"{record.checked_at[:19]}Z"
        line = f"{record.state:<10} {record.status or '':>6} {record.depth:>5} {size:>10} {checked:<20}"
        print(
            f"{line}  {one_line(record.url, 2000)}"
            + (f"  -> {one_line(record.redirected_to)}" if record.redirected_to else "")
        )
