"""What a ticket is worth when its turn has come."""

from gregor.schemas.messages import Row, Ticket


def is_stale(ticket: Ticket, row: Row | None) -> bool:
    """Whether what the ticket asks for was done: finished without a fetch.

    An early ticket (its predecessor's settle was cut short) is valid.
    """
    if row is None:
        return False
    if ticket.visit < row.visits:
        return True
    return ticket.visit == row.visits and row.state != "waiting" and ticket.kind not in ("revisit", "recrawl")


def may_return(ticket: Ticket, cookies: bool) -> bool:
    """Whether a redirect may have led back to where it began. With cookies the answer can be another one by then: that
    is how a site asks for them."""
    return cookies and ticket.link == "redirect" and ticket.hops > 1
