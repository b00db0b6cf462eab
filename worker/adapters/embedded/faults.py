"""What SQLite and plain sums find wrong in a data folder, and how that is put right."""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Final

from gregor.schemas.messages import PRIORITIES
from gregor.worker.adapters.embedded import dates, requisites, sketches
from gregor.worker.adapters.embedded.slices import is_broken
from gregor.worker.borders.stock import Fault
from gregor.worker.frontier import ahead

_MOST: Final = 100

_STATES: Final = """SELECT count(*) FROM (
    SELECT state, count(*) AS urls FROM rows GROUP BY state
    EXCEPT SELECT state, urls FROM states WHERE urls > 0)"""
_TOTALS: Final = """SELECT count(*), coalesce(sum(status = 200), 0), coalesce(sum(size), 0) FROM (
    SELECT status, size, max(visit) FROM pages GROUP BY key)"""
_NAMELESS: Final = "FROM {table} WHERE NOT EXISTS (SELECT 1 FROM pages WHERE pages.key = {table}.key)"


def faults_of(connection: sqlite3.Connection, partitions: int, now: float) -> list[Fault]:
    """All of them at a time, unix seconds."""
    faults: list[Fault] = []
    for look in (_integrity, _sums, _dangling, lambda c: _log(c, partitions), lambda c: dates.faults(c, now)):
        faults += _guarded(connection, look)
    return faults


def right(connection: sqlite3.Connection, fault: Fault, now: float) -> None:
    """Do what a fault says of its mend, at a time in unix seconds. Part of a transaction."""
    match fault.place:
        case ("index", *_):
            connection.execute("REINDEX")
        case (ahead.CLOCK,):
            dates.set_back(connection, now)
        case ("totals",):
            connection.execute("DELETE FROM states")
            connection.execute("INSERT INTO states SELECT state, count(*) FROM rows GROUP BY state")
            connection.execute(f"UPDATE totals SET (pages, pages_200, bytes) = ({_TOTALS})")
            requisites.count_anew(connection)
        case ("contents",) | ("sketches",):
            connection.execute(f"DELETE {_NAMELESS.format(table=fault.place[0])}")
            if fault.place[0] == "sketches":
                sketches.drop_nameless(connection)
        case ("watermark", partition, priority):
            end = _end(connection, int(partition), int(priority))
            connection.execute(
                "UPDATE watermarks SET committed = min(committed, ?1), start = min(start, ?1)"
                " WHERE partition = ?2 AND priority = ?3",
                (end, partition, priority),
            )
        case _:
            raise ValueError(f"nothing is known to mend {fault.place}")


def _guarded(connection: sqlite3.Connection, look: Callable[[sqlite3.Connection], Iterator[Fault]]) -> list[Fault]:
    """What a look finds, as far as the file can be read: the first look says where it cannot."""
    faults: list[Fault] = []
    try:
        for fault in look(connection):
            faults.append(fault)  # noqa: PERF402 - those before an error count
    except sqlite3.Error as error:
        if not is_broken(error):
            raise
        faults.append(Fault(("file", "crawl.db"), str(error)))
    return faults


def _integrity(connection: sqlite3.Connection) -> Iterator[Fault]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if line == "ok":
            continue
        if "index" in line and not line.startswith("***"):
            yield Fault(("index", "crawl.db"), line, "made anew")
        else:
            yield Fault(("file", "crawl.db"), " ".join(line.split()))


def _sums(connection: sqlite3.Connection) -> Iterator[Fault]:
    (states,) = connection.execute(_STATES).fetchone()
    more = connection.execute(
        "SELECT count(*) FROM states WHERE urls > 0 AND state NOT IN (SELECT DISTINCT state FROM rows)"
    ).fetchone()[0]
    kept = connection.execute("SELECT pages, pages_200, bytes FROM totals").fetchone()
    counted = kept == connection.execute(_TOTALS).fetchone() and requisites.are_right(connection)
    if states or more or not counted:
        yield Fault(("totals",), "the counts of URLs or pages are not what there are", "counted anew")


def _dangling(connection: sqlite3.Connection) -> Iterator[Fault]:
    for table, what in (("contents", "contents"), ("sketches", "sketches")):
        if table == "sketches" and not sketches.are_kept(connection):
            continue
        (count,) = connection.execute(f"SELECT count(*) {_NAMELESS.format(table=table)}").fetchone()
        if count:
            yield Fault((table,), f"{count} {what} belong to pages that are not stored", "forgotten")


def _log(connection: sqlite3.Connection, partitions: int) -> Iterator[Fault]:
    for partition in range(partitions):
        for priority in PRIORITIES:
            kept = connection.execute(
                "SELECT committed, start FROM watermarks WHERE partition = ? AND priority = ?", (partition, priority)
            ).fetchone()
            committed, start = kept or (0, 0)
            end, place = _end(connection, partition, priority), (partition, priority)
            if committed > end:
                why = f"committed up to {committed}, and the log ends at {end}: what is published next is never read"
                yield Fault(("watermark", *place), why, "set back to the end")
                continue
            (there,) = connection.execute(
                "SELECT count(*) FROM records WHERE partition = ? AND priority = ? AND offset >= ?",
                (*place, max(committed, start)),
            ).fetchone()
            if there < end - max(committed, start):
                why = f"{end - max(committed, start) - there} unfinished records are missing"
                yield Fault(("log", *place), why)


def _end(connection: sqlite3.Connection, partition: int, priority: int) -> int:
    """The offset after the last record; without one the first that may come."""
    (last,) = connection.execute(
        "SELECT max(offset) FROM records WHERE partition = ? AND priority = ?", (partition, priority)
    ).fetchone()
    if last is not None:
        return int(last) + 1
    record = connection.execute(
        "SELECT start FROM watermarks WHERE partition = ? AND priority = ?", (partition, priority)
    ).fetchone()
    return int(record[0]) if record else 0
