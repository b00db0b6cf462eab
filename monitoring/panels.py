"""What the dashboards show: every panel with its queries. `dashboards.py` makes Grafana's JSON of it."""

from typing import Final, Literal, NamedTuple


class Query(NamedTuple):
    """``legend`` names labels of the answer in double braces, as Grafana reads it."""

    expr: str
    legend: str


class Wrong(NamedTuple):
    """A value from which on, or ``below`` which, something is wrong: the alerts' own."""

    value: float
    below: bool = False


class Panel(NamedTuple):
    """``unit`` is one of Grafana's: short, reqps, Bps, bytes, s, ms, µs, percentunit, ops.

    Without a ``description`` it is that of `DESCRIPTIONS`, else what its metrics mean; ``wrong`` likewise `THRESHOLDS`.
    """

    title: str
    unit: str
    queries: tuple[Query, ...]
    kind: Literal["timeseries", "stat"] = "timeseries"
    description: str = ""
    wrong: Wrong | None = None


class Dashboard(NamedTuple):
    """A page of panels. ``name`` is that of its file; ``ours``: of the workers' metrics, told by crawl and release."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    ours: bool = True


DESCRIPTIONS: Final = {
    "Workers that answer": "1 for a worker that answers Prometheus, 0 for one that did within a day and does not.",
    "CPU": "Processor time of each worker's process, as a share of a core.",
    "CPU a page": "Processor time of all workers divided by the pages that they stored.",
    "Memory": "Resident memory of each worker's process, against what it may use.",
}
"""What panels show that ask for more than the crawl's own metrics; all others say what their metrics mean."""
THRESHOLDS: Final = {
    "Workers that answer": Wrong(1, below=True),
    "Workers": Wrong(1, below=True),
    "Pages a second": Wrong(0.001, below=True),
    "Paused": Wrong(1),
    "Watermark not moved for": Wrong(1800),
    "Politeness margin (below 1: too close)": Wrong(0.99, below=True),
    "Requests too close": Wrong(1),
    "Time of a call": Wrong(1),
    "Calls that found a service away": Wrong(0.001),
    "Hand-over: wanted until work begins": Wrong(30),
    "Leases lost": Wrong(1),
    "The log lost records": Wrong(1),
    "CPU": Wrong(0.9),
}
"""By the title of a panel."""

_RATE: Final = "$__rate_interval"
_OURS: Final = 'crawl="$crawl", release=~"$release"'
"""Of the crawl and the release that are chosen; without the chart there is no release, which any choice fits."""


def _sum(metric: str, by: str = "", where: str = "") -> str:
    return f"sum{f' by ({by})' if by else ''} ({metric}{{{_OURS}{where}}})"


def _rate(metric: str, by: str = "", where: str = "") -> str:
    return f"sum{f' by ({by})' if by else ''} (rate({metric}{{{_OURS}{where}}}[{_RATE}]))"


def _by(metric: str, label: str) -> Query:
    return Query(_rate(metric, label), f"{{{{{label}}}}}")


def _quantiles(histogram: str, label: str, where: str = "") -> tuple[Query, ...]:
    rate = _rate(f"{histogram}_bucket", f"{label}, le", where)
    return tuple(
        Query(f"histogram_quantile({quantile}, {rate})", f"{{{{{label}}}}} {name}")
        for quantile, name in ((0.5, "median"), (0.99, "99 %"))
    )


def _share(part: str, whole: str) -> str:
    return f"{part} / ({whole} > 0)"


_CPU: Final = f"sum (rate(process_cpu_seconds_total{{{_OURS}}}[{_RATE}]))"
_PAGES: Final = _rate("gregor_pages_total")
_HITS: Final = _rate("gregor_cache_lookups_total", "cache", ', result="hit"')
_WORKER: Final = "{{instance}}"

