"""The Kafka topics of a crawl: their names, and what they are set to."""

from typing import Final

KEEPS: Final = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "unclean.leader.election.enable": "false",
}
"""With these nothing of a topic is lost by itself: records end below a committed watermark only."""

# Small segments, since only whole ones are freed.
FRONTIER: Final = {**KEEPS, "segment.bytes": "67108864"}
"""Settings of the frontier's topics; ``min.insync.replicas`` depends on the replicas."""

PUBLISHED: Final = {"cleanup.policy": "delete", "unclean.leader.election.enable": "false"}
"""Settings of what others read: how long it is kept is the brokers' decision."""


def frontier(crawl: str, priority: int) -> str:
    """The topic of a priority (1 to 4): msgpack tickets, key = host, partition = the host's partition."""
    return f"{crawl}.frontier.p{priority}"


def events(crawl: str) -> str:
    """The topic of page events: JSON, key = host."""
    return f"{crawl}.events"


def items(crawl: str) -> str:
    """The topic of item events: JSON, key = host."""
    return f"{crawl}.items"


def index(crawl: str) -> str:
    """The topic by which index workers tell each other what is to be looked at and written: msgpack posts."""
    return f"{crawl}.index"


def index_group(crawl: str) -> str:
    """The consumer group whose offsets say how far the index is."""
    return f"{crawl}.index"


def dead(crawl: str) -> str:
    """The topic of dead letters: JSON, key = host."""
    return f"{crawl}.dead"


def group(crawl: str) -> str:
    """The consumer group whose offsets are the committed watermarks."""
    return f"{crawl}.frontier"
