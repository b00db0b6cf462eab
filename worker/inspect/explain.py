"""Why a URL was fetched or not: everything that the crawl knows of it, gathered for a person or a program."""

from msgspec import Struct

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import KEPT, HostRecord, RobotsRecord
from gregor.worker.borders.reader import Reader, Waiting
from gregor.worker.config.settings import Config
from gregor.worker.fetch.ports import PortPolicy, refusal
from gregor.worker.inspect.url_record import href_of
from gregor.worker.inspect.versions import undamaged
from gregor.worker.links.scope import OutOfScope, Scope
from gregor.worker.robots import file as robots_file
from gregor.worker.robots.copies import in_force
from gregor.worker.settle.staleness import stale_since
from gregor.worker.web.urls import Url, Urls, robots_url

SENT = "sent"


class AttemptView(Struct, frozen=True):
    """One try."""

    at: str
    outcome: str
    status: int | None
    elapsed: float
    owner: str | None


class WaitingView(Struct, frozen=True):
    """Where a ticket of the URL waits: "log", "calendar" or "backlog"; ``due`` when it has an appointment."""

    where: str
    kind: str
    due: str | None


class Mention(Struct, frozen=True):
    """A stored page that links to the URL; ``fate`` is "sent", or the rule by which the link was not followed."""

    page: str
    kind: str
    fate: str


class RuleView(Struct, frozen=True):
    """What a test says of the URL, as settings and stored files are now."""

    allows: bool
    rule: str


class Explanation(Struct, kw_only=True):
    """One URL. ``state`` is None for one never met; "denied" when each of its links was turned down."""

    url: str
    key: str
    host: str
    state: str | None = None
    status: int | None = None
    outcome: str | None = None
    rule: str | None = None
    discovered_via: str | None = None
    discovered_as: str | None = None
    depth: int | None = None
    worth: float | None = None
    """What links to it had brought when its turn came, or its ticket says while it waits, where a policy scores."""
    worth_by: str | None = None
    """The policy that scores."""
    worth_of_link: float | None = None
    """What of it the link on the page `discovered_via` brought; the rest came by further links, and by waiting."""
    relevance: float | None = None
    """Of its page, for the topic of the crawl."""
    relevance_of_source: float | None = None
    """Of the page that it was found on: what its links inherit."""
    weighed: str | None = None
    """What gave its link another front queue than that of its depth: a rule of links, or scorers with their score."""
    label: str | None = None
    first_seen: str | None = None
    redirected_to: str | None = None
    duplicate_of: str | None = None
    near_duplicate_of: str | None = None
    unread: str | None = None
    requisite: bool = False
    attempts: list[AttemptView] = []
    owner: str | None = None
    waiting: list[WaitingView] = []
    next_due: str | None = None
    dropped_after: str | None = None
    """When nothing more is kept of it, if it is not visited before (`stale_after`)."""
    host_not_before: str | None = None
    host_failures: int = 0
    host_cause: str | None = None
    scope: RuleView | None = None
    robots: RuleView | None = None
    mentions: list[Mention] = []


async def explain(
    reader: Reader, urls: Urls, url: Url, config: Config, scope: Scope, mentions: int, now: float
) -> Explanation:
    """Gather it; ``mentions`` is how many pages that link to the URL are looked for, when the crawl has no row of it
    (that reads all stored pages); ``now`` is unix seconds."""
    explanation = Explanation(url=url.href, key=url.key, host=url.host)
    await _settled(reader, explanation, config)
    waiting = await reader.find(url.key, url.host)
    _waiting(explanation, waiting)
    host = await undamaged(reader, reader.host(url.host))
    if host is not None:
        _host(explanation, host)
    explanation.robots = judge_robots(await undamaged(reader, reader.robots(url.origin)), url, config, now)
    if explanation.requisite:
        verdict = scope.allows_requisite(url, config.requisites_scope == "any")
    else:
        verdict = scope.allows_sitemap(url) if explanation.discovered_as == "sitemap" else scope.allows(url)
    explanation.scope = RuleView(not isinstance(verdict, OutOfScope), verdict.rule)
    if explanation.scope.allows and PortPolicy(config.allow_ports).refuses(url.port):
        explanation.scope = RuleView(False, refusal(url.port))
    explanation.worth_by = config.ordering if explanation.worth is not None else None
    explanation.weighed = await _weighed(reader, urls, explanation)
    if explanation.state is None and mentions:
        explanation.mentions = await _mentions(reader, urls, url, mentions)
        if explanation.mentions and all(mention.fate != SENT for mention in explanation.mentions):
            explanation.state, explanation.rule = "denied", explanation.mentions[0].fate
    return explanation


