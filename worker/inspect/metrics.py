"""The metrics of a worker in the format of Prometheus: read when they are asked for, never pushed by the crawl.

What is counted is in `Stats`, what is measured now in `Condition`; `metric_list.py` names each metric and says where
it is read. So a metric costs the crawl nothing but the count itself.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import prometheus_client as prometheus

from gregor.worker.inspect.worker_state import Condition, Lag
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.timing import BOUNDS, Timing

CONTENT_TYPE = prometheus.CONTENT_TYPE_LATEST


class Look(NamedTuple):
    """What is there to be read at one moment."""

    stats: Stats
    condition: Condition
    lag: Lag
    machine: dict[str, float]
    margin: float


MetricSample = tuple[tuple[str, ...], Any]
"""The values of the labels, and a number (of a histogram: a `Timing`)."""


class Metric(NamedTuple):
    """One metric. ``labels`` have the values that they can have, or say what bounds them; never a host or a URL."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    read: Callable[[Any], Iterable[MetricSample]]
    labels: Mapping[str, str] = MappingProxyType({})

    @property
    def series(self) -> str:
        """The name as it is queried."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


class Exposition:
    """Writes the metrics of one worker, and those of its process: CPU, memory, open files.

    The start of a line, its name and labels, is made once for each series: prometheus-client's writer checks and
    escapes both for every sample anew, which is most of what a scrape costs the event loop of the crawl.
    """

    def __init__(self, metrics: Iterable[Metric], look: Callable[[], Any], crawl: str = "") -> None:
        """``look`` gives what the metrics read. ``crawl``: a label of every sample, where it is given: several crawls
        may be scraped as one job."""
        self._everywhere = [_pair("crawl", crawl)] if crawl else []
        self._metrics = tuple(metrics)
        self._look = look
        self._starts: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self._process = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self._process)

    def text(self) -> bytes:
        """The answer to a scrape, in Prometheus's text format."""
        look = self._look()
        lines = "".join(line for metric in self._metrics for line in self._lines(metric, look))
        own = prometheus.generate_latest(self._process).decode().splitlines()
        return (lines + "".join(f"{self._of_crawl(line)}\n" for line in own)).encode()

    def _of_crawl(self, line: str) -> str:
        """A sample of the process, which has no labels, with those that every sample has."""
        name, _, value = line.partition(" ")
        return line if name == "#" or not self._everywhere else f"{_start(name, self._everywhere)} {value}"

    def _lines(self, metric: Metric, look: Any) -> Iterator[str]:
        yield f"# HELP {metric.series} {metric.meaning}\n# TYPE {metric.series} {metric.kind}\n"
        for values, value in metric.read(look):
            starts = self._starts.get((metric.name, values))
            if starts is None:
                starts = self._starts[metric.name, values] = _starts(metric, values, self._everywhere)
            numbers = _of_histogram(value) if metric.kind == "histogram" else (value,)
            for start, number in zip(starts, numbers, strict=True):
                # Go's ParseFloat, by which numbers are read, knows Python's way to write them.
                yield f"{start} {number:d}\n" if isinstance(number, int) else f"{start} {number!r}\n"


def _starts(metric: Metric, values: tuple[str, ...], everywhere: list[str]) -> tuple[str, ...]:
    """What the lines of a series begin with."""
    pairs = everywhere + [_pair(name, value) for name, value in zip(metric.labels, values, strict=True)]
    if metric.kind != "histogram":
        return (_start(metric.series, pairs),)
    bounds = (*(f"{bound:g}" for bound in BOUNDS), "+Inf")
    buckets = [_start(f"{metric.name}_bucket", [*pairs, _pair("le", bound)]) for bound in bounds]
    return (*buckets, _start(f"{metric.name}_count", pairs), _start(f"{metric.name}_sum", pairs))


def _of_histogram(timing: Timing) -> tuple[float, ...]:
    """Its buckets, its count and its sum."""
    buckets = tuple(itertools.accumulate(timing.counts))
    return (*buckets, buckets[-1], timing.total)


def _start(name: str, pairs: list[str]) -> str:
    return f"{name}{{{','.join(pairs)}}}" if pairs else name


def _pair(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'{name}="{escaped}"'
