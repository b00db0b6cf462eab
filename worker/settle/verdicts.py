"""What follows from an outcome for the URL and for its host: state, next ticket, pauses. Pure."""

import random
from typing import Final, assert_never

import msgspec

from gregor.schemas.messages import Link, Page, Row, State, Ticket
from gregor.worker.config.settings import Config
from gregor.worker.fetch.outcomes import (
    AddressRefused,
    Broken,
    CredentialsWanted,
    Denied,
    Failed,
    Fetched,
    Gone,
    LeaseOver,
    Outcome,
    Pushback,
    Redirected,
    Unchanged,
)
from gregor.worker.frontier.tickets import may_return
from gregor.worker.politeness.delays import back_off
from gregor.worker.settle.revisits import Revisits, Said
from gregor.worker.web.urls import Url


class Verdict(msgspec.Struct, frozen=True):
    """`pause`: the host is left alone so long (seconds; 0: as usual). `host_failed`: it counts as the host's failure.
    `cause` names the failure for the dead letter and the counters. `same`: a revisit found what was there before."""

    state: State
    outcome: str
    status: int = 0
    rule: str = ""
    target: str = ""
    next: Ticket | None = None
    due: float = 0.0
    pause: float = 0.0
    host_failed: bool = False
    cause: str = ""
    same: bool = False


GIVEN_UP: Final = ("dead", "refused")
"""States that are for good, but need not be once their cause is mended: they leave a letter that can be retried."""


class Policy(msgspec.Struct, frozen=True):
    """The settings that decide it."""

    retries: int
    pause: float
    longest: float
    revisits: Revisits | None
    jitter: float
    cookies: bool = False

    @classmethod
    def of(cls, config: Config) -> "Policy":
        """The policy of a configuration."""
        pauses = config.retry_pause, config.retry_pause_max
        return cls(config.retries, *pauses, Revisits.of(config), config.retry_jitter, config.cookies)


def conclude(
    ticket: Ticket,
    outcome: Outcome,
    row: Row | None,
    policy: Policy,
    pushbacks: int,
    now: float,
    chance: random.Random,
    same: bool = False,
    held: State | None = None,
) -> Verdict:
    """What an outcome means. `pushbacks` counts the host's 429 and 503 answers in a row, this one included. `same`: the
    document that came says what the stored one says. `held`: the state of the version that the request asked about."""
    match outcome:
        case Fetched(response):
            return _revisit("fetched", "fetched", response.status, same, ticket, row, policy, now, chance)
        case Unchanged():
            if held is None:
                return Verdict("dead", "status 304 to a request without a condition", 304, cause="status")
            return _revisit(held, "unchanged", 304, True, ticket, row, policy, now, chance)
        case Redirected(status, location):
            return Verdict("redirected", f"redirected ({status})", status, target=location)
        case Gone(status):
            return Verdict("gone", f"status {status}", status)
        case CredentialsWanted(status):
            rule = "the server wants credentials: username_env and password_env, or bearer_env, of a [[host]] table"
            return Verdict("refused", f"status {status}", status, rule=rule, cause="credentials")
        case Denied(rule):
            return Verdict("denied", "denied", rule=rule)
        case AddressRefused(detail):
            rule = f"{detail} is not global: allow_networks (--allow-network) can allow its network"
            return Verdict("refused", "address not allowed", rule=rule, cause="refused_address")
        case Broken(cause, detail, status):
            return Verdict("dead", detail, status, cause=cause)
        case Pushback(status, after):
            pause = after if after else back_off(policy.pause, pushbacks, policy.longest, policy.jitter, chance)
            return _retry(ticket, f"status {status}", status, f"status {status}", pause, policy, now, pause, False)
        case Failed(cause, detail, status, host):
            pause = back_off(policy.pause, ticket.attempts + 1, policy.longest, policy.jitter, chance)
            return _retry(ticket, detail, status, cause, pause, policy, now, 0.0, host)
        case LeaseOver():
            raise AssertionError("an outcome without a request is no verdict")
        case _:
            assert_never(outcome)


