"""What must be true when a crawl has ended: everything reachable is stored (I3), every URL is settled once (I4)."""

import json
from collections import Counter, defaultdict
from collections.abc import Coroutine
from typing import Any, TypeVar
from urllib.parse import urldefrag, urljoin, urlsplit

from gregor.schemas.messages import TERMINAL, Page, Row, Ticket, decode_ticket
from gregor.worker.inspect.explain import explain
from gregor.worker.links.configured import scope_rules
from gregor.worker.links.scope import Scope
from gregor.worker.web.urls import Urls
from tests.counted import counted
from tests.simulation.crawl import Run
from tests.simulation.reading import SimulatedReader
from tests.simulation.resources import (
    Changing,
    File,
    Flaky,
    Html,
    Redirect,
    Resource,
    Status,
    Unusable,
    Vanishing,
    body_of,
    lasting,
)
from tests.simulation.web import FOREVER, path_of
from tests.simulation.webs import DOMAIN, rules_of

T = TypeVar("T")
Finding = tuple[float, str]


def absolute(base: str, reference: str) -> str | None:
    """Where a link of the simulated web leads; None if that is no http(s) URL."""
    try:
        parts = urlsplit(urldefrag(urljoin(base, reference)).url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    usual = port in (None, 80 if parts.scheme == "http" else 443)
    return f"{parts.scheme}://{parts.hostname}{'' if usual else f':{port}'}{path_of(parts.geturl())}"


def in_scope(url: str) -> bool:
    """Whether a URL belongs to the crawl: the seeds' domain."""
    return (urlsplit(url).hostname or "").endswith(DOMAIN)


def complete(run: Run) -> list[Finding]:
    """I3: walk from the seeds along the links that the web's description has, as deep as the crawl may go."""
    if run.stopped:
        return []
    found: list[Finding] = []
    rows = run.world.store.rows_by_key.values
    ways = dict.fromkeys(run.seeds, "a seed")
    queue = list(ways)
    for url in queue:
        row = rows.get(url)
        if row is None:
            found.append((run.ended, f"{url} is lost ({ways[url]})"))
            continue
        expected = _expected(run, url)
        if row.state not in expected and not _refused_as_copy(run, url, row):
            found.append((run.ended, f"{url} is {row.state} ({row.outcome} {row.rule}), not {' or '.join(expected)}"))
            continue
        if row.state in ("fetched", "duplicate"):
            found += _stored(run, url, row)
        for target in _leads_to(run, url, row):
            if run.config.max_depth is not None and (reached := rows.get(target)) and reached.depth > row.depth + 1:
                found.append((run.ended, f"{target} has depth {reached.depth}, though {url} links there: {row.depth}"))
            if target not in ways:
                ways[target] = f"linked from {url}, depth {row.depth}"
                queue.append(target)
    strays = rows.keys() - ways.keys()
    found += [(run.ended, f"{url} has a row, but nothing leads there") for url in sorted(strays)]
    return found + _contents(run, rows)


def _expected(run: Run, url: str) -> tuple[str, ...]:
    """The terminal states that a URL may end in."""
    site = run.web.site(url)
    if site is None or FOREVER in (site.dead_until, site.unknown_until):
        return ("dead",)
    if not any(run.web.allows(address, 80) for address in site.addresses):
        return ("refused",)
    path = path_of(url)
    rules = rules_of(run.web, site)
    if rules is not None and not rules.allows(path):
        return ("denied",)
    resource = site.resource(path)
    if isinstance(resource, Redirect) and absolute(url, resource.target) == url:
        return ("dead",)
    return _of_resource(resource)


def _refused_as_copy(run: Run, url: str, row: Row) -> bool:
    """Whether a trap rule refused what would have been a duplicate: a mirror of another scheme or host."""
    if row.state != "denied" or not row.rule.startswith("trap: "):
        return False
    resource = run.web.resource(url)
    return resource is not None and body_of(lasting(resource)) in run.world.store.bodies.values()


def _of_resource(resource: Resource) -> tuple[str, ...]:
    match resource:
        case Html() | File():
            return ("fetched", "duplicate")
        case Redirect():
            return ("redirected",)
        case Status(404 | 410):
            return ("gone",)
        case Status() | Unusable():
            return ("dead",)
        case Flaky() | Vanishing() | Changing():
            return _of_resource(lasting(resource))


def _stored(run: Run, url: str, row: Row) -> list[Finding]:
    """A stored page has the body that the server sent."""
    store = run.world.store
    page = store.newest_page(url)
    if page is None:
        return [(run.ended, f"{url} is {row.state}, its page is lost")]
    resource = run.web.resource(url)
    if resource is None or store.bodies.get(page.body) != body_of(resource):
        return [(run.ended, f"{url} is stored with another body than the server sent")]
    return _items(run, page)


def _items(run: Run, page: Page) -> list[Finding]:
    """A visit has one set of items: that of its own page."""
    expected = [page.text] if page.text and page.content_type.startswith("text/") else []
    told = [json.loads(item.fields)["text"] for item in page.items if item.change not in ("gone", "lost")]
    return [] if told == expected else [(run.ended, f"{page.key} has {len(told)} items that are not its own")]


def _leads_to(run: Run, url: str, row: Row) -> list[str]:
    """Where a settled URL must have led: links in scope, within the depth, to be followed. A redirect is as deep."""
    too_deep = run.config.max_depth is not None and row.depth >= run.config.max_depth
    found = run.web.resource(url)
    resource = None if found is None else lasting(found)
    references: list[str] = []
    if row.state == "redirected" and isinstance(resource, Redirect):
        came_back = run.config.cookies and row.visits > 1  # and led on when it had fewer hops behind it
        references = [resource.target] if row.hops < run.config.max_redirects or came_back else []
    elif row.state in ("fetched", "duplicate") and isinstance(resource, Html) and not (resource.nofollow or too_deep):
        references = [link.url for link in resource.links if not link.nofollow]
        references += [resource.canonical] if resource.canonical else []
    if isinstance(found, Changing) and isinstance(found.first, Redirect):
        references = [*references, found.first.target]
    targets = (absolute(url, reference) for reference in references)
    return [target for target in targets if target is not None and in_scope(target)]


def _contents(run: Run, rows: dict[str, Row]) -> list[Finding]:
    """Of pages with the same body one is the page and the others are its duplicates."""
    if any(fault.kind == "forget" for _, _, fault in run.world.faults.happened):
        return []
    groups: dict[object, list[str]] = defaultdict(list)
    for url, row in rows.items():
        resource = run.web.resource(url)
        if row.state in ("fetched", "duplicate") and resource is not None:
            groups[_text(resource)].append(url)
    found = []
    for urls in groups.values():
        states = Counter(rows[url].state for url in urls)
        if states["fetched"] != 1:
            found.append((run.ended, f"of the same content {states['fetched']} are pages: {', '.join(urls)}"))
    return found


def _text(resource: Resource) -> object:
    """What two pages with the same content share: words and anchors, or all bytes."""
    resource = lasting(resource)
    return (resource.words, len(resource.links)) if isinstance(resource, Html) else body_of(resource)


def settled(run: Run) -> list[Finding]:
    """I4: every admitted URL has one row, and it is terminal; nothing waits; every watermark is at its log's end."""
    if run.stopped:
        return []
    found: list[Finding] = []
    store = run.world.store
    rows = store.rows_by_key.values
    admitted = {ticket.key for ticket in _tickets(run) if ticket.kind == "new"}
    found += [(run.ended, f"{key} was admitted and has no row") for key in sorted(admitted - rows.keys())]
    found += [(run.ended, f"{key} has a row and was never admitted") for key in sorted(rows.keys() - admitted)]
    found += [(run.ended, f"{row.key} is {row.state} at the end") for row in rows.values() if row.state not in TERMINAL]
    letters = {letter.key for letter in store.dead_letters}
    given_up = {row.key for row in rows.values() if row.state in ("dead", "refused")}
    found += [(run.ended, f"{key} is given up without a dead letter") for key in sorted(given_up - letters)]
    for name, shelf in (("calendar", store.calendar.entries), ("backlog", store.backlog.entries)):
        waiting = [t.key or t.host for entries in shelf.values() for _, t in entries.values() if t.kind != "revisit"]
        if waiting:
            found.append((run.ended, f"left in the {name}: {', '.join(waiting)}"))
    for place, topic in run.world.log.topics.items():
        if topic.highest_committed != len(topic.records):
            about = f"{topic.highest_committed} of {len(topic.records)} records committed"
            found.append((run.ended, f"topic {place[1]} of partition {place[0]}: {about}"))
    return found


def explained(run: Run) -> list[Finding]:
    """I4: `explain` names the state that a URL is in; the counts add up."""
    reader, urls = SimulatedReader(run.world, run.config.bucket_width), Urls()
    rows = run.world.store.rows_by_key.values
    scope = Scope(scope_rules(run.config), run.world.store.seed_hosts())
    found = []
    for key, row in rows.items():
        url = urls.parse(row.href)
        state = None if url is None else _at_once(explain(reader, urls, url, run.config, scope, 0, 0.0)).state
        if state != row.state:
            found.append((run.ended, f"{key} is {row.state}, explained as {state}"))
    counts = _at_once(counted(reader))
    total = sum(counts.get(state, 0) for state in (*TERMINAL, "waiting"))
    admitted = {ticket.key for ticket in _tickets(run) if ticket.kind == "new"}
    if total != len(admitted):
        found.append((run.ended, f"{len(admitted)} URLs were admitted, {total} are counted"))
    return found


def _at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("it waits")


def _tickets(run: Run) -> list[Ticket]:
    return [decode_ticket(data) for topic in run.world.log.topics.values() for data in topic.records]
