"""What stands in a frontier topic, which is open to whoever may write to it: a ticket that a crawl publishes, or not.

Pure. What is let in here must bear to be visited, stored and counted: a record that ends a worker would end the next
one too.
"""

from typing import Final

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import LONGEST_URL, PRIORITIES, Ticket, decode_ticket
from gregor.worker.adapters.cluster.kafka_buffer import Raw
from gregor.worker.borders.log import FrontierRecord, Unreadable
from gregor.worker.web.urls import politeness_host

_KINDS: Final = ("new", "recrawl", "robots", "drop")
_MOST: Final = 1 << 30
"""No count comes near: what is counted on from it still fits where 31 bits are kept."""
_LONGEST: Final = 500
"""Characters of an error, which may quote what it is about."""
_LONGEST_WORDS: Final = 1000
"""Characters of a label, which is the longest of what is no URL: with them an event of the ticket fits a message."""
_FARTHEST: Final = 1e11  # unix seconds, which no time passes


def read_record(raw: Raw, partition: int, partitions: int) -> FrontierRecord:
    """A record of a partition: its ticket, or why it is none that could have been published there."""
    offset, data = raw
    try:
        ticket = decode_ticket(data)
    except msgspec.MsgspecError as error:
        return FrontierRecord(offset, Unreadable(data, str(error)[:_LONGEST]))
    wrong = _wrong(ticket, partition, partitions)
    return FrontierRecord(offset, Unreadable(data, wrong) if wrong else ticket)


def _wrong(ticket: Ticket, partition: int, partitions: int) -> str:
    """One of each record that is read: cheap where all is well."""
    href, key, host, origin, kind = ticket.href, ticket.key, ticket.host, ticket.origin, ticket.kind
    if kind not in _KINDS:
        return f"a ticket of kind {kind} is never published"
    if not (host and (origin if kind == "robots" else key)):
        return "it names no URL or no host"
    urls = href, key, host, origin, ticket.via
    joined = "".join(urls)
    if not (joined.isascii() and joined.isprintable()) or max(map(len, urls)) > LONGEST_URL:
        return "its URL or host is longer than any, or not printable ASCII"
    if max(len(ticket.label), len(ticket.link), len(ticket.changefreq)) > _LONGEST_WORDS:
        return "a text of it is longer than any"
    visit, depth, hops, attempts = ticket.visit, ticket.depth, ticket.hops, ticket.attempts
    counts_fit = visit >= 0 <= depth and hops >= 0 <= attempts and visit + depth + hops + attempts < _MOST
    if not counts_fit or ticket.priority not in PRIORITIES:
        return "its priority or a count is out of bounds"
    if not all(-_FARTHEST < time < _FARTHEST for time in (ticket.at, ticket.lastmod, ticket.due)):
        return "a time of it is out of bounds"
    authority = href[href.find("/") + 2 : href.find("/", 8)]
    if authority != host and politeness_host(authority) != host:
        return "its host is not that of its URL"
    if (home := partition_of(host, partitions)) != partition:
        return f"its host belongs to partition {home}: murmur2 of the key, which is the host"
    return ""
