"""Every metric of a worker: its name, what it means, the values of its labels, and where it is read."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args

from gregor.schemas.messages import PRIORITIES, TERMINAL
from gregor.worker.borders.transport import FailureKind
from gregor.worker.inspect.host_views import HOST_STATES
from gregor.worker.inspect.metrics import Look, Metric, MetricSample
from gregor.worker.observe.bottleneck import ADVICE
from gregor.worker.observe.cpu_time import STAGES as SPENT
from gregor.worker.observe.stats import STAGES
from gregor.worker.observe.timing import Timing

CAUSES: Final = frozenset(
    {
        *get_args(FailureKind),
        "credentials",
        "dns",
        "host",
        "redirect",
        "refused_port",
        "robots",
        "status",
        "status 429",
        "status 503",
        "url",
    }
).difference({"local", "downgrade"})  # which are no failures of a URL
_WAYS: Final = ("native", "python", "tree", "costly", "embedded", "links", "surrogates", "parse")
_CLASSES: Final = ("1xx", "2xx", "3xx", "4xx", "5xx", "other")
_BORDERS: Final = ("addresses", "coordinator", "log", "resolver", "seen", "store")
SERVICES: Final = ("Cassandra", "Kafka", "Redis", "ZooKeeper", "store")
"""How `Unavailable` names what is away; the store is SQLite's."""


def _single(number: Any) -> list[MetricSample]:
    return [((), number)]


def _by(values: Iterable[str], counts: Mapping[Any, Any]) -> list[MetricSample]:
    """Every value has a series from the start, so that a rate is there when the first one comes."""
    return [((value,), counts.get(value, 0)) for value in values]