def of_redirect(verdict: Verdict, ticket: Ticket, url: Url, link: Link | None, config: Config, now: float) -> Verdict:
    """What a redirect to `link` means. One to another spelling of the same URL is followed by a ticket of its own."""
    if link is None:
        return Verdict("dead", "redirect to no URL", verdict.status, cause="redirect")
    if link.key != ticket.key:
        return msgspec.structs.replace(verdict, target=link.url, rule="" if link.fate == "sent" else link.fate)
    other = link.url != url.href or config.cookies
    if not other or ticket.hops >= config.max_redirects:
        return Verdict("dead", "redirects to itself", verdict.status, target=link.url, cause="redirect")
    again = msgspec.structs.replace(ticket, href=link.url, visit=ticket.visit + 1, kind="retry", hops=ticket.hops + 1)
    return Verdict("waiting", verdict.outcome, verdict.status, target=link.url, next=again, due=now)


def _retry(
    ticket: Ticket,
    detail: str,
    status: int,
    cause: str,
    wait: float,
    policy: Policy,
    now: float,
    pause: float,
    host_failed: bool,
) -> Verdict:
    if ticket.attempts >= policy.retries:
        return Verdict("dead", detail, status, pause=pause, host_failed=host_failed, cause=cause)
    again = msgspec.structs.replace(ticket, visit=ticket.visit + 1, kind="retry", attempts=ticket.attempts + 1)
    return Verdict(
        "waiting", detail, status, next=again, due=now + wait, pause=pause, host_failed=host_failed, cause=cause
    )


def _revisit(
    state: State,
    outcome: str,
    status: int,
    same: bool,
    ticket: Ticket,
    row: Row | None,
    policy: Policy,
    now: float,
    chance: random.Random,
) -> Verdict:
    """A page that is visited again gets its next ticket."""
    if policy.revisits is None:
        return Verdict(state, outcome, status, same=same)
    changed, unchanged = (row.changed, row.unchanged) if row is not None else (0, 0)
    changed += not same and row is not None and row.page > 0
    unchanged += same
    interval = policy.revisits.interval(changed, unchanged, Said.of(ticket, row), now, 0.1 * chance.random())
    return Verdict(state, outcome, status, next=_again(ticket, ticket.visit + 1), due=now + interval, same=same)


def of_stored(
    page: Page, ticket: Ticket, row: Row | None, policy: Policy, now: float, chance: random.Random
) -> Verdict:
    """What follows from the page of this very ticket, which an earlier settle stored."""
    return _revisit(page.state, page.state, page.status, False, ticket, row, policy, now, chance)


def sitemap_news(ticket: Ticket, row: Row | None, policy: Policy, now: float) -> tuple[Row, Ticket | None] | None:
    """What a stale ticket tells of a known URL: its row with that, and a visit sooner than planned.

    None if it tells nothing new. A sitemap's word of a URL that has no page, nor had one, is no reason to ask again; a
    redirect that came back is one, as long as it has more hops behind it than at any visit before.
    """
    if row is not None and row.state == "redirected" and may_return(ticket, policy.cookies) and ticket.hops > row.hops:
        return msgspec.structs.replace(row, due=now), _again(ticket, row.visits, ticket.hops)
    said = Said(ticket.lastmod, ticket.changefreq)
    if policy.revisits is None or row is None or row.state not in ("fetched", "duplicate", "gone") or not said:
        return None
    due = policy.revisits.owed(row, said, now)
    if due is None and said == Said(row.lastmod, row.changefreq):
        return None
    asked = msgspec.structs.replace(ticket, href=row.href, via=row.via, link=row.link, depth=row.depth)
    again = None if due is None else _again(asked, row.visits)
    known = msgspec.structs.replace(
        row, lastmod=said.lastmod, changefreq=said.changefreq, due=row.due if due is None else due
    )
    return known, again


def _again(ticket: Ticket, visit: int, hops: int = 0) -> Ticket:
    """The ticket of a revisit. What sitemaps say stays in the row, where it may become newer meanwhile."""
    return msgspec.structs.replace(
        ticket, visit=visit, kind="revisit", attempts=0, hops=hops, lastmod=0.0, changefreq=""
    )
