"""`gregor export warc|jsonl`: the stored pages, for other programs."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, get_args

from gregor.schemas.messages import State
from gregor.worker.base.errors import BadInput, complain, why
from gregor.worker.base.printable import one_line
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
        with _output(arguments.output, is_warc) as file:
            if is_warc:
                said = {"agent": config.user_agent, "robots": config.robots}
                count = await export.warc(crawl.reader, file, wanted, arguments.part, **said)
            else:
                parts = {"body": arguments.bodies, "headers": arguments.headers}
                count = await export.jsonl(crawl.reader, file, wanted, arguments.part, **parts)
        complain(f"{report.count(count, 'page')} exported", "info")
        return crawl.code


@contextmanager
def _output(path: str, binary: bool) -> Iterator[BinaryIO]:
    """Standard output for "-"; a file gets its name when it is whole."""
    if path == "-":
        if binary and sys.stdout.isatty():
            raise BadInput("a WARC is no text for a terminal: use --output FILE, or a pipe")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if not path:
        raise BadInput("--output wants the name of a file")
    target = Path(path).resolve()  # a link stays a link
    if target.is_dir():
        raise BadInput(f"cannot write {one_line(path)}: it is a folder")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")  # two exports to one name do not meet
    if target.exists() and not target.is_file():  # a pipe or a device: it cannot be replaced, only written to
        with target.open("wb") as file:
            yield file
        return
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise BadInput(f"cannot write {one_line(path)}: {why(error)}") from None
    finally:
        with suppress(OSError):  # where nothing can be written there is nothing to remove
            part.unlink(missing_ok=True)
