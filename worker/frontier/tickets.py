"""What a ticket is worth when its turn has come."""

import msgspec

from gregor.schemas.messages import Row, Ticket


def is_stale(ticket: Ticket, row: Row | None) -> bool:
    """Whether what the ticket asks for was done: finished without a fetch.

    An early ticket (its predecessor's settle was cut short) is valid.
    """
    if row is None or ticket.kind == "drop":  # which asks for no visit
        return ticket.kind == "drop"
    if ticket.visit < row.visits:
        return True
    return ticket.visit == row.visits and row.state != "waiting" and ticket.kind not in ("revisit", "recrawl")


def joined(live: Ticket, other: Ticket) -> Ticket:
    """A live ticket with what a further record of it tells: what a sitemap says, a shorter way, and that a link leads
    to it, not only the need of a page."""
    if other.news != other.key:
        live = msgspec.structs.replace(live, lastmod=other.lastmod, changefreq=other.changefreq)
    if live.requisite and not other.requisite:
        return msgspec.structs.replace(live, depth=other.depth, requisite=False)
    nearer = other.depth < live.depth and live.requisite == other.requisite
    return msgspec.structs.replace(live, depth=other.depth) if nearer else live


def nearest(ticket: Ticket, row: Row | None) -> Ticket:
    """The ticket of a URL to which a shorter way was found since it was made, or a link where it was a requisite."""
    if row is None:
        return ticket
    if row.requisite == ticket.requisite:
        return ticket if row.depth >= ticket.depth else msgspec.structs.replace(ticket, depth=row.depth)
    return msgspec.structs.replace(ticket, depth=row.depth, requisite=False) if ticket.requisite else ticket


def may_shorten(ticket: Ticket, max_depth: int | None) -> bool:
    """Whether a ticket of a known URL may tell of a shorter way, on which more can be followed. A sitemap's depth says
    nothing."""
    return max_depth is not None and ticket.depth < max_depth and ticket.link != "sitemap" and not ticket.requisite


def makes_a_page(ticket: Ticket, row: Row) -> bool:
    """Whether a ticket tells of a link to what was only a requisite."""
    return row.requisite and not ticket.requisite


def may_return(ticket: Ticket, cookies: bool) -> bool:
    """Whether a redirect may have led back to where it began. With cookies the answer can be another one by then: that
    is how a site asks for them."""
    return cookies and ticket.link == "redirect" and ticket.hops > 1


def ordered_by(ticket: Ticket, now: float) -> Ticket:
    """A ticket that was ordered by ``now`` at the latest: the clock of who ordered it may have been far ahead, and what
    came after the order, as a robots.txt read anew, must not look older than it for good."""
    return ticket if ticket.ordered <= now else msgspec.structs.replace(ticket, ordered=now)


def revisit_asked(ticket: Ticket) -> Ticket:
    """The revisit that a ticket of kind recrawl asks for: by order, or because the interval that was set is over."""
    ordered = 0.0 if ticket.due else ticket.at
    return msgspec.structs.replace(ticket, kind="revisit", due=0.0, ordered=ordered)
