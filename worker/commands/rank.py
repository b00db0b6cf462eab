"""`gregor rank`: how much pages and hosts are recommended by links, into the index; the first hosts are listed."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gregor.worker.base.amounts import count
from gregor.worker.base.errors import BadInput, complain, why
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.commands.common import Damages, add_settings, not_negative, settings, within
from gregor.worker.config.settings import Config

if TYPE_CHECKING:
    from gregor.search.ranking import RankedHost


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What links count, where walks begin, and what is listed."""
    text = "hosts where walks begin, a line each (PageRank personalised by trust); default: anywhere"
    parser.add_argument("--trusted", metavar="FILE", help=text)
    text = "what a link within a host counts, against one from another; default: 1"
    parser.add_argument("--same-host", type=within(0.0, 1000.0), default=1.0, metavar="WEIGHT", help=text)
    text = "what a link counts that says nofollow; default: 0"
    parser.add_argument("--nofollow", type=within(0.0, 1000.0), default=0.0, metavar="WEIGHT", help=text)
    parser.add_argument("--once-a-host", action="store_true", help="all links of a host to a page count as one")
    text = "let Spark compute (extra gregor-crawler[spark]), by this master: local[4], spark://HOST:PORT, yarn"
    parser.add_argument("--spark", metavar="MASTER", help=text)
    text = "with --spark: the folder with the tables pages and links of `gregor export parquet`"
    parser.add_argument("--tables", type=Path, metavar="DIR", help=text)
    parser.add_argument("--top", type=not_negative, default=20, metavar="N", help="hosts that are listed; default: 20")
    parser.add_argument("--json", "--jsonl", action="store_true", dest="json", help="one JSON object a line")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compute and keep them; how many links and rounds it were goes to standard error."""
    if (arguments.spark is None) != (arguments.tables is None):
        raise BadInput("--spark MASTER and --tables DIR go together")
    trusted = frozenset[str]() if arguments.trusted is None else _hosts(arguments.trusted)
    return asyncio.run(_rank(arguments, trusted, settings(arguments).config))


def _hosts(path: str) -> frozenset[str]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {one_line(path)}: {why(error)}") from None
    hosts = frozenset(line.strip().lower() for line in lines if line.strip() and not line.lstrip().startswith("#"))
    if not hosts:
        raise BadInput(f"{one_line(path)} names no host")
    return hosts


async def _rank(arguments: argparse.Namespace, trusted: frozenset[str], config: Config) -> int:
    from gregor.worker.compose.engine import engine_of

    if arguments.spark is None and config.on_one_machine:
        engine_of(config).there()  # before the extra is asked for, which would not help
    from gregor.search.ranking import LinkRules
    from gregor.worker.compose import ranks

    damages = Damages()
    rules = LinkRules(arguments.same_host, arguments.nofollow, arguments.once_a_host, trusted)
    if arguments.spark is None:
        done, changed = await ranks.rank(config, damages, rules)
    else:
        done, changed = await ranks.rank_by_spark(config, damages, rules, arguments.spark, arguments.tables)
    if trusted and not any(host.host in trusted for host in done.hosts):
        complain("no document is of a trusted host: walks begin anywhere")
    for host in done.hosts[: arguments.top]:
        _write(host, arguments.json)
    ranked = f"{count(len(done.documents), 'document')} of {count(len(done.hosts), 'host')}"
    links, rounds = count(done.links, "link"), count(done.rounds, "round")
    complain(
        f"{ranked} ranked by {links}, {rounds} (the last changed {done.change:.1e}); {changed} written anew", "info"
    )
    damages.advise()
    return FAILED if damages.count else FINISHED


def _write(host: "RankedHost", as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(host) + b"\n")
    else:
        print(f"{host.rank:.6f}  {host.harmonic:10.1f}  {host.documents:8d}  {one_line(host.host)}")
