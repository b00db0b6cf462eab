"""What a crawl did, told at its end: to a person, or as one JSON object to a program."""

from collections.abc import Iterable
from itertools import islice

from msgspec import Struct

from gregor.worker.base.amounts import count, duration, size
from gregor.worker.base.printable import one_line
from gregor.worker.extract.drift import Fallen
from gregor.worker.observe.host_sums import HostSum
from gregor.worker.observe.stats import Stats
from gregor.worker.run.ending import Ending

_GIVEN_UP = {"dead", "refused"}
_CHANGES = ("new", "changed", "unchanged", "gone")
_UNFETCHED = ("dead", "refused", "denied")
_LOST = 10
_HOSTS = 100
"""Hosts that a report has."""
_HOSTS_SHOWN = 5
_LONG, _FULL = 5.0, 0.8
"""Of a run of so many seconds that used so much of a core it is said that its processor was the limit."""


class Report(Struct, frozen=True):
    """One run. ``pages`` to ``links`` count this run; ``total_…`` count the data folder, None on servers, where nobody
    has counted it. ``requisites``: of ``pages``, those that are none, less those that became pages. ``unfetched``: URLs
    that were given up or denied in this run; ever, where nothing was left to do. ``data`` says where the crawl is;
    ``seconds`` is the run's length. ``items``: those of this run by rule; ``items_lost``: by rule and cause, with
    examples, the most first; ``drift``: fields of rules that have fallen away. ``hosts``: those with most pages."""

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
    requisites: int = 0
    items: dict[str, int] = {}
    items_lost: list[str] = []
    drift: list[str] = []
    hosts: list[HostSum] = []
    ways: dict[str, int] = {}
    """Pages of HTML, by which way they were read: ``native``, or why by Python."""
    cpu: dict[str, float] = {}
    """Seconds of processor time by stage: those of the event loop, and ``threads`` beside it."""
    needs_more: bool = False
    """Whether the same command goes on only with a larger budget."""
    changes: dict[str, int] = {}
    """Pages of this run: new ones, and of those that were visited again how many had changed or not, or are gone."""
    classes: dict[str, int] = {}
    """Pages of this run, by the class that a model has put them into."""
    topic: dict[str, int] = {}
    """Pages of this run, by whether they are ``relevant`` for the topic, or ``other``."""
    advice: str = ""
    """What would make the next run faster; empty where nothing is known to."""
    traps: dict[str, int] = {}
    """URLs that a trap rule refused in this run, and those that were asked for after all (``returned``)."""


def report(
    ending: Ending,
    stats: Stats,
    data: str,
    seconds: float,
    exit_code: int,
    *,
    counted_before: bool = True,
    drift: Iterable[Fallen] = (),
    advice: str = "",
) -> Report:
    """Gather it; ``counted_before``: the counts before this run are known; ``drift``: of the crawl."""
    return Report(
        reason=ending.reason,
        detail=ending.detail,
        needs_more=ending.needs_more,
        exit_code=exit_code,
        data=data,
        seconds=round(seconds, 3),
        pages=stats.pages,
        pages_200=stats.pages_200,
        bytes=stats.bytes,
        requests=stats.requests,
        states=_sorted(stats.outcomes),
        statuses={str(status): n for status, n in sorted(stats.statuses.items())},
        errors=_sorted(stats.troubles),
        links=_sorted(stats.links),
        unread=_sorted(stats.unread),
        total_pages_200=stats.total_pages_200 if counted_before else None,
        total_bytes=stats.total_bytes if counted_before else None,
        requisites=stats.requisites,
        items=_sorted(stats.extracted.by_rule),
        items_lost=list(islice(stats.extracted.lines(iter(())), _LOST)),
        drift=[away.text for away in drift],
        hosts=list(islice(stats.by_host, _HOSTS)),
        ways=_sorted(stats.ways),
        cpu={stage: round(spent, 3) for stage, spent in stats.cpu_time.seconds().items()},
        changes={change: stats.changes[change] for change in _CHANGES if stats.changes[change]},
        classes=_sorted(stats.classes),
        topic={"relevant": stats.relevant[True], "other": stats.relevant[False]} if stats.relevant else {},
        traps=_sorted(stats.traps),
        advice=advice,
        unfetched=_sorted({state: n for state in _UNFETCHED if (n := (stats.states or stats.before).get(state, 0))}),
    )


