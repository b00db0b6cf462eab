"""`gregor changes`: which pages are new, changed or gone since a moment; as a list for people or as JSON lines."""

import argparse
import time
from collections import Counter

from msgspec import Struct

from gregor.schemas.events import rfc3339
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands import cursors
from gregor.worker.commands.common import add_settings, given_host, reading, run_reading, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect.changes import KINDS, PageChange, changes
from gregor.worker.inspect.url_record import encode
from gregor.worker.operate.choose import moment

_HEAD = f"{'CHANGE':<8} {'STATUS':>6} {'SEEN':<20}  URL"


class ChangeRecord(Struct, frozen=True):
    """One page, as in JSON. ``status`` and ``state`` are of the last visit, ``version`` of the newest document,
    ``version_before`` of the one that was there at the moment asked for: `gregor show --version` shows either."""

    change: str
    url: str
    seen_at: str
    status: int | None
    state: str
    version: int
    version_before: int | None
    title: str | None
    host: str
    key: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Since when, of what, and in which form."""
    text = "against what was there then: an age such as 12h or 2d, or a date (2026-11-29)"
    parser.add_argument("--since", metavar="TIME", help=text)
    text = "against what was there at the last time with this file, which is written anew; all is new at the first time"
    parser.add_argument("--cursor", metavar="FILE", help=text)
    parser.add_argument("--host", help="only pages of this host, with its port if not the usual one")
    parser.add_argument(
        "--only", choices=KINDS, metavar="|".join(KINDS), help="only such changes; may be repeated", action="append"
    )
    parser.add_argument("--json", "--jsonl", action="store_true", dest="json", help="one JSON object a line")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """List them."""
    if (arguments.since is None) == (arguments.cursor is None):
        raise BadInput("say since when: --since 2d, or --cursor FILE for what changed since the last time")
    now = time.time()
    if arguments.cursor is None:
        since = moment("--since", arguments.since, now)
    else:
        since = cursors.since(arguments.cursor) or 0.0
    host = given_host(arguments.host)
    code = run_reading(_list(arguments, settings(arguments).config, since, host))
    if arguments.cursor is not None:
        cursors.keep(arguments.cursor, now)
    return code


async def _list(arguments: argparse.Namespace, config: Config, since: float, host: str | None) -> int:
    wanted, counts = arguments.only or KINDS, Counter[str]()
    async with reading(config) as crawl:
        if not arguments.json:
            print(_HEAD)
        async for change in changes(crawl.reader, since, host):
            if change.kind in wanted:
                counts[change.kind] += 1
                _write(change, arguments.json)
        numbers = ", ".join(f"{counts[kind]} {kind}" for kind in wanted)
        complain(f"{numbers} since {rfc3339(since)[:19]}Z" if since else f"{numbers}, of all that is there", "info")
        return crawl.code


def _write(change: PageChange, as_json: bool) -> None:
    """One line on standard output."""
    row, page = change.row, change.page
    if as_json:
        record = ChangeRecord(
            change=change.kind,
            url=row.href,
            seen_at=rfc3339(change.at),
            status=row.status or None,
            state=row.state,
            version=page.visit,
            version_before=change.before,
            title=page.title,
            host=row.host,
            key=row.key,
        )
        print(encode(record).decode())
    else:
        print(f"{change.kind:<8} {row.status or '':>6} {rfc3339(change.at)[:19]}Z  {one_line(row.href, 2000)}")
