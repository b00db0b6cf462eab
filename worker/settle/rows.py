"""What the store says of a URL after a visit. Pure."""

from typing import TYPE_CHECKING, Final

import msgspec

from gregor.schemas.messages import Attempt, DeadLetter, Row
from gregor.schemas.parts import RequestStart
from gregor.worker.fetch.kept_heads import kept_head
from gregor.worker.frontier.tickets import makes_a_page
from gregor.worker.settle.revisits import SitemapHint

if TYPE_CHECKING:
    from gregor.worker.settle.verdicts import Verdict  # heavy: who only reads rows decides nothing
    from gregor.worker.settle.visited import Visited

OPTED_OUT: Final = "the host opted out"

REMEMBERED_ATTEMPTS = 10


def settled_row(
    visited: "Visited", verdict: "Verdict", now: float, owner: str, asked: tuple[RequestStart, ...] = ()
) -> Row:
    """The row after a visit. Where a URL was found is what its first visit said, its first as a page if it was a
    requisite before; of one whose host opted out it says no more than that.

    ``now`` is unix seconds, ``owner`` the worker's name. ``asked``: the requests to its host that no row tells of yet.
    """
    ticket, row, page = visited.ticket, visited.row, visited.page
    requests = tuple(
        msgspec.structs.replace(request, href="") if request.href == ticket.key else request for request in asked
    )
    response, url = visited.response, visited.url
    answer = kept_head(response, url.href) if page is None and response is not None and url is not None else None
    attempt = Attempt(now, verdict.outcome, verdict.status, visited.seconds, owner, requests, answer)
    finder = row if row is not None and not makes_a_page(ticket, row) else ticket
    hint = SitemapHint.of(ticket, row)
    new_version = page is not None and row is not None and row.page > 0 and not verdict.same
    settled = Row(
        key=ticket.key,
        href=ticket.href,
        host=ticket.host,
        visits=ticket.visit + 1,
        state=page.state if page is not None else verdict.state,
        outcome=verdict.outcome,
        status=verdict.status,
        depth=min(finder.depth, ticket.depth),
        hops=ticket.hops,
        via=finder.via,
        link=finder.link,
        label=finder.label,
        priority=ticket.priority,
        rule=verdict.rule,
        target=verdict.target,
        due=verdict.due,
        page=page.visit if page is not None else row.page if row is not None else 0,
        attempts=(*(row.attempts if row is not None else ()), attempt)[-REMEMBERED_ATTEMPTS:],
        first_seen=row.first_seen if row is not None else now,
        changed=(row.changed if row is not None else 0) + new_version,
        unchanged=(row.unchanged if row is not None else 0) + verdict.same,
        lastmod=hint.lastmod,
        changefreq=hint.changefreq,
        kept_status=page.status if page is not None else row.kept_status if row is not None else 0,
        kept_size=page.size if page is not None else row.kept_size if row is not None else 0,
        requisite=ticket.requisite and (row is None or row.requisite),
        worth=ticket.worth,
        brings=finder.brings,
        rate=verdict.rate or (row.rate if row is not None else b""),
        kept_language=page.language if page is not None else row.kept_language if row is not None else "",
        gone_since=(row.gone_since if row is not None and row.gone_since else now) if verdict.state == "gone" else 0.0,
    )
    return forgotten(settled) if verdict.rule == OPTED_OUT else settled


def dead_letter(visited: "Visited", verdict: "Verdict", now: float) -> DeadLetter:
    """The letter of a URL that was given up."""
    ticket = visited.ticket
    return DeadLetter(
        key=ticket.key,
        href=ticket.href,
        host=ticket.host,
        cause=verdict.cause,
        detail=verdict.rule or verdict.outcome,
        at=now,
        attempts=ticket.attempts + 1,
    )


def forgotten(row: Row) -> Row:
    """What is kept of a URL whose host opted out: no more than that it is not asked for."""
    return Row(row.key, row.key, row.host, row.visits, "denied", "denied", rule=OPTED_OUT)