async def _settled(reader: Reader, explanation: Explanation, config: Config) -> None:
    row = await undamaged(reader, reader.row(explanation.key))
    if row is None:
        return
    explanation.url, explanation.state, explanation.status = row.href, row.state, row.status or None
    explanation.outcome, explanation.rule = row.outcome or None, row.rule or None
    explanation.depth, explanation.label = row.depth, row.label or None
    explanation.discovered_via, explanation.discovered_as = row.via or None, row.link
    explanation.requisite, explanation.worth = row.requisite, row.worth
    explanation.worth_of_link = row.brings
    explanation.first_seen = rfc3339(row.first_seen) if row.first_seen else None
    explanation.redirected_to = row.target or None
    page = await undamaged(reader, reader.page(row.key)) if row.state in KEPT else None
    if page is not None:
        explanation.duplicate_of = await href_of(reader, page.duplicate_of)
        explanation.near_duplicate_of = await href_of(reader, page.near_duplicate_of)
        explanation.unread, explanation.relevance = page.unread or None, page.relevance
    explanation.attempts = [
        AttemptView(
            rfc3339(attempt.at), attempt.outcome, attempt.status or None, attempt.elapsed, attempt.owner or None
        )
        for attempt in row.attempts
    ]
    explanation.owner = next((attempt.owner for attempt in reversed(row.attempts) if attempt.owner), None)
    explanation.next_due = rfc3339(row.due) if row.due else None
    since = stale_since(row, visits_again=config.revisit is not None)
    if config.stale_after is not None and since is not None:
        explanation.dropped_after = rfc3339(since + config.stale_after)


def _waiting(explanation: Explanation, waiting: list[Waiting]) -> None:
    explanation.waiting = [
        WaitingView(entry.place, entry.ticket.kind, rfc3339(entry.due) if entry.due else None) for entry in waiting
    ]
    due = min((entry.due for entry in waiting if entry.due), default=None)
    if due is not None and explanation.next_due is None:
        explanation.next_due = rfc3339(due)
    if waiting and explanation.state is None:
        ticket = waiting[0].ticket
        explanation.state, explanation.depth, explanation.label = "waiting", ticket.depth, ticket.label or None
        explanation.discovered_via, explanation.discovered_as = ticket.via or None, ticket.link
        explanation.requisite, explanation.worth = ticket.requisite, ticket.worth
        explanation.worth_of_link = ticket.brings


def _host(found: Explanation, host: HostRecord) -> None:
    found.host_failures = host.failures
    worst = max(host.failing, key=lambda one: one.failures, default=None)
    found.host_cause = worst.cause if worst is not None else None
    found.host_not_before = rfc3339(host.not_before) if host.not_before else None


def judge_robots(record: RobotsRecord | None, url: Url, config: Config, now: float) -> RuleView | None:
    """What the stored robots.txt of the URL's origin says, as the crawl reads it ``now`` (unix seconds); None when none
    was asked for yet."""
    if config.robots == "ignore":
        return RuleView(True, "robots.txt is ignored")
    if record is None:
        return None
    if record.verdict == "allow":
        return RuleView(True, f"no robots.txt (status {record.status})")
    text = in_force(record, now)
    if text is None:
        return RuleView(False, f"robots.txt unreachable ({record.status or 'no answer'})")
    decision = robots_file.parse(text, config.user_agent, robots_url(url)).decide(url.href)
    line = f"line {decision.line}: {decision.rule}" if decision.line else "no rule matches"
    return RuleView(decision.allowed, f"robots.txt {line}")


async def _weighed(reader: Reader, urls: Urls, explanation: Explanation) -> str | None:
    if explanation.discovered_via is None:
        return None
    page = await undamaged(reader, reader.page(explanation.discovered_via))
    explanation.relevance_of_source = page.relevance if page is not None else None
    for link in page.links if page is not None else ():
        if link.by and _key(urls, link.url) == explanation.key:
            return f"front queue {link.priority} by {link.by}"
    return None


async def _mentions(reader: Reader, urls: Urls, url: Url, limit: int) -> list[Mention]:
    mentions: list[Mention] = []
    async for page in reader.pages():
        for link in page.links:
            if link.url == url.href or link.key == url.key or _key(urls, link.url) == url.key:
                mentions.append(Mention(page.href, link.kind, link.fate))
                if len(mentions) == limit:
                    return mentions
                break
    return mentions


def _key(urls: Urls, href: str) -> str | None:
    url = urls.parse(href)
    return None if url is None else url.key
