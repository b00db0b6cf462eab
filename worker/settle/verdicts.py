"""What follows from an outcome for the URL and for its host: state, next ticket, pauses. Pure."""

import random
from typing import Final, assert_never

import msgspec

from gregor.schemas.messages import Row, State, Ticket, url_fingerprint
from gregor.worker.config.credentials import keeps_cookies
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
    PortRefused,
    Pushback,
    Redirected,
    Unchanged,
)
from gregor.worker.fetch.ports import refusal
from gregor.worker.frontier.counts import NO_CHANGE, change_of
from gregor.worker.frontier.tickets import may_return
from gregor.worker.links.known_ranks import KnownRanks
from gregor.worker.politeness.delays import back_off
from gregor.worker.politeness.host_records import Answered, OriginFailed, TurnResult
from gregor.worker.settle.revisits import Revisits, SitemapHint
from gregor.worker.settle.visited import Visited


class Verdict(msgspec.Struct, frozen=True):
    """`pause`: the host is left alone so long (seconds; 0: as usual). `host_failed`: it counts as the host's failure.
    `cause` names the failure for the dead letter and the counters.
    `same`: a revisit found what was there before. `rate`: what is known now of how often it changes; empty: nothing new
    is."""

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
    rate: bytes = b""


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
    max_redirects: int = 0
    max_depth: int | None = None
    ranks: KnownRanks = msgspec.field(default_factory=KnownRanks)

    @classmethod
    def of(cls, config: Config) -> "Policy":
        """The policy of a configuration."""
        pauses = config.retry_pause, config.retry_pause_max
        return cls(
            config.retries,
            *pauses,
            Revisits.of(config),
            config.retry_jitter,
            keeps_cookies(config),
            config.max_redirects,
            config.max_depth,
        )


def conclude(visited: Visited, policy: Policy, pushbacks: int, now: float, chance: random.Random) -> Verdict:
    """What a visit means. `pushbacks` counts the host's 429 and 503 answers in a row, this one included."""
    ticket = visited.ticket
    match visited.outcome:
        case None if visited.page is not None:
            page = visited.page
            return _revisit(Verdict(page.state, page.state, page.status), visited, policy, now, chance)
        case Fetched(response):
            verdict = Verdict("fetched", "fetched", response.status, same=visited.same)
            return _revisit(verdict, visited, policy, now, chance)
        case Unchanged():
            if (kept_state := visited.held) is None:
                return Verdict("dead", "status 304 to a request without a condition", 304, cause="status")
            return _revisit(Verdict(kept_state, "unchanged", 304, same=True), visited, policy, now, chance)
        case Redirected(status, after=after):
            return _redirected(visited, f"redirected ({status})", status, policy, now + after)
        case Gone(status):
            return _looked_for(Verdict("gone", f"status {status}", status), visited, policy, now)
        case CredentialsWanted(status):
            rule = "the server wants credentials: username_env and password_env, or bearer_env, of a [[host]] table"
            return Verdict("refused", f"status {status}", status, rule=rule, cause="credentials")
        case Denied(rule, status):
            return Verdict("denied", "denied", status, rule=rule)
        case AddressRefused(detail):
            rule = f"{detail} is not global: allow_networks (--allow-network) can allow its network"
            return Verdict("refused", "address not allowed", rule=rule, cause="refused_address")
        case PortRefused(port):
            return Verdict("refused", "port not allowed", rule=refusal(port), cause="refused_port")
        case Broken(cause, detail, status):
            return Verdict("dead", detail, status, cause=cause)
        case Pushback(status, after, at_least):
            usual = back_off(policy.pause, pushbacks, policy.longest, policy.jitter, chance)
            pause = after or max(usual, at_least)
            dead = Verdict("dead", f"status {status}", status, pause=pause, cause=f"status {status}")
            return _retry(dead, ticket, policy, now + pause)
        case Failed(cause, detail, status, host, after):
            usual = back_off(policy.pause, ticket.attempts + 1, policy.longest, policy.jitter, chance)
            dead = Verdict("dead", detail, status, pause=after, host_failed=host, cause=cause)
            return _retry(dead, ticket, policy, now + max(usual, after))
        case None | LeaseOver():
            raise AssertionError("a visit that found nothing has no verdict")
        case _:
            assert_never(visited.outcome)


def _redirected(visited: Visited, outcome: str, status: int, policy: Policy, due: float) -> Verdict:
    """A redirect. One to another spelling of the same URL is followed by a ticket of its own, no sooner than `due`."""
    ticket, link = visited.ticket, visited.redirect
    if link is None:
        return Verdict("dead", "redirect to no URL", status, cause="redirect")
    if link.key != ticket.key:
        rule = "" if link.fate == "sent" else link.fate
        return Verdict("redirected", outcome, status, rule, target=link.url)
    elsewhere = (visited.url is not None and link.url != visited.url.href) or policy.cookies
    if not elsewhere or ticket.hops >= policy.max_redirects:
        return Verdict("dead", "redirects to itself", status, target=link.url, cause="redirect")
    again = msgspec.structs.replace(ticket, href=link.url, visit=ticket.visit + 1, kind="retry", hops=ticket.hops + 1)
    return Verdict("waiting", outcome, status, target=link.url, next=again, due=due)


