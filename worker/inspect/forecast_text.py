"""A forecast in words."""

from collections.abc import Iterator, Sequence
from typing import Final

from gregor.worker.base.amounts import count, duration, size
from gregor.worker.base.printable import one_line
from gregor.worker.inspect.forecast import Forecast, HostForecast, Range

_HEAD: Final = f"{'VISITED':>9} {'WAITING':>9} {'IN ALL':>9} {'BETWEEN':>21} {'TIME LEFT':>12} {'AT MOST':>12}  HOST"
_BOUNDS: Final = {
    "host": "its slowest host, {host}: no more than one request at a time is made there, a delay apart",
    "cpu": "the processors of its workers",
    "concurrency": "the requests that may run at once (`concurrency`)",
    "budget": "a budget (`max_pages` or `max_bytes`)",
    "nothing": "nothing: all that is known was visited",
}
_NAMED: Final = 5
_TIMES: Final = {0.5: "half", 2.0: "twice"}


def _number(number: float) -> str:
    return f"{round(number):,}"


def _noun(number: float, noun: str) -> str:
    return f"{_number(number)} {noun if round(number) == 1 else f'{noun}s'}"


def _counted(span: Range, noun: str) -> str:
    return f"{_noun(span.likely, noun)} ({_number(span.least)} to {_number(span.most)})"


def _spans(span: Range) -> str:
    return f"{duration(span.likely)} ({duration(span.least)} to {duration(span.most)})"


def lines(expected: Forecast, *, again: bool) -> Iterator[str]:
    """What is likely, with an interval. ``again``: pages are visited again, so that the crawl itself never ends."""
    yield f"{_noun(expected.visited, 'URL')} visited, {_noun(expected.waiting, 'URL')} known to wait"
    urls, pages = _counted(expected.urls, "URL"), _counted(expected.pages, "page")
    yield f"in the end about {urls}, {pages},"
    sizes = f"{size(expected.bytes.likely)} ({size(expected.bytes.least)} to {size(expected.bytes.most)})"
    yield f"  {_counted(expected.requests, 'request')}, {sizes}"
    yield f"time left: about {_spans(expected.seconds)}"
    if again:
        yield "  until each page was visited once; pages are visited again without end (`revisit`)"
    yield f"bound by {_BOUNDS[expected.bound].format(host=one_line(expected.slowest, 200))}"
    if expected.seconds.likely > 0.0:
        yield "with " + ", ".join(
            f"{_TIMES[change.times]} the {change.setting} {duration(change.seconds)}" for change in expected.changes
        )
    if expected.hosts:
        yield ""
        yield _HEAD
        yield from map(_host, expected.hosts)
        if expected.of_hosts > len(expected.hosts):
            more = count(expected.of_hosts - len(expected.hosts), "host")
            yield f"and {more} more: --limit {expected.of_hosts} lists all"


def _host(host: HostForecast) -> str:
    between = f"{_number(host.urls.least)} to {_number(host.urls.most)}"
    return (
        f"{host.visited:>9} {host.waiting:>9} {_number(host.urls.likely):>9} {between:>21} "
        f"{duration(host.seconds.likely):>12} {duration(host.seconds.most):>12}  {one_line(host.host, 200)}"
    )


def without_sitemaps(hosts: Sequence[str]) -> str:
    """That of some hosts little is known."""
    names = ", ".join(one_line(host, 200) for host in hosts[:_NAMED])
    more = f" and {len(hosts) - _NAMED} more" if len(hosts) > _NAMED else ""
    return f"no sitemap lists anything of {names}{more}: what their first pages link to is all that is known of them"
