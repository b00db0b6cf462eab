"""How long it takes to look for near-duplicates among many pages in a data folder: processor time of one look-up.

`python -m benchmarks.near_lookup [--pages 10000000] [--folder DIR]`. Sketches are random; of those that are looked
up every other one is stored. It writes some 250 bytes a page to the folder, and needs 100 bytes a page of memory.
"""

import argparse
import random
import sqlite3
import struct
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.measure import Figure, Figures, report
from gregor.worker.adapters.embedded import sketches
from gregor.worker.adapters.embedded.folder import connect_writable
from gregor.worker.adapters.embedded.schema import SKETCHES
from gregor.worker.read.sketches import KEYS

LEAST: Final = 0.68
LOOK_UPS: Final = 4000
_CHUNK: Final = 100_000
_MARKS: Final = 32
_KEYS: Final = struct.Struct(f"<{KEYS}I")


def measured(pages: int, folder: Path) -> Figures:
    """Microseconds of a look-up: the median, and what one in a hundred takes at least."""
    connection = connect_writable(folder)
    try:
        stored = _write(connection, pages)
        chance, spent = random.Random(1), []
        for number in range(LOOK_UPS):
            sketch = chance.choice(stored) if number % 2 else chance.randbytes(4 * KEYS + _MARKS)
            begun = time.thread_time_ns()
            near = sketches.near(connection, sketch, LEAST)
            spent.append((time.thread_time_ns() - begun) / 1000)
            assert near is not None or not number % 2
        spent.sort()
        return {
            "near.look_up.median": Figure(round(spent[len(spent) // 2], 1), "us"),
            "near.look_up.p99": Figure(round(spent[len(spent) * 99 // 100], 1), "us"),
        }
    finally:
        connection.close()


def _write(connection: sqlite3.Connection, pages: int) -> list[bytes]:
    """Random sketches under random names, in the order of the tables; some of them."""
    for statement in SKETCHES:
        connection.execute(statement)
    chance = np.random.default_rng(1)
    names = np.sort(chance.integers(-(2**63), 2**63 - 1, pages, dtype=np.int64))
    keys = chance.integers(0, 2**31, (pages, KEYS), dtype=np.uint32)
    some: list[bytes] = []
    connection.execute("BEGIN")
    for start in range(0, pages, _CHUNK):
        marks = chance.bytes(_CHUNK * _MARKS)
        here = slice(start, start + _CHUNK)
        each = enumerate(zip(names[here].tolist(), keys[here].tolist(), strict=True))
        made = [
            (name, f"http://h{name % 9973}.test/{name}", _KEYS.pack(*of) + marks[at * _MARKS : (at + 1) * _MARKS])
            for at, (name, of) in each
        ]
        connection.executemany("INSERT INTO sketches VALUES (?, ?, ?)", made)
        some += [sketch for _, _, sketch in made[:: max(1, pages // 10_000)]]
    found_by = keys.reshape(-1).astype(np.int64)
    order = np.argsort(found_by, kind="stable")
    for start in range(0, len(order), _CHUNK):
        part = order[start : start + _CHUNK]
        pairs = zip(found_by[part].tolist(), names[part // KEYS].tolist(), strict=True)
        connection.executemany("INSERT OR IGNORE INTO sketch_keys VALUES (?, ?)", pairs)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return some


def main() -> None:
    parser = argparse.ArgumentParser(description="How long it takes to look for near-duplicates among many pages.")
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where the database is written; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report(measured(options.pages, Path(folder)))


if __name__ == "__main__":
    main()
