"""What the store says of a URL after a visit. Pure."""

import msgspec

from gregor.schemas.messages import Asked, Attempt, Page, Row, Ticket
from gregor.worker.settle.revisits import Said
from gregor.worker.settle.verdicts import Verdict

OPTED_OUT = "the host opted out"
REMEMBERED_ATTEMPTS = 10


def settled_row(
    ticket: Ticket,
    row: Row | None,
    verdict: Verdict,
    page: Page | None,
    now: float,
    owner: str,
    asked: tuple[Asked, ...] = (),
    elapsed: float = 0.0,
) -> Row:
    """The row after the visit of a ticket. Where a URL was found is what its first visit said.

    ``asked``: the requests to its host that no row tells of yet. ``elapsed``: seconds that the request took.
    """
    told = tuple(msgspec.structs.replace(one, href="") if one.href == ticket.key else one for one in asked)
    attempt = Attempt(now, verdict.outcome, verdict.status, elapsed, owner, told)
    first = row if row is not None else ticket
    said = Said.of(ticket, row)
    new_version = page is not None and row is not None and row.page > 0 and not verdict.same
    return Row(
        key=ticket.key,
        href=ticket.href,
        host=ticket.host,
        visits=ticket.visit + 1,
        state=page.state if page is not None else verdict.state,
        outcome=verdict.outcome,
        status=verdict.status,
        depth=first.depth,
        hops=ticket.hops,
        via=first.via,
        link=first.link,
        label=first.label,
        priority=ticket.priority,
        rule=verdict.rule,
        target=verdict.target,
        due=verdict.due,
        page=page.visit if page is not None else row.page if row is not None else 0,
        attempts=(*(row.attempts if row is not None else ()), attempt)[-REMEMBERED_ATTEMPTS:],
        first_seen=row.first_seen if row is not None else now,
        changed=(row.changed if row is not None else 0) + new_version,
        unchanged=(row.unchanged if row is not None else 0) + verdict.same,
        lastmod=said.lastmod,
        changefreq=said.changefreq,
    )


def forgotten(row: Row) -> Row:
    """What is kept of a URL whose host opted out: no more than that it is not asked for."""
    return Row(row.key, row.key, row.host, row.visits, "denied", "denied", rule=OPTED_OUT)
