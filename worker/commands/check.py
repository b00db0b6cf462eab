"""`gregor check`: whether all that a crawl stored is whole and fits together; with `--index` whether its index has what
is stored. With `--mend` what can be mended is.

Exit code 1 when something is wrong, and was not mended.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from gregor.worker.base import amounts
from gregor.worker.base.errors import complain
from gregor.worker.base.printable import one_line
from gregor.worker.base.terminal import redraws
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.commands.common import Damages, add_settings, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record

if TYPE_CHECKING:
    from gregor.worker.inspect.check import StockFinding

_LISTED = 1000
_EVERY = 0.5
_ONE = {"bodies": "body"}
_MENDS = {
    "drop": "delete it",
    "rebuild": "make its row anew, and visit it again",
    "ask again": "visit it again",
    "fetch again": "fetch it again",
    "mark": "mark them",
    "index": "write it anew",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Form, and whether to mend."""
    parser.add_argument("--mend", action="store_true", help="mend what can be; on one machine while no crawl runs")
    text = "compare the index with what is stored instead, by URL and version"
    parser.add_argument("--index", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="one JSON object a finding, on a line each")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look at everything."""
    check = _check_index if arguments.index else _check
    return asyncio.run(check(settings(arguments).config, mend=arguments.mend, as_json=arguments.json))


async def _check(config: Config, *, mend: bool, as_json: bool) -> int:
    from gregor.worker.compose.check import checking

    telling, mended = _Telling(sys.stderr, as_json=as_json), 0
    while True:
        before = mended
        async with checking(config, telling.progress, mend=mend) as opened:
            telling.sizes = opened.sizes
            to_mend: list[StockFinding] = []
            async for finding in opened.check.findings():
                telling.tell(finding)
                if finding.mend and opened.mender is not None:
                    to_mend.append(finding)
            mended += await opened.mender.mend_all(to_mend) if opened.mender is not None else 0
            telling.end(opened.check.counts)
        if not (opened.check.unnamed and mended > before):
            break
        complain(f"{mended} mended, {opened.check.unnamed} more were not named: it looks again")
    left = sum(telling.kinds.values()) - mended + opened.check.unnamed
    if opened.check.unnamed:
        complain(f"{opened.check.unnamed} more seem to be missing; once these are mended the next look names more")
    if mend:
        complain(
            f"{mended} mended; `gregor crawl` or the workers fetch again what is missing" if mended else "0 mended"
        )
    elif telling.mendable:
        complain(f"{telling.mendable} can be mended: `gregor check --mend`")
    return FAILED if left else FINISHED


async def _check_index(config: Config, *, mend: bool, as_json: bool) -> int:
    from gregor.worker.compose.comparing import comparing
    from gregor.worker.inspect.check import StockFinding

    telling, damages = _Telling(sys.stderr, as_json=as_json), Damages()
    async with comparing(config, telling.progress, damages) as opened:
        differences = await opened.comparison.differences()
        for each in differences:
            telling.tell(StockFinding((each.kind, each.key), each.why, "index" if each.key else "", each.key))
        telling.end(opened.comparison.counts)
        if opened.behind:
            behind = amounts.count(opened.behind, "change")
            complain(f"the index is {behind} behind the crawl, and nobody takes them in: `gregor index` does")
        left = differences
        if mend and differences:
            await opened.mend(differences)
            left = await opened.comparison.again(differences)
            complain(f"{len(differences) - len(left)} mended" + (f", {len(left)} not" if left else ""))
        elif differences:
            complain(f"{telling.mendable} can be mended: `gregor check --index --mend`")
    damages.advise()
    return FAILED if left or damages.count else FINISHED


class _Telling:
    """Tells findings on standard output, and how far it is on a terminal."""

    def __init__(self, terminal: TextIO, *, as_json: bool) -> None:
        self._terminal = terminal
        self._shows = redraws(terminal)
        self._json = as_json
        self._last = 0.0
        self._began = time.monotonic()
        self.kinds: Counter[str] = Counter()
        self.mendable = 0
        self.sizes: dict[str, int] = {}

    def progress(self, what: str, count: int) -> None:
        """So many were looked at."""
        now = time.monotonic()
        if self._shows and now - self._last > _EVERY:
            self._last = now
            of_all = f" of {self.sizes[what]}" if what in self.sizes else ""
            print(f"\r\x1b[K{what}: {count}{of_all}", end="", file=self._terminal, flush=True)

    def tell(self, finding: "StockFinding") -> None:
        """Tell one; beyond a thousand they are only counted."""
        self.kinds[str(finding.place[0])] += 1
        self.mendable += bool(finding.mend)
        self._clear()
        if self._json:
            sys.stdout.buffer.write(url_record.encode(_public(finding)) + b"\n")
        elif sum(self.kinds.values()) <= _LISTED:
            can = _MENDS.get(finding.mend) or (finding.fault.mend if finding.fault is not None else "")
            mend = f"; can be mended: {can}" if can else "; cannot be mended here"
            where = " ".join(map(str, finding.place))
            print(f"{one_line(where, 500)}: {one_line(finding.why, 300)}{mend}")

    def end(self, counts: dict[str, int]) -> None:
        """The sums."""
        self._clear()
        if self._json:
            return
        if (more := sum(self.kinds.values()) - _LISTED) > 0:
            print(f"… and {more} more")
        looked = ", ".join(
            amounts.count(count, _ONE.get(what) or what.removesuffix("s")) for what, count in counts.items()
        )
        print(f"looked at {looked or 'nothing'} in {time.monotonic() - self._began:.1f} s")
        by_kind = ", ".join(f"{count} of {what}" for what, count in self.kinds.most_common())
        print(f"{amounts.count(sum(self.kinds.values()), 'fault')}: {by_kind}" if self.kinds else "all is whole")

    def _clear(self) -> None:
        if self._shows:
            print("\r\x1b[K", end="", file=self._terminal, flush=True)


def _public(finding: "StockFinding") -> dict[str, object]:
    return {"place": list(finding.place), "why": finding.why, "mend": finding.mend or None, "key": finding.key or None}
