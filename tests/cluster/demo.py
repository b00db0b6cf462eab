"""`make demo-cluster`: starts the four servers and two workers, crawls the bundled web, and takes everything down."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from gregor.worker.demo.server import serving
from tests.cluster.servers.__main__ import config
from tests.cluster.servers.session import Servers

GREGOR: Final = (sys.executable, "-m", "gregor.worker.commands.cli")
NAMES: Final = ("kafka", "zookeeper", "redis", "cassandra")
LONGEST: Final = 180.0  # seconds for the crawl
SETTINGS: Final = """
crawl = "demo"
partitions = 16
delay = 0.5
delay_factor = 0
max_crawl_delay = 1
sitemaps = true
session_timeout = 4
lease_margin = 1
"""


def demo() -> int:
    """Everything once; the exit code is that of the worst worker."""
    with Servers() as servers, serving() as web, tempfile.TemporaryDirectory(prefix="gregor-demo-") as folder:
        print("starting Kafka, ZooKeeper, Redis and Cassandra", flush=True)
        addresses = {name: servers.get(name).addresses for name in NAMES}
        table, file = Path(folder) / "hosts.table", Path(folder) / "gregor.toml"
        table.write_text("\n".join(web.host_table_lines) + "\n")
        file.write_text(f'{config(addresses)}\nhost_table = "{table}"\n{SETTINGS}')
        environment = {**os.environ, "GREGOR_CONFIG": str(file)}
        _run(environment, "init")
        _run(environment, "seed", *web.seeds)
        workers = [subprocess.Popen([*GREGOR, "worker"], env=environment, stderr=subprocess.DEVNULL) for _ in range(2)]
        try:
            time.sleep(6.0)  # for something to look at
            _run(environment, "status")
            codes = [worker.wait(LONGEST) for worker in workers]
        finally:
            for worker in workers:
                if worker.poll() is None:
                    worker.kill()
                    worker.wait()
        _run(environment, "pages")
        return max(codes)


def _run(environment: dict[str, str], *words: str) -> None:
    print(f"\n$ gregor {' '.join(words)}", flush=True)
    subprocess.run([*GREGOR, *words], env=environment, check=True, timeout=LONGEST)


if __name__ == "__main__":
    sys.exit(demo())
