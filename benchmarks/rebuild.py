"""How fast `gregor rebuild-seen` is: `python -m benchmarks.rebuild [--pages N] [--processes N]`.

Starts a Redis and a Cassandra of its own, fills Cassandra with the rows and contents of so many pages (each has a row
and a content of its own), and measures the command from its start to its end, its processes' start included. Prints one
JSON object.
"""

import argparse
import asyncio
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
from redis import Redis

from benchmarks.measure import processor_seconds
from gregor.schemas.messages import Row, encode
from gregor.worker.adapters.cluster import cassandra_setup
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.contents import number_of
from gregor.worker.adapters.cluster.engine import facts, keyspace
from gregor.worker.adapters.cluster.store_pages import signed
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from gregor.worker.links.configured import canonical_rules
from tests.cluster.servers import Servers, Service
from tests.cluster.servers.__main__ import config as reaching
from tests.cluster.servers.process import Process

_BATCH: Final = 2000
_ROW: Final = "INSERT INTO rows (key, host, state, data) VALUES (?, ?, ?, ?)"
_CONTENT: Final = "INSERT INTO contents (fingerprint, owner, key) VALUES (?, ?, ?)"


async def fill(config: Config, pages: int) -> None:
    """So many rows and contents."""
    canonical = canonical_rules(config).fingerprint()
    await cassandra_setup.set_up(config, keyspace(config), facts(config, canonical), {})
    cassandra, chance = await Cassandra.connect(config, keyspace(config), {}), random.Random(1)
    for at in range(0, pages, _BATCH):
        keys = [f"http://host{number % 5000}.example/page/{number}" for number in range(at, min(at + _BATCH, pages))]
        rows = [
            (key, "host.example", "fetched", encode(Row(key, key, "host.example", 1, "fetched", ""))) for key in keys
        ]
        await cassandra.write_each(_ROW, rows)
        contents = [(chance.randbytes(16), signed(number_of(key)), key) for key in keys]
        await cassandra.write_each(_CONTENT, contents)
    await cassandra.close()


def measure(file: Path, processes: int) -> tuple[float, float]:
    """Seconds that the command takes, and of how many it uses a processor."""
    command = "import sys; from gregor.worker.commands.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["rebuild-seen", "--config", str(file), "--processes", str(processes)]
    began, used = time.monotonic(), _used()
    subprocess.run([sys.executable, "-c", command, *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began, _used() - used


def _used() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def _of_servers(service: Service) -> float:
    """Seconds of a processor that it took since it started; 0 where its processes are not of this machine."""
    return sum(processor_seconds(node.group) for node in service.nodes if isinstance(node, Process))


def run(pages: int, processes: list[int]) -> dict[str, Any]:
    """Pages a second by the number of processes, each over an empty Redis."""
    with Servers() as servers, TemporaryDirectory() as folder:
        redis, cassandra = servers.get("redis"), servers.get("cassandra")
        file = Path(folder) / "gregor.toml"
        reached = reaching({"redis": redis.addresses, "cassandra": cassandra.addresses})
        nowhere = 'kafka = ["127.0.0.1:1"]\nzookeeper = ["127.0.0.1:1"]\n'
        file.write_text(f'{reached}\n{nowhere}crawl = "rebuilt"\npartitions = 64\n')
        config = load(str(file), {}, ()).config
        asyncio.run(fill(config, pages))
        host, _, port = redis.addresses[0].rpartition(":")
        results: dict[str, Any] = {"pages": pages}
        for number in processes:
            with Redis(host, int(port)) as client:
                client.flushall()
            before = [_of_servers(service) for service in (redis, cassandra)]
            seconds, used = measure(file, number)
            spent = [_of_servers(service) - was for service, was in zip((redis, cassandra), before, strict=True)]
            results[f"{number} processes"] = {
                "seconds": round(seconds, 2),
                "pages_second": round(pages / seconds),
                "processor_seconds": {
                    "command": round(used, 2),
                    "redis": round(spent[0], 2),
                    "cassandra": round(spent[1], 2),
                },
            }
    return results


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rebuild")
    parser.add_argument("--pages", type=int, default=500_000)
    parser.add_argument("--processes", type=int, action="append")
    arguments = parser.parse_args()
    print(msgspec.json.encode(run(arguments.pages, arguments.processes or [1, 2])).decode())


if __name__ == "__main__":
    main()
