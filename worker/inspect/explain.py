"""Why a URL was fetched or not: everything that the crawl knows of it, gathered for a person or a program."""

from msgspec import Struct

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import HostRecord, RobotsRecord
from gregor.worker.borders.reader import Reader, Waiting
from gregor.worker.config.settings import Config
from gregor.worker.fetch.ports import PortPolicy, refusal
from gregor.worker.inspect.selection import whole
from gregor.worker.inspect.url_record import href_of
from gregor.worker.links.scope import OutOfScope, Scope
from gregor.worker.robots import file as robots_file
from gregor.worker.robots.copies import in_force
from gregor.worker.settle.rows import KEPT
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
    label: str | None = None
    first_seen: str | None = None
    redirected_to: str | None = None
    duplicate_of: str | None = None
    near_duplicate_of: str | None = None
    unread: str | None = None
    attempts: list[AttemptView] = []
    owner: str | None = None
    waiting: list[WaitingView] = []
    next_due: str | None = None
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
    found = Explanation(url=url.href, key=url.key, host=url.host)
    await _settled(reader, found)
    waiting = await reader.find(url.key, url.host)
    _waiting(found, waiting)
    host = await whole(reader, reader.host(url.host))
    if host is not None:
        _host(found, host)
    found.robots = judge_robots(await whole(reader, reader.robots(url.origin)), url, config, now)
    verdict = scope.allows_sitemap(url) if found.discovered_as == "sitemap" else scope.allows(url)
    found.scope = RuleView(not isinstance(verdict, OutOfScope), verdict.rule)
    if found.scope.allows and PortPolicy(config.allow_ports).refuses(url.port):
        found.scope = RuleView(False, refusal(url.port))
    if found.state is None and mentions:
        found.mentions = await _mentions(reader, urls, url, mentions)
        if found.mentions and all(mention.fate != SENT for mention in found.mentions):
            found.state, found.rule = "denied", found.mentions[0].fate
    return found


async def _settled(reader: Reader, found: Explanation) -> None:
    row = await whole(reader, reader.row(found.key))
    if row is None:
        return
    found.url, found.state, found.status = row.href, row.state, row.status or None
    found.outcome, found.rule = row.outcome or None, row.rule or None
    found.depth, found.label = row.depth, row.label or None
    found.discovered_via, found.discovered_as = row.via or None, row.link
    found.first_seen = rfc3339(row.first_seen) if row.first_seen else None
    found.redirected_to = row.target or None
    page = await whole(reader, reader.page(row.key)) if row.state in KEPT else None
    if page is not None:
        found.duplicate_of = await href_of(reader, page.duplicate_of)
        found.near_duplicate_of = await href_of(reader, page.near_duplicate_of)
        found.unread = page.unread or None
    found.attempts = [
        AttemptView(rfc3339(one.at), one.outcome, one.status or None, one.elapsed, one.owner or None)
        for one in row.attempts
    ]
    found.owner = next((one.owner for one in reversed(row.attempts) if one.owner), None)
    found.next_due = rfc3339(row.due) if row.due else None


def _waiting(found: Explanation, waiting: list[Waiting]) -> None:
    found.waiting = [WaitingView(one.place, one.ticket.kind, rfc3339(one.due) if one.due else None) for one in waiting]
    due = min((one.due for one in waiting if one.due), default=None)
    if due is not None and found.next_due is None:
        found.next_due = rfc3339(due)
    if waiting and found.state is None:
        ticket = waiting[0].ticket
        found.state, found.depth, found.label = "waiting", ticket.depth, ticket.label or None
        found.discovered_via, found.discovered_as = ticket.via or None, ticket.link


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


async def _mentions(reader: Reader, urls: Urls, url: Url, limit: int) -> list[Mention]:
    found: list[Mention] = []
    async for page in reader.pages():
        for link in page.links:
            if link.url == url.href or link.key == url.key or _key(urls, link.url) == url.key:
                found.append(Mention(page.href, link.kind, link.fate))
                if len(found) == limit:
                    return found
                break
    return found


def _key(urls: Urls, href: str) -> str | None:
    url = urls.parse(href)
    return None if url is None else url.key
