"""What a crawl did, told at its end: to a person, or as one JSON object to a program."""

from msgspec import Struct

from gregor.worker.base.printable import one_line
from gregor.worker.observe.stats import Stats
from gregor.worker.run.ending import Ending

_GIVEN_UP = {"dead", "refused"}
_UNFETCHED = ("dead", "refused", "denied")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Report(Struct, frozen=True):
    """One run. ``pages`` to ``links`` count this run; ``total_…`` count the data folder, None on servers, where nobody
    has counted it. ``unfetched``: URLs that were given up or denied in this run; ever, where nothing was left to do.
    ``data`` says where the crawl is; ``seconds`` is the run's length."""

    reason: str
    detail: str
    exit_code: int
    data: str
    seconds: float
    pages: int
    pages_200: int
    bytes: int
    requests: int
    states: dict[str, int]
    statuses: dict[str, int]
    errors: dict[str, int]
    links: dict[str, int]
    unread: dict[str, int]
    total_pages_200: int | None
    total_bytes: int | None
    unfetched: dict[str, int] = {}


def report(ending: Ending, stats: Stats, data: str, seconds: float, exit_code: int, *, whole: bool = True) -> Report:
    """Gather it; ``whole``: the counts before this run are known."""
    return Report(
        reason=ending.reason,
        detail=ending.detail,
        exit_code=exit_code,
        data=data,
        seconds=round(seconds, 3),
        pages=stats.pages,
        pages_200=stats.pages_200,
        bytes=stats.bytes,
        requests=stats.requests,
        states=_sorted(stats.states),
        statuses={str(status): n for status, n in sorted(stats.statuses.items())},
        errors=_sorted(stats.troubles),
        links=_sorted(stats.links),
        unread=_sorted(stats.unread),
        total_pages_200=stats.total_pages_200 if whole else None,
        total_bytes=stats.total_bytes if whole else None,
        unfetched=_sorted({state: n for state in _UNFETCHED if (n := (stats.states or stats.before).get(state, 0))}),
    )


def _sorted(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def as_text(one: Report) -> str:
    """The report for a person."""
    if one.reason == "finished" and not one.states:
        crawl = one.data if one.total_pages_200 is None else f"the crawl in {one.data}"
        nothing = f"Nothing is left to do: {one_line(crawl)} has finished{_total(one, ', ')}."
        return "\n".join([nothing, *_unfetched(one)])
    lines = [
        _first(one),
        f"  this run   {count(one.pages, 'page')}, {size(one.bytes)}, {count(one.requests, 'request')} "
        f"in {duration(one.seconds)}{_rate(one)}",
        *([f"  in all     {total}, in {one_line(one.data)}"] if (total := _total(one)) else []),
    ]
    for name, counts in (
        ("states", one.states),
        ("statuses", one.statuses),
        ("errors", one.errors),
        ("cut at", one.unread),
    ):
        if counts:
            lines.append(f"  {name:<10} {one_line(', '.join(f'{what} {n}' for what, n in counts.items()))}")
    lines += _unfetched(one)
    if one.reason == "budget" and not one.detail.startswith("max_time"):  # the only one that each run begins anew
        lines.append("  With a larger budget the same command goes on from here.")
    elif one.reason != "finished":
        lines.append("  The same command goes on from here.")
    return "\n".join(lines)


def _unfetched(one: Report) -> list[str]:
    """What was not fetched for good, and the command that brings it back: neither a link nor a seed does."""
    given_up, denied = sum(one.unfetched.get(state, 0) for state in _GIVEN_UP), one.unfetched.get("denied", 0)
    lines = []
    if given_up:
        lines.append(
            f"  {count(given_up, 'URL')} given up: `gregor deadletters` tells what and why; with --retry it is asked "
            "for again."
        )
    if denied:
        lines.append(
            f"  {count(denied, 'URL')} denied: `gregor pages --state denied` tells which; `gregor recrawl URL` asks "
            "again, by a robots.txt read anew."
        )
    return lines


def _first(one: Report) -> str:
    if one.reason == "finished":
        return "Finished: every URL that was found is settled" + (", but no page came of it." if one.exit_code else ".")
    if one.reason == "budget":
        return f"A budget is spent: {one_line(one.detail)}."
    return f"Stopped {one_line(one.detail)}; nothing is lost."


def _total(one: Report, before: str = "") -> str:
    if one.total_pages_200 is None or one.total_bytes is None:
        return ""
    return f"{before}{count(one.total_pages_200, 'page')} with status 200, {size(one.total_bytes)}"


def _rate(one: Report) -> str:
    return f" ({one.pages / one.seconds:.1f} pages/s)" if one.pages and one.seconds else ""


def count(number: int, noun: str) -> str:
    """ "1 page", "2 pages"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size(number: float) -> str:
    """Bytes in the unit in which they are read most easily."""
    unit = 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{number:.0f} B" if not unit else f"{number:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """ "0.4 s", "12 s", "3 min 05 s", "2 h 03 min"."""
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