def _statuses(look: Look) -> list[MetricSample]:
    counts = dict.fromkeys(_CLASSES, 0)
    for status, count in look.stats.statuses.items():
        counts[_CLASSES[status // 100 - 1] if 100 <= status < 600 else "other"] += count
    return _by(_CLASSES, counts)


def _causes(look: Look) -> list[MetricSample]:
    counts = dict.fromkeys((*sorted(CAUSES), "other"), 0)
    for cause, count in look.stats.errors.items():
        counts[cause if cause in CAUSES else "other"] += count
    return _by(counts, counts)


def _borders(look: Look) -> list[MetricSample]:
    found = {border: Timing() for border in _BORDERS}
    for (border, _), timing in look.stats.calls.items():
        found[border].add(timing)
    return [((border,), timing) for border, timing in found.items()]


def _pairs(names: Mapping[str, tuple[str, ...]], counts: Mapping[tuple[str, str], Any]) -> list[MetricSample]:
    return [((one, two), counts.get((one, two), 0)) for one, several in names.items() for two in several]


_STATES: Final = (*TERMINAL, "waiting")
_STATE: Final = {"state": ", ".join(_STATES)}
_BORDER: Final = {"border": ", ".join(_BORDERS)}
_CALL: Final = {**_BORDER, "call": "the methods of the border, fixed by the program"}
_RULE: Final = {"rule": "the rules and extractors of the crawl that were for a page"}
_PRIORITY: Final = {"priority": "1 (highest) to 4, a topic each"}
_TOPIC: Final = {"partition": "0 to partitions - 1, those owned", **_PRIORITY}
_SERVICE: Final = {"service": ", ".join(SERVICES)}

METRICS: Final = (
    # What was done
    Metric("gregor_visits", "counter", "Visits settled, by the state that their URL reached.",
           lambda look: _by(_STATES, look.stats.states), _STATE),
    Metric("gregor_pages", "counter", "Pages stored.", lambda look: _single(look.stats.pages)),
    Metric("gregor_page_bytes", "counter", "Bytes of the bodies of stored pages, decoded.",
           lambda look: _by(("fetched", "duplicate"), look.stats.bytes_by), {"state": "fetched, duplicate"}),
    Metric("gregor_requests", "counter", "Requests begun, those for robots.txt too.",
           lambda look: _single(look.stats.requests)),
    Metric("gregor_responses", "counter", "Answers to requests for pages, by class of their status.",
           _statuses, {"class": ", ".join(_CLASSES)}),
    Metric("gregor_errors", "counter", "Failed tries, by cause.", _causes,
           {"cause": ", ".join((*sorted(CAUSES), "other"))}),
    Metric("gregor_links", "counter", "Links published (sent), or refused as malformed or as leading into a trap.",
           lambda look: _by(("sent", "malformed", "trap"), look.stats.links), {"fate": "sent, malformed, trap"}),
    Metric("gregor_trapped", "counter",
           "URLs that a trap rule refused, and those that came back as pages like them brought something new.",
           lambda look: _by(("refused", "returned"), look.stats.traps), {"fate": "refused, returned"}),
    Metric("gregor_stale_dropped", "counter", "Stale URLs of which nothing is kept any more (`stale_after`).",
           lambda look: _single(look.stats.drops)),
    Metric("gregor_documents_unread", "counter", "Documents not read to their end, by what was too much.",
           lambda look: _by(("size", "tags", "entries", "embedded", "links", "pdf", "time"), look.stats.unread),
           {"reason": "size, tags, entries, embedded, links, pdf, time"}),
    Metric("gregor_pages_read", "counter",
           "Pages of HTML, by which way they were read: native, or why by Python (docs/native.md).",
           lambda look: _by(_WAYS, look.stats.ways), {"way": ", ".join(_WAYS)}),
    Metric("gregor_pages_classified", "counter", "Pages stored, by the class that a model has put them into.",
           lambda look: [((name,), count) for name, count in sorted(look.stats.classes.items())],
           {"class": "the classes of the model"}),
    Metric("gregor_topic_pages", "counter",
           "Pages stored, by whether they are relevant for the topic: the share of yes is the harvest rate.",
           lambda look: [(("yes",), look.stats.relevant[True]), (("no",), look.stats.relevant[False])],
           {"relevant": "yes, no"}),
    Metric("gregor_items", "counter", "Items that rules and extractors made of pages.",
           lambda look: [((rule,), count) for rule, count in sorted(look.stats.extracted.by_rule.items())], _RULE),
    Metric("gregor_items_lost", "counter", "Items that were lost or dropped, on their pages.",
           lambda look: [((rule,), count) for rule, count in sorted(look.stats.extracted.lost_items.items())], _RULE),
    Metric("gregor_item_fields_fallen", "gauge",
           "1 for what must have a value on the pages of a rule and has it no more: the site may have changed.",
           lambda look: [((away.rule, away.field), 1) for away in look.condition.drift],
           {**_RULE, "field": "a field that is required; empty for the items of the rule"}),
    Metric("gregor_churn_links", "counter",
           "Links published, by whether the worker that found them owns the partition of their host.",
           lambda look: _by(("stays", "crosses"), look.stats.churn), {"way": "stays, crosses"}),
    Metric("gregor_promotions", "counter",
           "Tickets of URLs that were known already and stand better by further links: published for that by who found"
           " them, admitted for that by who owns them.",
           lambda look: _by(("published", "admitted"), look.stats.promotions), {"step": "published, admitted"}),
    Metric("gregor_front_queue_worth", "gauge",
           "What a link must be worth for its URL to come into this front queue, where a policy scores.",
           lambda look: [((queue,), least) for queue, least in look.stats.worths.items()],
           {"priority": "1 to 3; what is worth less is in the last"}),
    # What was decided
    Metric("gregor_seen", "counter", "Answers of the URL-seen test.",
           lambda look: _by(("new", "seen"), look.stats.seen), {"answer": "new, seen"}),
    Metric("gregor_contents", "counter", "Answers of the content-seen and the near-duplicate test.",
           lambda look: _by(("new", "duplicate", "near_duplicate"), look.stats.contents),
           {"answer": "new, duplicate, near_duplicate"}),
    Metric("gregor_robots", "counter", "Decisions by robots.txt; unreachable: the host waits.",
           lambda look: _by(("allowed", "denied", "unreachable"), look.stats.robots),
           {"decision": "allowed, denied, unreachable"}),
    Metric("gregor_cache_lookups", "counter", "Look-ups in the caches of a worker.",
           lambda look: _pairs({"robots": ("hit", "miss"), "dns": ("hit", "miss")}, look.stats.cached),
           {"cache": "robots, dns", "result": "hit, miss"}),
    # How long it took
    Metric("gregor_stage_seconds", "histogram",
           "Time of each stage of a visit. queue: how late the host's turn came.",
           lambda look: [((stage,), timing) for stage, timing in look.stats.stages.items()],
           {"stage": ", ".join(STAGES)}),
    Metric("gregor_border_seconds", "histogram", "Time of the calls to what remembers the crawl, and to the resolver.",
           _borders, _BORDER),
    Metric("gregor_search_seconds", "histogram", "Time of a query that was answered, its snippets cut.",
           lambda look: _single(look.stats.searches)),
    Metric("gregor_border_calls", "counter", "The same calls, by method.",
           lambda look: [(names, timing.count) for names, timing in sorted(look.stats.calls.items())],
           _CALL),
    Metric("gregor_border_call_seconds", "counter", "Time spent in them, by method.",
           lambda look: [(names, timing.total) for names, timing in sorted(look.stats.calls.items())], _CALL),
    Metric("gregor_border_errors", "counter", "Those of them that failed because a service was away, by method.",
           lambda look: [(names, look.stats.failed_calls[names]) for names in sorted(look.stats.calls)], _CALL),
    Metric("gregor_unavailable", "counter",
           "The same failures, by service; those too of what keeps the leases between the calls.",
           lambda look: _by(SERVICES, look.stats.unavailable), _SERVICE),
    Metric("gregor_retries", "counter", "Calls that were made again after such a failure.",
           lambda look: _by(SERVICES, look.stats.retries), _SERVICE),
    Metric("gregor_cpu_seconds", "counter",
           "Processor time by what it was for. fetch: curl; rest: the event loop's other work, the start too; "
           "threads: all other threads, which are the clients of the stores.",
           lambda look: _by((*SPENT, "threads"), look.stats.cpu_time.seconds()),
           {"stage": ", ".join((*SPENT, "threads"))}),
    # Politeness
    Metric("gregor_politeness_margin", "gauge",
           "Smallest gap between two requests to one host as a share of its delay, over the last minute or two; "
           "below 1: too close. Infinite when there was none.", lambda look: _single(look.margin)),
    Metric("gregor_too_close", "counter", "Requests that came before the delay of their host was over.",
           lambda look: _single(look.stats.too_close)),
    # What is there now
    Metric("gregor_hosts", "gauge",
           "Hosts in memory, by what they do. robots: they wait because their robots.txt cannot be read; "
           "blocked: by an order.",
           lambda look: _by(HOST_STATES, look.condition.hosts), {"state": ", ".join(HOST_STATES)}),
    Metric("gregor_visits_running", "gauge", "Visits that run.", lambda look: _single(look.condition.running)),
    Metric("gregor_visits_limit", "gauge", "Visits that may run at once (concurrency).",
           lambda look: _single(look.condition.concurrency)),
    Metric("gregor_back_queue_urls", "gauge", "URLs in memory, over all back queues.",
           lambda look: _single(look.condition.back_queues)),
    Metric("gregor_front_queue_urls", "gauge", "URLs in memory, by the front queue that they came from.",
           lambda look: [((str(p),), look.condition.front_queues[p]) for p in PRIORITIES], _PRIORITY),
    Metric("gregor_window_records", "gauge", "Records between watermark and read position, over all partitions.",
           lambda look: [((str(p),), look.condition.window[p]) for p in PRIORITIES], _PRIORITY),
    Metric("gregor_frontier_lag_records", "gauge", "Records of the log beyond the watermark.",
           lambda look: [((str(n), str(p)), lag) for (n, p), lag in sorted(look.lag.records.items())],
           _TOPIC),
    Metric("gregor_frontier_oldest_seconds", "gauge",
           "Age of the oldest unfinished record of the log: since it was published.",
           lambda look: [((str(n), str(p)), age) for (n, p), age in sorted(look.lag.oldest.items())], _TOPIC),
    Metric("gregor_frontier_stalled_seconds", "gauge",
           "For how long the watermark that waits longest has not moved although records lie beyond it.",
           lambda look: _single(look.lag.stalled)),
    Metric("gregor_calendar_buckets", "gauge", "Buckets of the calendar that hold entries.",
           lambda look: _single(look.condition.buckets)),
    Metric("gregor_calendar_due_buckets", "gauge", "Those of them whose time has come, 10,000 at most a partition.",
           lambda look: _single(look.condition.due)),
    Metric("gregor_calendar_overdue_seconds", "gauge", "How late the oldest due bucket of the calendar is.",
           lambda look: _single(look.condition.overdue)),
    Metric("gregor_limit", "gauge", "1 for what limits the speed now, 0 for all else.",
           lambda look: [((limit,), limit == look.condition.limit) for limit in ADVICE], {"by": ", ".join(ADVICE)}),
    Metric("gregor_paused", "gauge", "1 while the crawl is paused by order.",
           lambda look: _single(look.condition.state == "paused")),
    # Workers and leases
    Metric("gregor_partitions_owned", "gauge", "Partitions whose lease this worker holds.",
           lambda look: _single(look.condition.partitions)),
    Metric("gregor_takeover_seconds", "histogram", "Time from wanting a partition until its work began.",
           lambda look: _single(look.stats.takeovers)),
    Metric("gregor_release_seconds", "histogram", "Time from giving a partition up until another may take it.",
           lambda look: _single(look.stats.releases)),
    Metric("gregor_epoch_changes", "counter", "Partitions taken over, each under a new epoch.",
           lambda look: _single(look.stats.takeovers.count)),
    Metric("gregor_leases_lost", "counter", "Partitions whose lease ended before they were released.",
           lambda look: _single(look.stats.leases_lost)),
    Metric("gregor_log_losses", "counter", "Times that the log had lost records which it had acknowledged.",
           lambda look: _single(look.stats.losses)),
    Metric("gregor_worker_info", "gauge", "Always 1.", lambda look: [((look.condition.version,), 1)],
           {"version": "one"}),
    # The machine
    Metric("gregor_disk_free_bytes", "gauge", "Free space where the data folder is.",
           lambda look: _single(look.machine["disk_free"])),
    Metric("gregor_disk_size_bytes", "gauge", "All space where the data folder is.",
           lambda look: _single(look.machine["disk_size"])),
    Metric("gregor_memory_limit_bytes", "gauge", "Memory that the process may use: of its cgroup or the machine.",
           lambda look: _single(look.machine["memory"])),
)  # fmt: skip
"""All of them. docs/metrics.md is made of this."""
