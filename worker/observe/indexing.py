"""What whoever writes an index counts and measures."""

from dataclasses import dataclass, field

from gregor.worker.observe.timing import Timing


@dataclass
class IndexStats:
    """Since the process began. ``behind``: records of the crawl, and of the index workers' own, that are not taken in;
    ``seconds_behind``: how old what was taken in last is, while there is more; 0 otherwise. ``steps``: of the
    work."""

    changes: int = 0
    documents: int = 0
    removed: int = 0
    failures: int = 0
    refused: int = 0
    partitions: int = 0
    behind: dict[str, int] = field(default_factory=dict)
    seconds_behind: float = 0.0
    steps: Timing = field(default_factory=Timing)
