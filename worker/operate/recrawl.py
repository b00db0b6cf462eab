"""Another visit of a URL that the crawl knows, now: the owner of its host is asked for a revisit that is due. Pure."""

from gregor.schemas.messages import Row, Ticket


def again(row: Row, priority: int | None = None, at: float = 0.0) -> Ticket:
    """What asks for it. It names the visit that comes next by the row, so that asking twice is asking once.

    ``at``: now, unix seconds, as far as that is known.
    """
    return Ticket(
        row.href,
        row.key,
        row.host,
        visit=row.visits,
        kind="recrawl",
        priority=priority or row.priority,
        depth=row.depth,
        hops=row.hops,
        via=row.via,
        link=row.link,
        label=row.label,
        at=at,
    )
