"""`gregor status`: what a crawl has done so far, its workers, who owns what, how much is unfinished.

Of servers that are away it says so (exit code 1), and what the others know.
"""

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from gregor.worker.base import amounts
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED, api_client
from gregor.worker.commands.common import DATA, add_settings, settings
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import ERROR, STATE, TOTALS, of_kind
from gregor.worker.inspect import url_record

if TYPE_CHECKING:
    from gregor.worker.borders.members import ClusterStatus, WorkerStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How it is printed, and settings."""
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--api", metavar="URL", help="a worker's API; default: where listen says, if one answers there")
    add_settings(parser, DATA)


def run(arguments: argparse.Namespace) -> int:
    """Look once."""
    from gregor.worker.borders.members import FolderStatus
    from gregor.worker.compose.engine import engine_of

    config = settings(arguments).config
    status = asyncio.run(engine_of(config).status())
    if isinstance(status, FolderStatus):
        return _counts(status.counts, arguments.json, _live(arguments, config))
    if arguments.json:
        sys.stdout.buffer.write(url_record.encode(_public(status)) + b"\n")
    else:
        _print(status)
    return FAILED if status.away else FINISHED


def _live(arguments: argparse.Namespace, config: Config) -> dict[str, Any] | None:
    """What the worker on this data folder says of itself; None when none can be asked."""
    try:
        answer: dict[str, Any] = api_client.ask(arguments, config, "GET", "/api/v1/status")
    except api_client.NotThere as error:
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
    """For programs: null for what nobody tells."""
    workers, owners = status.workers, status.owners
    return {
        "counts": status.counts,
        "away": status.away,
        "workers": None
        if workers is None
        else [
            {
                "name": worker.name,
                "partitions": len(worker.partitions),
                "queued": sum(worker.queued.values()),
                "running": worker.running,
                "rates": worker.rates,
                "limiting": worker.limiting,
            }
            for worker in workers
        ],
        "partitions": [
            {
                "partition": partition,
                "owner": (owners or {}).get(partition, (None, None))[0],
                "epoch": (owners or {}).get(partition, (None, None))[1],
                "lag": None if status.lag is None else status.lag[partition],
                "queued": None if workers is None else status.queued(partition),
            }
            for partition in _partitions(status)
        ],
    }


def _partitions(status: "ClusterStatus") -> list[int]:
    return sorted({*(status.lag or {}), *(status.owners or {})})


def _print(status: "ClusterStatus") -> None:
    for text in status.away.values():
        print(one_line(text))
    if status.counts is not None:
        _print_counts(status.counts)
    if status.lag is not None:
        print(f"{'unfinished':<12} {amounts.count(sum(status.lag.values()), 'record')} of the frontier")
    if status.workers is not None:
        _print_workers(status.workers)
    partitions = _partitions(status)
    if partitions:
        print(f"\n{'PARTITION':>9} {'EPOCH':>6} {'LAG':>10} {'QUEUED':>8}  OWNER")
    for partition in partitions:
        owner, epoch = ("?", "?") if status.owners is None else status.owners.get(partition, ("nobody", 0))
        lag = "?" if status.lag is None else status.lag[partition]
        queued = "?" if status.workers is None else status.queued(partition)
        print(f"{partition:>9} {epoch:>6} {lag:>10} {queued:>8}  {one_line(owner)}")


def _print_counts(counts: dict[str, int]) -> None:
    """Of the whole crawl: the totals, then what each kind comes to."""
    for name in TOTALS:
        print(f"{name:<12} {counts.get(name, 0)}")
    for kind in (STATE, ERROR):
        of_this_kind = of_kind(counts, kind)
        if of_this_kind:
            print(
                f"{kind.strip() + 's':<12} "
                + ", ".join(f"{count} {one_line(name)}" for name, count in of_this_kind.items())
            )


def _print_workers(workers: "list[WorkerStatus]") -> None:
    print(f"\n{'WORKER':<32} {'PARTITIONS':>10} {'QUEUED':>8} {'RUNNING':>8} {'PAGES/S':>8}  LIMITED BY")
    for worker in workers:
        queued, rate = sum(worker.queued.values()), worker.rates.get("pages", 0.0)
        print(
            f"{one_line(worker.name, 32):<32} {len(worker.partitions):>10} {queued:>8} {worker.running:>8} "
            f"{rate:>8.1f}  {one_line(worker.limiting)}"
        )