DASHBOARDS: Final = (
    Dashboard("overview", "Gregor: overview", (
        Panel("Pages a second", "reqps", (Query(_PAGES, "pages"),), "stat"),
        Panel("Bytes a second", "Bps", (Query(_rate("gregor_page_bytes_total"), "bytes"),), "stat"),
        Panel("Workers", "short", (Query(_sum("gregor_worker_info", "version"), "{{version}}"),), "stat"),
        Panel("Paused", "short", (Query(f"max (gregor_paused{{{_OURS}}})", "paused"),), "stat"),
        Panel("Visits by what became of the URL", "reqps", (_by("gregor_visits_total", "state"),)),
        Panel("What limits the speed, share of workers", "percentunit",
              (Query(f"avg by (by) (gregor_limit{{{_OURS}}})", "{{by}}"),)),
        Panel("Errors by cause", "reqps", (_by("gregor_errors_total", "cause"),)),
        Panel("Pages by class", "reqps", (_by("gregor_pages_classified_total", "class"),)),
        Panel("Harvest rate of the topic", "percentunit",
              (Query(_share(_rate("gregor_topic_pages_total", where=', relevant="yes"'),
                            _rate("gregor_topic_pages_total")), "relevant"),)),
        Panel("Items by rule", "reqps", (_by("gregor_items_total", "rule"),)),
        Panel("Items lost by rule", "reqps", (_by("gregor_items_lost_total", "rule"),)),
        Panel("Fields that have fallen away", "short",
              (Query(_sum("gregor_item_fields_fallen", "rule, field"), "{{rule}} {{field}}"),)),
        Panel("Visits running against their limit", "short",
              (Query(_sum("gregor_visits_running"), "running"), Query(_sum("gregor_visits_limit"), "limit"))),
    )),
    Dashboard("frontier", "Gregor: frontier", (
        Panel("Records beyond the watermark", "short",
              (Query(_sum("gregor_frontier_lag_records", "priority"), "priority {{priority}}"),)),
        Panel("Lag of the ten furthest partitions", "short",
              (Query(f"topk(10, {_sum('gregor_frontier_lag_records', 'partition')})", "partition {{partition}}"),)),
        Panel("Oldest unfinished record by topic", "s",
              (Query(f"max by (priority) (gregor_frontier_oldest_seconds{{{_OURS}}})", "priority {{priority}}"),)),
        Panel("Oldest unfinished record, ten oldest partitions", "s",
              (Query(f"topk(10, max by (partition) (gregor_frontier_oldest_seconds{{{_OURS}}}))",
                     "partition {{partition}}"),)),
        Panel("Watermark not moved for", "s",
              (Query(f"gregor_frontier_stalled_seconds{{{_OURS}}}", _WORKER),)),
        Panel("URLs in memory by front queue", "short",
              (Query(_sum("gregor_front_queue_urls", "priority"), "priority {{priority}}"),)),
        Panel("URLs in back queues", "short", (Query(f"gregor_back_queue_urls{{{_OURS}}}", _WORKER),)),
        Panel("Records read ahead", "short",
              (Query(_sum("gregor_window_records", "priority"), "priority {{priority}}"),)),
        Panel("Calendar: buckets", "short", (Query(_sum("gregor_calendar_buckets"), "all"),
                                             Query(_sum("gregor_calendar_due_buckets"), "due"))),
        Panel("Calendar: overdue", "s", (Query(f"gregor_calendar_overdue_seconds{{{_OURS}}}", _WORKER),)),
        Panel("URL-seen test", "ops", (_by("gregor_seen_total", "answer"),)),
        Panel("Stale URLs dropped", "ops", (Query(_rate("gregor_stale_dropped_total"), "dropped"),)),
        Panel("Links", "ops", (_by("gregor_links_total", "fate"), _by("gregor_trapped_total", "fate"))),
        Panel("Known URLs that rise", "ops", (_by("gregor_promotions_total", "step"),)),
        Panel("What a link must be worth for a front queue", "short",
              (Query(f"max by (priority) (gregor_front_queue_worth{{{_OURS}}})", "priority {{priority}}"),)),
        Panel("Churn: links by whether they stay on their worker", "ops", (_by("gregor_churn_links_total", "way"),)),
    )),
    Dashboard("politeness", "Gregor: politeness and robots", (
        Panel("Politeness margin (below 1: too close)", "short",
              (Query(f"gregor_politeness_margin{{{_OURS}}}", _WORKER),)),
        Panel("Requests too close", "short", (Query(f"gregor_too_close_total{{{_OURS}}}", _WORKER),)),
        Panel("Hosts", "short", (Query(_sum("gregor_hosts", "state"), "{{state}}"),)),
        Panel("How late turns come", "s", _quantiles("gregor_stage_seconds", "stage", ', stage="queue"')),
        Panel("Decisions by robots.txt", "ops", (_by("gregor_robots_total", "decision"),)),
    )),
    Dashboard("fetching", "Gregor: fetching", (
        Panel("Requests", "reqps", (Query(_rate("gregor_requests_total"), "requests"),)),
        Panel("Answers by class of status", "reqps", (_by("gregor_responses_total", "class"),)),
        Panel("Stages of a visit", "s", _quantiles("gregor_stage_seconds", "stage", ', stage!="queue"')),
        Panel("Seconds a page in each stage", "s",
              (Query(f"{_rate('gregor_stage_seconds_sum', 'stage')} / on () group_left () ({_PAGES} > 0)",
                     "{{stage}}"),)),
        Panel("Contents", "ops", (_by("gregor_contents_total", "answer"),)),
        Panel("Documents not read to their end", "ops", (_by("gregor_documents_unread_total", "reason"),)),
        Panel("Pages read, by which way", "ops", (_by("gregor_pages_read_total", "way"),)),
        Panel("Caches: share of hits", "percentunit",
              (Query(_share(_HITS, _rate("gregor_cache_lookups_total", "cache")), "{{cache}}"),)),
    )),
    Dashboard("stores", "Gregor: stores", (
        Panel("Time of a call", "s", _quantiles("gregor_border_seconds", "border")),
        Panel("Calls", "ops", (Query(_rate("gregor_border_calls_total", "border, call"), "{{border}} {{call}}"),)),
        Panel("Seconds spent a second", "s",
              (Query(_rate("gregor_border_call_seconds_total", "border, call"), "{{border}} {{call}}"),)),
        Panel("Calls that found a service away", "ops", (_by("gregor_unavailable_total", "service"),)),
        Panel("The same by call", "ops", (Query(_rate("gregor_border_errors_total", "border, call"),
                                                "{{border}} {{call}}"),)),
        Panel("Calls made again", "ops", (_by("gregor_retries_total", "service"),)),
    )),
    Dashboard("workers", "Gregor: workers and leases", (
        Panel("Partitions owned", "short", (Query(f"gregor_partitions_owned{{{_OURS}}}", _WORKER),)),
        Panel("Hand-over: wanted until work begins", "s", _quantiles("gregor_takeover_seconds", "crawl")),
        Panel("Hand-over: given up until free", "s", _quantiles("gregor_release_seconds", "crawl")),
        Panel("New epochs", "short", (Query(f"increase(gregor_epoch_changes_total{{{_OURS}}}[{_RATE}])", _WORKER),)),
        Panel("Leases lost", "short", (Query(f"gregor_leases_lost_total{{{_OURS}}}", _WORKER),)),
        Panel("The log lost records", "short", (Query(f"gregor_log_losses_total{{{_OURS}}}", _WORKER),)),
        Panel("Workers that answer", "short",
              (Query(f"up and on (job, instance) last_over_time(gregor_worker_info{{{_OURS}}}[1d])", _WORKER),)),
    )),
    Dashboard("cost", "Gregor: cost", (
        Panel("CPU a page", "s", (Query(_share(_CPU, _PAGES), "CPU"),)),
        Panel("CPU a page by stage", "s",
              (Query(f"{_rate('gregor_cpu_seconds_total', 'stage')} / on () group_left () ({_PAGES} > 0)",
                     "{{stage}}"),)),
        Panel("CPU", "percentunit", (Query(f"rate(process_cpu_seconds_total{{{_OURS}}}[{_RATE}])", _WORKER),)),
        Panel("Memory", "bytes", (Query(f"process_resident_memory_bytes{{{_OURS}}}", f"{_WORKER} used"),
                                  Query(f"gregor_memory_limit_bytes{{{_OURS}}}", f"{_WORKER} limit"))),
        Panel("Disk", "bytes", (Query(f"gregor_disk_free_bytes{{{_OURS}}}", f"{_WORKER} free"),
                                Query(f"gregor_disk_size_bytes{{{_OURS}}}", f"{_WORKER} size"))),
        Panel("Bytes a page", "bytes", (Query(_share(_rate("gregor_page_bytes_total"), _PAGES), "bytes"),)),
    )),
    Dashboard("index", "Gregor: the index", (
        Panel("Records that the index has not taken in", "short",
              (Query(f"max by (kind) (gregor_index_behind_records{{{_OURS}}})", "{{kind}}"),), "stat"),
        Panel("Behind the crawl", "s", (Query(f"max (gregor_index_behind_seconds{{{_OURS}}})", "oldest"),), "stat"),
        Panel("Changes taken in a second", "reqps", (Query(_rate("gregor_index_changes_total"), "changes"),)),
        Panel("Documents a second", "reqps", (_by("gregor_index_documents_total", "what"),)),
        Panel("Failures to write the index", "reqps", (Query(_rate("gregor_index_failures_total"), "failures"),)),
        Panel("Documents that the engine refuses", "reqps", (Query(_rate("gregor_index_refused_total"), "refused"),)),
        Panel("Partitions of the index", "short", (Query(f"gregor_index_partitions{{{_OURS}}}", _WORKER),)),
        Panel("Time of a step", "s", _quantiles("gregor_index_step_seconds", "instance")),
        Panel("Time of a query", "s", _quantiles("gregor_search_seconds", "instance")),
    )),
)  # fmt: skip
