"""`gregor import warc|wacz FILE…`: recorded pages taken in as if they had been fetched, without any request."""

import argparse
import asyncio
import glob
import resource
import sys
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gregor.worker.base import amounts
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.machine import processors
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED, INTERRUPTED
from gregor.worker.commands.common import (
    SCOPE,
    add_settings,
    given_host,
    positive,
    run_crawling,
    settings,
)
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record
from gregor.worker.run.signals import stopping

if TYPE_CHECKING:
    from gregor.worker.archives.files import WarcFile
    from gregor.worker.archives.importer import Imported

_RECORDS_A_PROCESS: Final = 500
"""Fewer are read before another process has started."""
_DESCRIPTORS: Final = 3
"""Of an archive that is read, at most; WACZ files whose WARC files are packed have one more for each."""
_OTHER_FILES: Final = 512
_TELL: Final = 5.0
"""Seconds between two lines that say how far it is."""
_TOLD: Final = 20
"""Damaged records that are named one by one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Form, files, and which of their pages."""
    parser.add_argument(
        "form",
        choices=("warc", "wacz"),
        help="WARC 1.0 and 1.1, compressed by gzip or not, or WACZ: what each file is, it says",
    )
    text = "Gregor's own, Common Crawl's, those of wget, Heritrix, browsertrix; a pattern (*.warc.gz) is expanded"
    parser.add_argument("files", nargs="+", metavar="FILE", help=text)
    parser.add_argument("--host", help="only pages of this host, with its port if not the usual one")
    text = "only pages within the scope: that of the crawl in the folder, or as --scope, --include and --exclude say"
    parser.add_argument("--in-scope", action="store_true", help=text)
    text = (
        "how many processes read records, beside one that writes; default: one for each processor, for few records none"
    )
    parser.add_argument("--processes", type=positive, metavar="N", help=text)
    parser.add_argument("--json", action="store_true", help="what came of it as one JSON object on standard output")
    add_settings(parser, SCOPE)


def run(arguments: argparse.Namespace) -> int:
    """Take them in; the same command goes on where it was stopped."""
    config = settings(arguments).config
    paths = _paths(arguments.files)
    _allow_files(len(paths))
    with ExitStack() as stack:
        from gregor.worker.archives.packed import opened

        try:
            files = [file for path in paths for file in opened(path, stack)]
            result = run_crawling(_import(arguments, config, files, given_host(arguments.host)))
        except KeyboardInterrupt:  # its modules are loaded, or packed files unpacked
            complain("stopped before anything was taken in: the same command begins anew")
            return INTERRUPTED
    if arguments.json:
        sys.stdout.buffer.write(url_record.encode(result) + b"\n")
    else:
        print(_as_text(result))
    if result.damaged > _TOLD:
        complain(f"{result.damaged - _TOLD} more records are damaged, and skipped")
    if result.stopped:
        complain("stopped: the same command goes on from there")
        return INTERRUPTED
    return FAILED if result.damaged else FINISHED


def _paths(words: list[str]) -> list[Path]:
    """The files that are meant, each once. Raises `BadInput`."""
    paths: dict[Path, None] = {}
    for word in words:
        if word == "-":
            raise BadInput("an import reads its files twice, so it cannot read standard input: name files")
        names = sorted(glob.iglob(word, recursive=True)) if _is_pattern(word) else [word]  # noqa: PTH207
        if not names:
            raise BadInput(f"no file is named like {one_line(word, 200)!r}")
        for name in names:
            path = Path(name)
            if path.is_dir():
                raise BadInput(f"{one_line(name)} is a folder: name its files, as {one_line(name)}/*.warc.gz")
            paths[path] = None
    return list(paths)


def _allow_files(number: int) -> None:
    """Ask the system for as many descriptors as so many archives want, which all are open: there is a usual limit of
    1024, which every process may raise as far as it is allowed to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OTHER_FILES + _DESCRIPTORS * number
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft not in (resource.RLIM_INFINITY, wanted) and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _is_pattern(word: str) -> bool:
    return glob.has_magic(word) and not Path(word).exists()


async def _import(
    arguments: argparse.Namespace, config: Config, files: "list[WarcFile]", host: str | None
) -> "Imported":
    from gregor.worker.archives.book import RecordBook
    from gregor.worker.archives.importer import AT_ONCE, AT_ONCE_ON_SERVERS, Importer
    from gregor.worker.compose.importing import taking_in

    importer = Importer(files, _Damages(), _Progress(), AT_ONCE if config.on_one_machine else AT_ONCE_ON_SERVERS)
    begun, task = False, asyncio.current_task()
    assert task is not None

    def stop() -> None:
        importer.stop()
        if not begun:  # servers, or partitions, are waited for: nothing is under way that would have to be finished
            task.cancel()

    with closing(RecordBook()) as book, stopping(stop, lambda: None, INTERRUPTED):
        try:
            await importer.note(book)
            number = arguments.processes or min(processors(), book.count // _RECORDS_A_PROCESS)
            chosen = {"scoped": arguments.in_scope, "host": host, "processes": number}
            async with taking_in(config, files, book, **chosen) as takes_in:
                begun = True
                await importer.take_in(book, takes_in)
        except asyncio.CancelledError:
            if not importer.result.stopped:
                raise
            task.uncancel()
    return importer.result


class _Damages:
    """Names the first records that are damaged."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, file: str, offset: int, why: str) -> None:
        self._count += 1
        if self._count <= _TOLD:
            complain(f"{one_line(file)}: the record at byte {offset} is skipped: {one_line(why, 300)}")


class _Progress:
    """Says now and then how far it is."""

    def __init__(self) -> None:
        self._begun = self._spoke = time.monotonic()

    def __call__(self, result: "Imported") -> None:
        now = time.monotonic()
        if now < self._spoke + _TELL:
            return
        self._spoke = now
        if not result.done:
            records = amounts.count(result.records, "record")
            complain(f"looking through {amounts.count(result.files, 'file')}: {records} so far", "info")
            return
        rate = f", {result.done / (now - self._begun):.0f} a second" if now > self._begun else ""
        complain(f"{result.done} of {result.records} records{rate}", "info")


def _as_text(result: "Imported") -> str:
    """What came of it, for a person."""
    words = {"page": "pages", "answer": "redirects and errors", "unchanged": "answers that a page is unchanged"}
    came = [f"{words[kind]} {number}" for kind in words if (number := result.taken_in[kind])]
    lines = [f"Taken in from {amounts.count(result.files, 'file')}: {', '.join(came) or 'nothing'}."]
    if result.left_out:
        lines.append(f"  left out   {_listed(result.left_out)}")
    if result.damaged:
        lines.append(f"  damaged    {result.damaged}, skipped")
    return "\n".join(lines)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{what} {number}" for what, number in counts.most_common())
