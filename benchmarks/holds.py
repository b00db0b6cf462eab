"""How long large pages hold the event loop: the longest step of a crawl of pages of 1 to 16 MB.

`python -m benchmarks.holds [--sizes 1,4,16] [--only table,links]`. Kinds of page: a table of numbers, a list of links
to the same site, one of links to other hosts, links with long queries, plain words. Each is crawled alone, by a process
whose event loop times every step: seconds of its own processor, so that other work on the machine counts for little.
How late a timer was that is due every 5 ms tells of threads that keep the interpreter, too; it is of use on a quiet
machine alone. Bound: 50 ms.
"""

import argparse
import asyncio
import asyncio.events
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shutil import rmtree
from types import ModuleType
from typing import Any, Final, NamedTuple, cast

from benchmarks import measure
from benchmarks.measure import WORK, Figure, Figures, run
from gregor.worker.commands import cli
from gregor.worker.run.ending import Ending
from gregor.worker.run.runtime import Runtime
from tests.web.static_server import serving

HOST: Final = "large.bench.test"
SIZES: Final = (1, 4, 16)
"""MB of a page."""
MB: Final = 1_000_000
BEAT: Final = 0.005
"""Seconds between two looks at the clock."""


def table(number: int) -> str:
    """A row of a table."""
    return f"<tr><td>{number}<td>Item {number:x}<td>{number * 7919 % 10007}.{number % 100:02}<td>in stock</tr>\n"


def links(number: int) -> str:
    """An item of a list that leads to the same site."""
    return f'<li><a href="/part/{number * 7919 % 10007}/item-{number}.html">Item {number}</a></li>\n'


def elsewhere(number: int) -> str:
    """An item of a list that leads to many hosts."""
    return f'<li><a href="https://www.site{number}.test/about?from=list">Site {number}</a></li>\n'


def queries(number: int) -> str:
    """An item of a list whose URLs have escapes and parameters."""
    return f'<li><a href="show?q=%c3%a9t%c3%a9+{number}&amp;page={number % 17}&amp;sort=up#x">Show {number}</a></li>\n'


def words(number: int) -> str:
    """A paragraph."""
    return f"<p>{' '.join(f'{(number * 31 + at) * 2654435761 % 100003:x}' for at in range(40))}</p>\n"


KINDS: Final[Mapping[str, Callable[[int], str]]] = {
    kind.__name__: kind for kind in (table, links, elsewhere, queries, words)
}


def page(kind: str, size: int) -> Iterator[str]:
    """A page of ``size`` bytes."""
    yield f"<!DOCTYPE html><meta charset=utf-8><title>{kind}</title>\n"
    number = 0
    while size > 0:
        part = KINDS[kind](number)
        yield part
        number, size = number + 1, size - len(part)


class Held(NamedTuple):
    """Seconds of processor of the longest step of an event loop, what it was, and how late a timer was at most."""

    cpu: float
    what: str
    late: float


def measured(sizes: tuple[int, ...] = SIZES, kinds: tuple[str, ...] = tuple(KINDS)) -> Figures:
    """Milliseconds of the longest step of each crawl, of processor; and of time."""
    figures: Figures = {}
    for kind in kinds:
        for size in sizes:
            longest = held(kind, size * MB)
            figures[f"holds.{kind}.{size}"] = Figure(round(1000 * longest.cpu, 1), "ms")
            figures[f"holds.late.{kind}.{size}"] = Figure(round(1000 * longest.late, 1), "ms")
            print(f"{kind} of {size} MB: {longest.what}", file=sys.stderr)
    return figures


def held(kind: str, size: int) -> Held:
    """The longest step of a crawl of one page."""
    work = WORK / "holds"
    rmtree(work, ignore_errors=True)
    folder = work / "web/www" / HOST
    folder.mkdir(parents=True)
    with (folder / "index.html").open("w") as file:
        file.writelines(page(kind, size))
    with serving(work / "web", work) as web:
        line = [
            sys.executable,
            "-m",
            "benchmarks.holds",
            "--here",
            work / "longest.json",
            web.host_table,
            work / "data",
        ]
        run(line, work / "out")
    return Held(*json.loads((work / "longest.json").read_text()))


class _Watch:
    """Times the steps of an event loop."""

    def __init__(self) -> None:
        self._cpu, self._what, self._late = 0.0, "", 0.0
        self._run: Callable[[asyncio.Handle], Any] = asyncio.events.Handle._run

    def begin(self) -> None:
        """From now on."""

        def timed(handle: asyncio.Handle) -> None:
            begun = time.thread_time()
            self._run(handle)
            if (spent := time.thread_time() - begun) > self._cpu:
                self._cpu, self._what = spent, repr(handle)[:300]

        setattr(asyncio.events.Handle, "_run", timed)  # noqa: B010 - whose parameter has another name
        self._beat(time.perf_counter())

    def _beat(self, due: float) -> None:
        now = time.perf_counter()
        self._late = max(self._late, now - due)
        asyncio.get_running_loop().call_later(BEAT, self._beat, now + BEAT)

    @property
    def held(self) -> Held:
        """What was seen."""
        return Held(self._cpu, self._what, self._late)


def crawl(output: Path, host_table: str, data: str) -> None:
    """Crawl the page, timing all steps; the longest is written to ``output``."""
    sys.modules.update({"uvloop": cast(ModuleType, None)})  # its steps cannot be timed from here
    watch, started = _Watch(), Runtime.run

    async def watched(runtime: Runtime) -> Ending:
        watch.begin()  # what comes before is the start of the process, which holds up nobody
        return await started(runtime)

    setattr(Runtime, "run", watched)  # noqa: B010 - whose parameter has another name
    polite = ("--delay", "0", "--max-pages", "1", "--set", "max_body=33554432")
    code = cli.main(["crawl", f"http://{HOST}/", "--data", data, "--host-table", host_table, "--json", *polite])
    output.write_text(json.dumps(watch.held))
    raise SystemExit(code)


def main() -> None:
    parser = argparse.ArgumentParser(description="How long large pages hold the event loop.")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="MB, separated by commas")
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, separated by commas")
    parser.add_argument("--here", nargs=3, help="crawl in this process: file for the result, host table, data folder")
    options = parser.parse_args()
    if options.here:
        crawl(Path(options.here[0]), *options.here[1:])
    sizes = tuple(map(int, options.sizes.split(",")))
    measure.report(measured(sizes, tuple(options.only.split(","))))


if __name__ == "__main__":
    main()
