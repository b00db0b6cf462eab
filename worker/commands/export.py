"""`gregor export warc|jsonl`: the stored pages, for other programs."""

import argparse
from typing import get_args

from gregor.schemas.messages import State
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.borders.reader import WHOLE
from gregor.worker.commands.common import (
    add_selection,
    add_settings,
    part_of,
    reading,
    run_reading,
    selection,
    settings,
)
from gregor.worker.commands.output import output
from gregor.worker.config.settings import Config
from gregor.worker.inspect import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Form and place."""
    text = "warc: WARC 1.1, gzip per record, requests and answers; jsonl: records with text and links, an object a line"
    parser.add_argument("form", choices=("warc", "jsonl"), help=text)
    parser.add_argument("--output", "-o", default="-", metavar="FILE", help="default: standard output")
    text = "only the I-th of N parts, so that N processes write a large crawl together, a file each"
    parser.add_argument("--part", type=part_of, default=WHOLE, metavar="I/N", help=text)
    add_selection(parser)
    parser.add_argument("--state", choices=get_args(State), help="only of URLs in this state now")
    parser.add_argument("--bodies", action="store_true", help="jsonl: with the body, decoded, in base64")
    parser.add_argument("--headers", action="store_true", help="jsonl: with the heads of request and answer")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write them; the number of pages goes to standard error."""
    if arguments.form == "warc" and (arguments.bodies or arguments.headers):
        raise BadInput("a WARC has bodies and headers always: --bodies and --headers are for jsonl")
    return run_reading(_export(arguments, settings(arguments).config))


async def _export(arguments: argparse.Namespace, config: Config) -> int:
    from gregor.worker.inspect import export

    wanted, is_warc = selection(arguments), arguments.form == "warc"
    async with reading(config) as crawl:
        refused = "a WARC is no text for a terminal: use --output FILE, or a pipe" if is_warc else ""
        with output(arguments.output, refused) as file:
            if is_warc:
                said = {"agent": config.user_agent, "robots": config.robots}
                count = await export.warc(crawl.reader, file, wanted, arguments.part, **said)
            else:
                parts = {"body": arguments.bodies, "headers": arguments.headers}
                count = await export.jsonl(crawl.reader, file, wanted, arguments.part, **parts)
        complain(f"{report.count(count, 'page')} exported", "info")
        return crawl.code