def _retry(dead: Verdict, ticket: Ticket, policy: Policy, due: float) -> Verdict:
    """One more try at a time, unless there were as many as may be: then it is `dead`."""
    if ticket.attempts >= policy.retries:
        return dead
    again = msgspec.structs.replace(ticket, visit=ticket.visit + 1, kind="retry", attempts=ticket.attempts + 1)
    return msgspec.structs.replace(dead, state="waiting", next=again, due=due)


def _looked_for(gone: Verdict, visited: Visited, policy: Policy, now: float) -> Verdict:
    """A page that is gone is looked for again, ever more rarely, where pages are visited again."""
    ticket, row = visited.ticket, visited.row
    if policy.revisits is None or row is None or not row.page:
        return gone
    due = now + policy.revisits.gone_for(row, now)
    if policy.revisits.dropped_before(row, due, now):
        return gone
    return msgspec.structs.replace(gone, next=asked_again(ticket, ticket.visit + 1), due=due)


def _revisit(verdict: Verdict, visited: Visited, policy: Policy, now: float, chance: random.Random) -> Verdict:
    """A page that is visited again gets its next ticket."""
    ticket, row, revisits = visited.ticket, visited.row, policy.revisits
    if revisits is None:
        return verdict
    said, rates = SitemapHint.of(ticket, row), None
    if row is not None and row.page:
        rates = revisits.learn(row, said, not (verdict.same or visited.only_noise), now)
    importance = policy.ranks.importance(ticket.key, ticket.host)
    interval = revisits.interval(rates, said, now, 0.1 * chance.random(), importance)
    if rates is not None and row is not None and row.due:
        revisits.learning.planned(interval, row.due, now)
    again, rate = asked_again(ticket, ticket.visit + 1), rates.octets if rates is not None else b""
    return msgspec.structs.replace(verdict, next=again, due=now + interval, rate=rate)


def turn_result(visited: Visited, verdict: Verdict, used: bool) -> TurnResult | None:
    """What a turn came to by a visit, if it is over with it; ``used``: a request was made."""
    origin = visited.url.origin if visited.url is not None else ""
    if visited.response is not None:
        change = change_of(visited.row, visited.page) if visited.page is not None else NO_CHANGE
        relevance = visited.page.relevance if visited.page is not None else None
        if visited.page is not None and not visited.ticket.depth:
            relevance = 1.0  # a seed is as good as relevant, whatever is known of the topic yet
        return Answered(origin, verdict.pause, change, relevance=relevance)
    if verdict.host_failed:
        silent = url_fingerprint(visited.ticket.key) if used and verdict.cause == "timeout" else 0
        return OriginFailed(origin, verdict.outcome, silent=silent)
    return Answered(origin) if used else None


def sitemap_news(ticket: Ticket, row: Row | None, policy: Policy, now: float) -> tuple[Row, Ticket | None] | None:
    """What a stale ticket tells of a known URL: its row with that, and a visit sooner than planned.

    None if it tells nothing new. A sitemap's word of a URL that has no page, nor had one, is no reason to ask again; a
    redirect that came back is one, as long as it has more hops behind it than at any visit before.
    """
    if row is not None and row.state == "redirected" and may_return(ticket, policy.cookies) and ticket.hops > row.hops:
        return msgspec.structs.replace(row, due=now), asked_again(ticket, row.visits, ticket.hops)
    hint = SitemapHint(ticket.lastmod, ticket.changefreq)
    if policy.revisits is None or row is None or row.state not in ("fetched", "duplicate", "gone") or not hint:
        return None
    due = policy.revisits.owed(row, hint, now)
    if due is None and hint == SitemapHint(row.lastmod, row.changefreq):
        return None
    first_found = msgspec.structs.replace(ticket, href=row.href, via=row.via, link=row.link, depth=row.depth)
    again = None if due is None else asked_again(first_found, row.visits)
    renewed = msgspec.structs.replace(
        row, lastmod=hint.lastmod, changefreq=hint.changefreq, due=row.due if due is None else due
    )
    return renewed, again


def asked_again(ticket: Ticket, visit: int, hops: int = 0) -> Ticket:
    """The ticket of a revisit. What sitemaps say stays in the row, where it may become newer meanwhile."""
    return msgspec.structs.replace(
        ticket, visit=visit, kind="revisit", attempts=0, hops=hops, lastmod=0.0, changefreq=""
    )
