"""`gregor extract`: items by rules, out of what is stored."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, Final, cast, get_args

from gregor.schemas.messages import State
from gregor.worker.base.amounts import count
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.machine import processors
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.commands.common import (
    DATA,
    Flag,
    add_selection,
    add_settings,
    positive,
    selection,
    settings,
)
from gregor.worker.commands.output import output
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.config.settings import Config
from gregor.worker.extract import cases, rules, writing
from gregor.worker.extract.tally import Tally

FORMS: Final = ("jsonl", "csv")
_PAGES_A_PROCESS: Final = 250
"""Fewer are done before another process has started."""
_SPOOLED: Final = 8 << 20
_TABLES: Final = (".xlsx", ".xls", ".ods", ".tsv", ".parquet", ".arrow", ".feather", ".sqlite", ".db", ".duckdb")
_OTHERS: Final = frozenset((*_TABLES, ".xml", ".yaml", ".yml", ".html", ".warc", ".gz", ".zip", ".zst"))
"""Endings of what would be something else than lines of JSON."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Rules, pages, place."""
    what = parser.add_mutually_exclusive_group()
    text = "a file of rules, TOML or YAML (docs/extraction.md); may be repeated; default: those of the crawl"
    what.add_argument("--rules", action="append", metavar="FILE", help=text)
    text = "apply the rules of a file to its tests: saved pages with the items that are expected; may be repeated"
    what.add_argument("--test", action="append", metavar="FILE", help=text)
    parser.add_argument("urls", nargs="*", metavar="URL", help="only these pages; default: all that are stored")
    parser.add_argument("--output", "-o", default="-", metavar="FILE", help="default: standard output")
    text = "put the items into the store, with their pages, in the place of those that the same rules made before"
    parser.add_argument("--store", action="store_true", help=text)
    text = "default: by the ending of the file's name, else jsonl"
    parser.add_argument("--format", choices=FORMS, help=text)
    text = "how many processes share the pages; default: one for each processor, fewer for few pages"
    parser.add_argument("--processes", type=positive, metavar="N", help=text)
    add_selection(parser)
    parser.add_argument("--state", choices=get_args(State), help="only of URLs in this state now")
    add_settings(parser, (*DATA, Flag("--plugin", "plugins", "FILE.py:CLASS", item=True)))


def run(arguments: argparse.Namespace) -> int:
    """Extract; what was lost goes to standard error."""
    if arguments.test:
        return _test([Path(name) for name in arguments.test])
    if arguments.rules:
        rules.read(map(Path, arguments.rules))  # what is wrong with them is said before anything is opened
    config = settings(arguments).config
    files = tuple(map(Path, arguments.rules or config.rules))
    extraction = extraction_of(config, files, ordered=False)
    if not extraction.rules and not extraction.extractors:
        raise BadInput("no rules are given, and this crawl has none: name a file with --rules")
    if arguments.output != "-" and Path(arguments.output).resolve() in {file.resolve() for file in files}:
        raise BadInput(f"cannot write {one_line(arguments.output)}: the rules stand there")
    from gregor.worker.commands.extracting import ExtractJob, run_parts  # heavy: only where a crawl is read

    job = ExtractJob(config, files, selection(arguments), tuple(arguments.urls))
    if arguments.store:
        if arguments.output != "-" or arguments.format:
            raise BadInput("with --store the items go into the store: leave --output and --format out")
        processes = 1 if job.urls else arguments.processes or asyncio.run(_processes(config))
        return _report_losses(run_parts(job._replace(stores=True), processes, lambda _: None), extraction.names)
    form = arguments.format or _form_of(arguments.output)
    processes = 1 if job.urls else arguments.processes or asyncio.run(_processes(config))
    with output(arguments.output) as file:
        if form == "jsonl":
            tally = run_parts(job, processes, file.write)
        else:
            with cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOLED)) as spool:
                tally = run_parts(job, processes, spool.write)
                spool.seek(0)
                _left_out(writing.to_csv(spool, writing.columns(extraction.rules), file))
    return _report_losses(tally, extraction.names)


def _form_of(output: str) -> str:
    """The form that the ending of a file's name says; `BadInput` for one that is not written here."""
    ending = Path(output).suffix.lower()
    if ending in (".csv", ".jsonl"):
        return ending[1:]
    if Path(output).exists() and not Path(output).is_file():  # a device or a pipe
        return "jsonl"
    if ending in _OTHERS:
        tables = "; for tables give --store, and then `gregor export parquet items`" if ending in _TABLES else ""
        raise BadInput(
            f"{one_line(output)}: items are written as jsonl or csv; --format says which, whatever the name{tables}"
        )
    return "jsonl"


async def _processes(config: Config) -> int:
    """How many are worth their start, on the processors that this process may use."""
    from gregor.worker.compose.engine import engine_of

    pages = (await engine_of(config).counted()).get("pages")
    return processors() if pages is None else max(1, min(processors(), pages // _PAGES_A_PROCESS))


def _left_out(columns: int) -> None:
    if columns:
        complain(f"{columns} columns beyond the first {writing.MOST_COLUMNS} are left out; in jsonl nothing is")


def _report_losses(tally: Tally, names: list[str]) -> int:
    for line in tally.lines(iter(names)):
        complain(line)
    complain(f"{count(tally.items, 'item')} of {count(tally.pages, 'page')}", "info")
    if tally.damaged:
        complain(
            f"damaged: {tally.damaged}; `gregor check` looks through all that is stored, and says what it can mend"
        )
    return FAILED if tally.damaged else FINISHED


def _test(files: list[Path]) -> int:
    """Every case of every file; one line for what differs, and for each case that holds none."""
    tried = failed = 0
    for file in files:
        ruleset = rules.read([file])
        for case in cases.cases(file):
            tried += 1
            wrong = list(cases.differences(ruleset, case))
            failed += bool(wrong)
            for line in wrong:
                print(one_line(f"{file}:{case.line}: {case.name}: {line}", 1000))
    if not tried:
        raise BadInput("there is no test")
    complain(f"{count(tried, 'test')}, {failed or 'none'} failed", "info")
    sys.stdout.flush()
    return FAILED if failed else FINISHED
