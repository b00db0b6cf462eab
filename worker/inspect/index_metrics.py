"""Every metric of `gregor index`, and of `gregor search --serve`; as `metric_list.py`."""

from typing import Final

from gregor.worker.inspect.metrics import Metric

BEHIND: Final = ("events", "posts")
ANSWERS: Final = ("hits", "none", "partial")

# fmt: off
INDEX_METRICS: Final = (
    Metric("gregor_index_changes", "counter", "Changes of the crawl that the index took in.",
           lambda look: [((), look.changes)]),
    Metric("gregor_index_documents", "counter", "Documents written to the index, and removed from it.",
           lambda look: [(("written",), look.documents), (("removed",), look.removed)], {"what": "written, removed"}),
    Metric("gregor_index_failures", "counter", "Times that the index could not be written, since a server was away.",
           lambda look: [((), look.failures)]),
    Metric("gregor_index_refused", "counter", "Documents that the engine refused: dead letters.",
           lambda look: [((), look.refused)]),
    Metric("gregor_index_partitions", "gauge", "Partitions of the index that the process owns; 1 on one machine.",
           lambda look: [((), look.partitions)]),
    Metric("gregor_index_behind_records", "gauge",
           "What the index has not taken in: changes of the whole crawl, and what index workers told each other.",
           lambda look: [((kind,), look.behind.get(kind, 0)) for kind in BEHIND], {"kind": ", ".join(BEHIND)}),
    Metric("gregor_index_behind_seconds", "gauge",
           "How old what the process took in last is, of its partitions in which there is more; 0 where there is none.",
           lambda look: [((), look.seconds_behind)]),
    Metric("gregor_index_step_seconds", "histogram",
           "Time of a step: what is new is read, documents are made of it, and their writes acknowledged.",
           lambda look: [((), look.steps)]),
)
SEARCH_METRICS: Final = (
    Metric("gregor_search_seconds", "histogram", "Time of a query that was answered, its snippets cut.",
           lambda look: [((), look.timing)]),
    Metric("gregor_search_answers", "counter",
           "Queries that were answered: with hits, without, or with what was found until the time was over.",
           lambda look: [((what,), look.answers[what]) for what in ANSWERS], {"what": ", ".join(ANSWERS)}),
    Metric("gregor_search_refused", "counter", "Queries that were refused, since too many waited.",
           lambda look: [((), look.refused)]),
)
# fmt: on
