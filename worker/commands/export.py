"""`gregor export FORM [WHAT]`: pages, links and hosts, for other programs."""

import argparse
import time
from pathlib import Path
from typing import Final, get_args

import msgspec

from gregor.schemas.messages import State
from gregor.worker.archives import places
from gregor.worker.base import amounts
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.printable import one_line
from gregor.worker.borders.reader import WHOLE
from gregor.worker.commands import cursors
from gregor.worker.commands.common import (
    OpenedCrawl,
    add_selection,
    add_settings,
    octets,
    part_of,
    reading,
    run_reading,
    selection,
    settings,
)
from gregor.worker.commands.output import output
from gregor.worker.config.settings import Config
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.tables import TABLES

FORMS: Final = ("warc", "jsonl", "csv", "parquet", "sqlite", "duckdb")
_DATABASES: Final = ("sqlite", "duckdb")
_SHARED: Final = ("csv", "jsonl", "parquet")
_BINARY: Final = {"parquet": "Parquet is no text for a terminal"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Form and place."""
    text = (
        "warc: WARC 1.1, gzip per record, requests and answers; jsonl: records with text and links, an object a line; "
    )
    text += "csv, parquet, sqlite, duckdb: tables"
    parser.add_argument("form", choices=FORMS, help=text)
    text = "pages (default): each in its newest version; links, items: those of each page; hosts: sums of their URLs"
    parser.add_argument("what", nargs="?", default="pages", choices=tuple(TABLES), help=text)
    text = "default: standard output; of sqlite and duckdb the database, whose table is replaced; with --by a folder"
    parser.add_argument("--output", "-o", default="-", metavar="FILE", help=text)
    text = "items: those of this rule alone, with a typed column for each of their fields"
    parser.add_argument("--rule", metavar="NAME", help=text)
    text = "csv, jsonl, parquet: a folder for each day on which pages were fetched, or for each host"
    parser.add_argument("--by", choices=("date", "host"), help=text)
    text = "warc: files of at most so much each, as 1GB: -o site.warc.gz is site-00001.warc.gz, site-00002.warc.gz …"
    parser.add_argument("--size", type=octets, metavar="SIZE", help=text)
    parser.add_argument("--cdxj", action="store_true", help="warc: with an index beside it, site.cdxj")
    text = "warc: one WACZ of WARC files, index and list of pages; also where the name of the file ends in .wacz"
    parser.add_argument("--wacz", action="store_true", help=text)
    text = "only the I-th of N parts, so that N processes write a large crawl together, a file each"
    parser.add_argument("--part", type=part_of, default=WHOLE, metavar="I/N", help=text)
    add_selection(parser)
    text = "only what is new since the last export with this file, which says when; in a database rows are replaced"
    parser.add_argument("--cursor", metavar="FILE", help=text)
    parser.add_argument("--state", choices=get_args(State), help="only of URLs in this state now")
    text = "no page with the content, or nearly the text, of one that was stored before"
    parser.add_argument("--unique", action="store_true", help=text)
    parser.add_argument("--bodies", action="store_true", help="jsonl: with the body, decoded, in base64")
    text = "jsonl: with the page as Markdown, for language models: what is shown as content, its links absolute"
    parser.add_argument("--markdown", action="store_true", help=text)
    parser.add_argument("--headers", action="store_true", help="jsonl: with the heads of request and answer")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write them; the number of pages goes to standard error."""
    _check(arguments)
    return run_reading(_export(arguments, settings(arguments).config))


def _check(arguments: argparse.Namespace) -> None:
    """Raises `BadInput` for what does not go together."""
    form, what = arguments.form, arguments.what
    if form == "warc" and (arguments.bodies or arguments.headers):
        raise BadInput("a WARC has bodies and headers always: --bodies and --headers are for jsonl")
    if arguments.markdown and (form, what) != ("jsonl", "pages"):
        raise BadInput("--markdown is for jsonl of pages")
    if (arguments.bodies or arguments.headers) and (form, what) != ("jsonl", "pages"):
        raise BadInput("--bodies and --headers are for jsonl of pages")
    if form == "warc" and what != "pages":
        raise BadInput(f"a WARC has pages alone: {what} are for {', '.join(FORMS[1:])}")
    _check_place(arguments)
    if arguments.rule is not None and what != "items":
        raise BadInput(f"--rule is for items: gregor export {form} items --rule {one_line(arguments.rule, 100)}")
    if arguments.unique and (form == "warc" or what == "hosts"):
        raise BadInput("--unique is for pages and links as records or tables: a WARC has every answer, hosts all URLs")
    if form in _DATABASES and arguments.output == "-":
        raise BadInput(f"{form} wants the name of the database: --output FILE")
    if arguments.by and (form not in _SHARED or arguments.output == "-"):
        raise BadInput("--by is for csv, jsonl and parquet, and wants the name of a folder: --output DIR")
    if what == "hosts" and (arguments.since or arguments.cursor or arguments.changed or arguments.part != WHOLE):
        raise BadInput("hosts are summed over all of their URLs: leave --since, --cursor, --changed and --part out")
    if arguments.cursor and arguments.part != WHOLE:
        raise BadInput("--cursor is of a whole export, and --part leaves the other parts out: give one of them")
    if what in ("links", "items") and form in _DATABASES and arguments.cursor:
        raise BadInput(f"the {what} of a database are written anew each time: leave --cursor out")
    if arguments.since and arguments.cursor:
        raise BadInput("--since and --cursor both say since when: give one of them")
    if arguments.cursor and form not in _DATABASES and not arguments.by:
        _keep_before(arguments)
    if form in ("parquet", "duckdb"):
        _needed(form)


def _keep_before(arguments: argparse.Namespace) -> None:
    """Raises `BadInput` where what is new would take the place of what was exported before."""
    if arguments.output == "-" or not Path(arguments.cursor).exists():
        return
    place = arguments.output
    if arguments.form == "warc" and arguments.size is not None and not arguments.wacz:
        from gregor.worker.commands.exporting_warc import first_of

        place = first_of(place)
    if places.is_file(place):
        raise BadInput(
            f"{one_line(place)} has what was exported before, and with --cursor only what is new would be in it: name "
            "a new file each time, a folder with --by, or a database"
        )


def _check_place(arguments: argparse.Namespace) -> None:
    """Raises `BadInput` for a place that does not go with what is written."""
    several = arguments.size is not None or arguments.cdxj
    if arguments.form != "warc" and (several or arguments.wacz):
        raise BadInput("--size, --cdxj and --wacz are for warc")
    if arguments.output == "-" and several:
        raise BadInput("--size and --cdxj want the name of a file: --output site.warc.gz")
    if arguments.cdxj and (arguments.wacz or arguments.output.lower().endswith(".wacz")):
        raise BadInput("a WACZ has its index in it: leave --cdxj out")
    places.refuse_spreadsheet(arguments.output)
    if arguments.form in _DATABASES and places.is_remote(arguments.output):
        raise BadInput(f"{arguments.form} writes a database here: name a file, and copy it")
    if places.is_remote(arguments.output):
        places.place_of(arguments.output)


def _needed(form: str) -> None:
    try:
        import pyarrow  # noqa: F401 - heavy: only where it is written

        if form == "duckdb":
            import duckdb  # noqa: F401
    except ModuleNotFoundError:
        raise BadInput(f"{form} needs packages more: pip install 'gregor-crawler[export]'") from None


async def _export(arguments: argparse.Namespace, config: Config) -> int:
    now = time.time()
    wanted = msgspec.structs.replace(selection(arguments), unique=arguments.unique)
    if arguments.cursor:
        wanted = msgspec.structs.replace(wanted, since=cursors.since(arguments.cursor))
    async with reading(config) as crawl:
        if arguments.form in ("warc", "jsonl") and arguments.what == "pages":
            count = await _pages(arguments, config, crawl, wanted, now)
        else:
            from gregor.worker.commands.exporting import rows

            count = await rows(arguments, crawl.reader, wanted, now)
        if arguments.cursor:
            cursors.keep(arguments.cursor, now)
        complain(f"{amounts.count(count, arguments.what.removesuffix('s'))} exported", "info")
        return crawl.code


async def _pages(
    arguments: argparse.Namespace, config: Config, crawl: OpenedCrawl, wanted: Selection, now: float
) -> int:
    """Pages as records of their own form; how many."""
    if arguments.form == "warc":
        from gregor.worker.commands.exporting_warc import warc

        return await warc(arguments, config, crawl.reader, wanted, now)
    if arguments.by:
        from gregor.worker.commands.exporting import page_lines

        return await page_lines(arguments, crawl.reader, wanted, now)
    from gregor.worker.inspect import export

    with output(arguments.output) as file:
        parts = {"body": arguments.bodies, "headers": arguments.headers, "markdown": arguments.markdown}
        return await export.jsonl(crawl.reader, file, wanted, arguments.part, **parts)


def refused(form: str) -> str:
    """Why a form is not for a terminal; "" for one that is text."""
    return f"{_BINARY[form]}: use --output FILE, or a pipe" if form in _BINARY else ""
