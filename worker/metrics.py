"""The metrics of a worker in the format of Prometheus: read when they are asked for, never pushed by the crawl.

What is counted is in `Stats`, what is measured now in `Condition`; `metric_list.py` names each metric and says where
it is read. So a metric costs the crawl nothing but the count itself.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import prometheus_client as prometheus
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.core import (
    Metric as Family,
)
from prometheus_client.registry import Collector

from gregor.worker.condition import Condition, Lag
from gregor.worker.stats import Stats
from gregor.worker.timing import BOUNDS, Timing

CONTENT_TYPE = prometheus.CONTENT_TYPE_LATEST


class Look(NamedTuple):
    """What is there to be read at one moment."""

    stats: Stats
    condition: Condition
    lag: Lag
    machine: dict[str, float]
    margin: float


Sample = tuple[tuple[str, ...], Any]
"""The values of the labels, and a number (of a histogram: a `Timing`)."""


class Metric(NamedTuple):
    """One metric. ``labels`` have the values that they can have, or say what bounds them; never a host or a URL."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    read: Callable[[Look], Iterable[Sample]]
    labels: Mapping[str, str] = MappingProxyType({})

    @property
    def series(self) -> str:
        """The name as it is queried."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


class _Worker(Collector):
    """Reads every metric of one worker."""

    def __init__(self, metrics: Iterable[Metric], look: Callable[[], Look]) -> None:
        self._metrics = tuple(metrics)
        self._look = look

    def describe(self) -> list[Family]:
        """Nothing is read before the first scrape."""
        return []

    def collect(self) -> Iterator[Family]:
        """All families."""
        look = self._look()
        for metric in self._metrics:
            yield _family(metric, metric.read(look))


def _family(metric: Metric, samples: Iterable[Sample]) -> Family:
    labels = tuple(metric.labels)
    if metric.kind == "histogram":
        histogram = HistogramMetricFamily(metric.name, metric.meaning, labels=labels)
        for values, timing in samples:
            histogram.add_metric(values, _buckets(timing), timing.total)
        return histogram
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = kind(metric.name, metric.meaning, labels=labels)
    for values, number in samples:
        family.add_metric(values, float(number))
    return family


def _buckets(timing: Timing) -> list[tuple[str, float]]:
    names = (*(f"{bound:g}" for bound in BOUNDS), "+Inf")
    return list(zip(names, itertools.accumulate(timing.counts), strict=True))


def registry(metrics: Iterable[Metric], look: Callable[[], Look]) -> prometheus.CollectorRegistry:
    """A worker's metrics and those of its process: CPU, memory, open files."""
    found = prometheus.CollectorRegistry()
    found.register(_Worker(metrics, look))
    prometheus.ProcessCollector(registry=found)
    return found


def exposition(found: prometheus.CollectorRegistry) -> bytes:
    """The answer to a scrape."""
    return prometheus.generate_latest(found)
