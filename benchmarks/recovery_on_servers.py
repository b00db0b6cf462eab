"""What the commands take by which something of a crawl on servers is brought back, looked through or taken away.

`python -m benchmarks.recovery_on_servers [--pages 20000] [COMMAND...]`. Starts servers of its own, has the pages stored
as their owners do it (without sketches, as versions before these stored them), and runs the commands one after another.
Links of the pages lead to URLs that nobody knows: `check` finds them, `check --mend` mends them. Seconds of each, and
of these how many of a processor: the rest is the servers.
"""

import argparse
import asyncio
import io
import tempfile
from collections.abc import AsyncIterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from benchmarks.exporting import documents
from benchmarks.measure import GREGOR, Figure, Figures, report, run
from gregor.schemas.messages import DeadLetter, Page, Row, url_fingerprint
from gregor.worker.adapters.cluster import engine as cluster
from gregor.worker.base.streams import in_order
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from gregor.worker.links.configured import canonical_rules
from tests.cluster.servers import Servers
from tests.cluster.servers.__main__ import config as reaching

SERVERS: Final = ("kafka", "zookeeper", "redis", "cassandra")
COMMANDS: Final = {
    "check": ("check",),
    "mend": ("check", "--mend"),
    "near": ("rebuild-near",),
    "seen": ("rebuild-seen",),
    "audit": ("audit",),
    "letters": ("deadletters",),
    "retry": ("deadletters", "--retry"),
    "recrawl": ("recrawl", "--all"),
    "optout": ("optout", "host1.test", "--wait", "0"),
}
"""In the order in which they can be run on one crawl."""
LINKS: Final = 20
GIVEN_UP: Final = 20
"""One of so many URLs has a dead letter."""
FOUND: Final = 1
"""How `check` and `audit` end that found something."""
_AT_ONCE: Final = 256


def measured(pages: int = 20_000, links: int = LINKS, names: Sequence[str] = tuple(COMMANDS)) -> Figures:
    """Seconds by command, and seconds of processor of the command alone."""
    figures: Figures = {}
    with Servers() as servers, tempfile.TemporaryDirectory() as folder:
        file, output = Path(folder) / "gregor.toml", Path(folder) / "output"
        addresses = reaching({name: servers.get(name).addresses for name in SERVERS})
        file.write_text(f'{addresses}\ncrawl = "recovered"\npartitions = 64\nscope = "any"\n')
        run([GREGOR, "init", "--config", file], output)
        asyncio.run(fill(load(str(file), {}, ()).config, pages, links))
        for name in names:
            cost = run([GREGOR, *COMMANDS[name], "--config", file], output, codes=(0, FOUND))
            figures[f"recovery_on_servers.{name}"] = Figure(round(cost.wall, 1), "s")
            figures[f"recovery_on_servers.{name}.processor"] = Figure(round(cost.cpu, 1), "s")
    return figures


async def fill(config: Config, pages: int, links: int) -> None:
    """So many pages, each with its body, its content, its row and its mark."""
    rules = canonical_rules(config).fingerprint()
    engine = await cluster.open_engine(config, rules, "fill", SystemClock(), {})
    stamp = 1

    async def stored(some: tuple[int, Page, Row, bytes]) -> int:
        number, page, row, body = some
        page.links = page.links[:links]
        await engine.store.put_page(page, io.BytesIO(body), None, stamp)
        await engine.seen.claim(bytes.fromhex(page.body[:32]), page.key)
        if number % GIVEN_UP == 0:
            row = replace(row, state="dead", page=0)
            letter = DeadLetter(row.key, row.href, row.host, "timeout", "no answer", 1_700_000_000.0)
            await engine.store.put_dead_letter(letter)
        await engine.store.put_rows([row], stamp)
        return url_fingerprint(row.key)

    async def numbered() -> AsyncIterator[tuple[int, Page, Row, bytes]]:
        for number, (page, row, body) in enumerate(documents(pages)):
            yield number, page, row, body

    try:
        marks = [mark async for mark in in_order(numbered(), stored, _AT_ONCE)]
        unmarked = iter(marks)
        while some := list(islice(unmarked, 1000)):
            await engine.seen.mark(some)
    finally:
        await engine.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", nargs="*", choices=[*COMMANDS, []], help="default: all")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--links", type=int, default=LINKS, help="of each page, all to URLs that nobody knows")
    arguments = parser.parse_args()
    report(measured(arguments.pages, arguments.links, arguments.command or tuple(COMMANDS)))


if __name__ == "__main__":
    main()