def of_processor(seconds: float, cpu: float, cores: int) -> str:
    """The advice for a run of one process that took so many ``seconds`` of time and of processor (``cpu``), on a
    machine of so many ``cores``."""
    if cores < 2 or seconds < _LONG or cpu < _FULL * seconds:
        return ""
    return f"The processor was the limit: with `--processes {cores}` all {cores} cores of this machine crawl."


def _sorted(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def as_text(report: Report) -> str:
    """The report for a person."""
    if report.reason == "finished" and not report.states:
        crawl = report.data if report.total_pages_200 is None else f"the crawl in {report.data}"
        nothing = f"Nothing is left to do: {one_line(crawl)} has finished{_total(report, ', ')}."
        return "\n".join([nothing, *_unfetched(report)])
    lines = [
        _first(report),
        f"  this run   {count(report.pages, 'page')}{_shown(report)}, {size(report.bytes)}, "
        f"{count(report.requests, 'request')} in {duration(report.seconds)}{_rate(report)}",
        *([f"  in all     {total}, in {one_line(report.data)}"] if (total := _total(report)) else []),
    ]
    for name, counts in (
        ("changes", report.changes if report.changes.keys() - {"new"} else {}),
        ("states", report.states),
        ("statuses", report.statuses),
        ("errors", report.errors),
        ("cut at", report.unread),
        ("read", report.ways if len(report.ways) > 1 else {}),
        ("classes", report.classes),
        ("traps", report.traps),
    ):
        if counts:
            lines.append(f"  {name:<10} {one_line(', '.join(f'{what} {n}' for what, n in counts.items()))}")
    if report.topic:
        relevant, pages = report.topic["relevant"], sum(report.topic.values())
        lines.append(f"  topic      {relevant} of {count(pages, 'page')} relevant: harvest rate {relevant / pages:.0%}")
    if report.items or report.items_lost:
        lines.append(f"  items      {one_line(', '.join(f'{rule} {n}' for rule, n in report.items.items()) or 'none')}")
    lines += [f"  lost       {one_line(text)}" for text in report.items_lost]
    lines += [f"  fell away  {one_line(text)}" for text in report.drift]
    lines += _by_host(report)
    lines += _unfetched(report)
    if report.advice:
        lines.append(f"  {report.advice}")
    if report.needs_more:
        lines.append("  With a larger budget the same command goes on from here.")
    elif report.reason != "finished":
        lines.append("  The same command goes on from here.")
    return "\n".join(lines)


def _shown(report: Report) -> str:
    return f" ({count(report.requisites, 'requisite')} of pages among them)" if report.requisites > 0 else ""


def _by_host(report: Report) -> list[str]:
    """The hosts with most pages, where there are several."""
    if len(report.hosts) < 2:
        return []
    lines = []
    for number, host in enumerate(report.hosts[:_HOSTS_SHOWN]):
        errors = f", {count(host.errors, 'error')}" if host.errors else ""
        sums = f"{count(host.pages, 'page')}, {size(host.bytes)}{errors}, {duration(host.seconds)} of requests"
        lines.append(f"  {'' if number else 'hosts':<10} {one_line(host.host, 100) or 'others'}: {sums}")
    if len(report.hosts) > _HOSTS_SHOWN:
        lines.append(f"  {'':<10} and more: `gregor hosts` lists all")
    return lines


def _unfetched(report: Report) -> list[str]:
    """What was not fetched for good, and the command that brings it back: neither a link nor a seed does."""
    given_up, denied = sum(report.unfetched.get(state, 0) for state in _GIVEN_UP), report.unfetched.get("denied", 0)
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


def _first(report: Report) -> str:
    if report.reason == "finished":
        return "Finished: every URL that was found is settled" + (
            ", but no page came of it." if report.exit_code else "."
        )
    if report.reason == "budget":
        return f"A budget is spent: {one_line(report.detail)}."
    return f"Stopped {one_line(report.detail)}; nothing is lost."


def _total(one: Report, before: str = "") -> str:
    if one.total_pages_200 is None or one.total_bytes is None:
        return ""
    return f"{before}{count(one.total_pages_200, 'page')} with status 200, {size(one.total_bytes)}"


def _rate(one: Report) -> str:
    return f" ({one.pages / one.seconds:.1f} pages/s)" if one.pages and one.seconds else ""
