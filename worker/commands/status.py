"""`gregor status`: the workers of a crawl, who owns what, how much is unfinished; on one machine, the counts."""

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED, ordering
from gregor.worker.commands.common import DATA, add_settings, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.engine import ClusterStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How it is printed, and settings."""
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--api", metavar="URL", help="a worker's API; default: where listen says, if one answers there")
    add_settings(parser, DATA)


def run(arguments: argparse.Namespace) -> int:
    """Look once."""
    from gregor.worker.compose import engines, servers

    config = settings(arguments).config
    if config.engine == "embedded":
        return _counts(asyncio.run(engines.kept(config)), arguments.json, _live(arguments, config))
    status = asyncio.run(servers.cluster_status(config))
    if arguments.json:
        sys.stdout.buffer.write(url_record.encode(_public(status)) + b"\n")
    else:
        _print(status)
    return FINISHED


def _live(arguments: argparse.Namespace, config: Config) -> dict[str, Any] | None:
    """What the worker on this data folder says of itself; None when none can be asked."""
    try:
        answer: dict[str, Any] = ordering.ask(arguments, config, "GET", "/api/v1/status")
    except ordering.NotThere as error:
        if arguments.api:
            raise BadInput(str(error)) from None
        return None
    return answer


def _counts(kept: dict[str, int], as_json: bool, live: dict[str, Any] | None) -> int:
    if as_json:
        worker = {} if live is None else {"worker": live}
        sys.stdout.buffer.write(url_record.encode({**kept, **worker}) + b"\n")
    else:
        if live is not None:
            now, rates = live["now"], live["rates"]
            print(one_line(f"{now['state']}, {rates['pages']:.1f} pages/s, limited by {now['limiting']}"))
        for name, count in sorted(kept.items()):
            print(f"{name:<12} {count}")
    return FINISHED


def _public(status: "ClusterStatus") -> dict[str, object]:
    return {
        "workers": [
            {
                "name": worker.name,
                "partitions": len(worker.partitions),
                "queued": sum(worker.queued.values()),
                "running": worker.running,
                "rates": worker.rates,
                "limiting": worker.limiting,
            }
            for worker in status.workers
        ],
        "partitions": [
            {
                "partition": partition,
                "owner": status.owners.get(partition, (None, None))[0],
                "epoch": status.owners.get(partition, (None, None))[1],
                "lag": lag,
                "queued": status.queued(partition),
            }
            for partition, lag in sorted(status.lag.items())
        ],
    }


def _print(status: "ClusterStatus") -> None:
    print(f"{'WORKER':<32} {'PARTITIONS':>10} {'QUEUED':>8} {'RUNNING':>8} {'PAGES/S':>8}  LIMITED BY")
    for worker in status.workers:
        queued, rate = sum(worker.queued.values()), worker.rates.get("pages", 0.0)
        print(
            f"{one_line(worker.name, 32):<32} {len(worker.partitions):>10} {queued:>8} {worker.running:>8} "
            f"{rate:>8.1f}  {one_line(worker.limiting)}"
        )
    print(f"\n{'PARTITION':>9} {'EPOCH':>6} {'LAG':>10} {'QUEUED':>8}  OWNER")
    for partition, lag in sorted(status.lag.items()):
        owner, epoch = status.owners.get(partition, ("nobody", 0))
        print(f"{partition:>9} {epoch:>6} {lag:>10} {status.queued(partition):>8}  {one_line(owner)}")
