"""docs/metrics.md, made of `metric_list.py`: `python -m gregor.worker.inspect.metrics_docs` prints it."""

from collections.abc import Iterable

from gregor.worker.inspect.index_metrics import INDEX_METRICS, SEARCH_METRICS
from gregor.worker.inspect.metric_list import METRICS
from gregor.worker.inspect.metrics import Metric
from gregor.worker.observe.timing import BOUNDS

_HEAD = """# Metrics

This page is made by `python -m gregor.worker.inspect.metrics_docs > docs/metrics.md`; a test keeps it true.

Every worker with `listen` set serves them at `/metrics` (see [operations.md](operations.md)). Counters begin at 0 with
the process. No label ever holds a host, a URL or anything else that a site can choose. Every sample has the label
`crawl`, so that several crawls may be scraped as one job; `instance` and `job`, which Prometheus adds, tell workers
apart, and `release`, which the chart adds, the installations of one crawl. `process_…` (CPU, resident memory, open
files, start) are those of prometheus-client; CPU a page is
`rate(process_cpu_seconds_total[5m]) / rate(gregor_pages_total[5m])`.

| name | kind | meaning | labels |
|---|---|---|---|
"""
_INDEX = """
`gregor index --metrics ADDRESS:PORT` serves its own, at `/metrics`, to who has the viewer's token:

| name | kind | meaning | labels |
|---|---|---|---|
"""
_SEARCH = """
`gregor search --serve ADDRESS:PORT` serves its own at `/metrics`, to who has the viewer's token or asks from here:

| name | kind | meaning | labels |
|---|---|---|---|
"""


def _rows(metrics: Iterable[Metric]) -> str:
    return "".join(
        f"| `{metric.series}` | {metric.kind} | {metric.meaning} | "
        f"{'; '.join(f'`{name}`: {values}' for name, values in metric.labels.items())} |\n"
        for metric in metrics
    )


def page() -> str:
    """docs/metrics.md."""
    bounds = ", ".join(f"{bound:g}" for bound in BOUNDS)
    tables = f"{_HEAD}{_rows(METRICS)}{_INDEX}{_rows(INDEX_METRICS)}{_SEARCH}{_rows(SEARCH_METRICS)}"
    return f"{tables}\nThe buckets of every histogram end at {bounds} seconds.\n"


if __name__ == "__main__":
    print(page(), end="")
