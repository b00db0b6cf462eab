"""What a partition's owner counts: kept with the partition's record, so that the crawl's totals outlive workers. Pure.

Names are "pages", "pages_200", "bytes" and "requests"; "requisites" and "requisites_200", which are no pages but whose
bytes count; "state fetched" and so on, of URLs by their rows; "status 200",
of answers to pages; "error dns", of failed visits by cause; "dropped", URLs of which nothing is kept any more.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from gregor.schemas.messages import Page, Row

TOTALS: Final = ("pages", "pages_200", "bytes", "requests")
DROPPED: Final = "dropped"
STATE, STATUS, ERROR = "state ", "status ", "error "
"""What the names of each kind begin with."""
KEPT_EVERY: Final = 5
"""Checkpoints after which counts are kept at the latest: so much is uncounted when a worker dies."""


class CountsChange(NamedTuple):
    """What a stored version changes of what is counted: a URL counts as one page or requisite, by its newest version.
    Those from `pages_200` to `requisites` are told to the worker's own counters."""

    pages: int = 0
    pages_200: int = 0
    bytes: int = 0
    requisites: int = 0
    requisites_200: int = 0


NO_CHANGE: Final = CountsChange()
OPTED_OUT_RECORDS: Final = range(-8, 0)
"""Numbers of records beside those of the partitions: they hold what hosts that opted out took away, since the owners of
partitions alone write theirs."""


def opted_out_record(host: str) -> int:
    """That of what a host took away."""
    return OPTED_OUT_RECORDS[zlib.crc32(host.encode()) % len(OPTED_OUT_RECORDS)]


def change_of(before: Row | None, page: Page) -> CountsChange:
    """By the row until then. Rows that were written before they told their version's status told the last answer's."""
    now = _counted(page.requisite, page.status, page.size)
    if before is None or not before.page:
        return now
    was = _counted(before.requisite, before.kept_status or before.status, before.kept_size)
    return CountsChange(*(new - old for new, old in zip(now, was, strict=True)))


def _counted(requisite: bool, status: int, size: int) -> CountsChange:
    ok = int(status == 200)
    return CountsChange(0, 0, size, 1, ok) if requisite else CountsChange(1, ok, size)


def forgotten_counts(rows: Iterable[tuple[Row, Row]]) -> Counter[str]:
    """What it changes that hosts opted out: rows as they were, and as they are kept, without their pages."""
    counts: Counter[str] = Counter()
    for before, kept in rows:
        counts[STATE + before.state] -= 1
        counts[STATE + kept.state] += 1
        if before.page:
            count_change(counts, _lost_with(before))
    return counts


def dropped_counts(row: Row) -> Counter[str]:
    """What it changes that nothing is kept of a URL any more."""
    counts: Counter[str] = Counter({STATE + row.state: -1, DROPPED: 1})
    if row.page:
        count_change(counts, _lost_with(row))
    return counts


def _lost_with(row: Row) -> CountsChange:
    """What it changes that the stored document of a row is none any more."""
    counted = _counted(row.requisite, row.kept_status or row.status, row.kept_size)
    return CountsChange(*(-size for size in counted))


def became_page(row: Row) -> CountsChange:
    """What it changes that the stored document of a row is a requisite no more."""
    ok = int((row.kept_status or row.status) == 200)
    return CountsChange(1, ok, 0, -1, -ok) if row.page else NO_CHANGE


def count_change(counts: Counter[str], change: CountsChange) -> None:
    """Count it. What comes to nothing leaves no name behind."""
    for name, more in change._asdict().items():
        if more or name in ("pages", "pages_200", "bytes"):
            counts[name] += more


def count_settled(counts: Counter[str], before: Row | None, after: Row, page: Page | None, cause: str) -> None:
    """Count a visit that was settled; ``before``: the URL's row until then."""
    if before is not None:
        counts[STATE + before.state] -= 1
    counts[STATE + after.state] += 1
    if cause:
        counts[ERROR + cause] += 1
    if page is not None:
        count_change(counts, change_of(before, page))
        counts[f"{STATUS}{page.status}"] += 1
    elif before is not None and before.page and not after.page:  # its host opted out
        count_change(counts, _lost_with(before))


def added(kept: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Both together, without what comes to nothing."""
    sums = {name: kept.get(name, 0) + more.get(name, 0) for name in {**kept, **more}}
    return {name: count for name, count in sums.items() if count}


def total(records: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The counts of all partitions, as those of the crawl."""
    counts: Counter[str] = Counter(dict.fromkeys(TOTALS, 0))
    for record in records:
        counts.update(record)
    return dict(counts)


def of_kind(counts: Mapping[str, int], kind: str) -> dict[str, int]:
    """The counts of a kind (`STATE`, `STATUS`, `ERROR`), by what is behind it; the most first."""
    found = {name.removeprefix(kind): count for name, count in counts.items() if name.startswith(kind) and count > 0}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
