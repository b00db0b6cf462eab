"""Small made-up sites with traps in them, and a crawl of one that knows no budget but its own limit of pages."""

import re
from calendar import month_name
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from html import unescape
from random import Random
from urllib.parse import parse_qsl, quote, urlsplit

import xxhash

from gregor.schemas.messages import Ticket
from gregor.worker.frontier.back_queue import BackQueue
from gregor.worker.frontier.queue_item import FromLog, QueueItem
from gregor.worker.links.priority import of_link
from gregor.worker.links.traps import Traps
from gregor.worker.links.url_loops import malformed
from gregor.worker.read.fingerprints import text_fingerprint
from gregor.worker.web.urls import Url, Urls
from tests.web.trap_web import TrapWeb

NOW = 1_790_000_000.0
"""When the sites are crawled, unix seconds: in 2026."""
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "omicron")

Answer = tuple[str, Iterable[str]]
Site = Callable[[str], Answer | None]
"""Text and links of a URL; None where there is nothing."""


@dataclass
class Crawled:
    """What a crawl fetched, in order, why it left links alone, and how many of those came back."""

    pages: list[str]
    refused: Counter[str]
    returned: int = 0


def crawl(site: Site, seed: str, limit: int = 3000, traps: Traps | None = None) -> Crawled:
    """As one worker does it: links are judged, wait in the back queue of their host, and are judged again there."""
    urls, traps, prints, seen = Urls(), Traps() if traps is None else traps, dict[bytes, str](), set[str]()
    queues: dict[str, BackQueue] = {}
    crawled = Crawled([], Counter())

    def add(url: Url, depth: int, via: str) -> None:
        if url.key not in seen:
            seen.add(url.key)
            ticket = Ticket(url.href, url.key, url.host, 0, "new", of_link(depth), depth, 0, via, "a", at=NOW)
            queue = queues.setdefault(url.host, BackQueue(traps.judge))
            assert queue.takes(ticket, limit * 1000)
            queue.put(QueueItem(ticket, FromLog(1, 0), False))

    first = urls.parse(seed)
    assert first is not None
    add(first, 0, "")
    while len(crawled.pages) < limit:
        item = next((item for queue in list(queues.values()) if (item := queue.take()) is not None), None)
        if item is None:
            break
        if item.refused:
            crawled.refused[item.refused] += 1
            traps.set_aside(item.ticket)
            continue
        url = urls.parse(item.ticket.href)
        if url is None or (answer := site(url.href)) is None:
            continue
        crawled.pages.append(url.href)
        text, links = answer
        for link in links:
            if (target := urls.resolve(link, url.href)) is None:
                continue
            if reason := malformed(target) or traps.refuses(url, target, item.ticket.via):
                crawled.refused[reason] += 1
                if not malformed(target):
                    traps.refused_names.add(Ticket(target.href, target.key, target.host, via=url.key, link="a"))
            else:
                add(target, item.ticket.depth + 1, url.key)
        owner = prints.setdefault(text_fingerprint(text), url.key)
        traps.learn(url, text=text, copy_of=owner if owner != url.key else "", via=item.ticket.via)
        for key in traps.returning(url.host):
            crawled.returned += 1
            again = Ticket(key, key, url.host, 1, "revisit", depth=item.ticket.depth, via=url.key, link="a")
            queues[url.host].put(QueueItem(again, FromLog(1, 0), False))
        traps.came_back(url.host, traps.returning(url.host))
        for name_link in (aside := traps.refused_names.returning(url.host)):
            crawled.returned += 1
            if (name := urls.parse(name_link.href)) is not None:
                add(name, item.ticket.depth + 1, name_link.via)
        traps.refused_names.came_back(url.host, aside)
    return crawled


def reach(site: Site, seed: str) -> int:
    """How many pages links lead to."""
    urls = Urls()
    known, waiting = {seed}, [seed]
    while waiting:
        page = waiting.pop()
        answer = site(page)
        found = {target.href for link in (answer[1] if answer else ()) if (target := urls.resolve(link, page))}
        waiting += found - known
        known |= found
    return len(known)


def of_web(web: TrapWeb) -> Site:
    """A made-up web as a site."""

    def site(url: str) -> Answer | None:
        parts = urlsplit(url)
        page = web.page(parts.path + (f"?{parts.query}" if parts.query else ""))
        if page is None:
            return None
        return unescape(re.sub("<[^>]*>", " ", page)), map(unescape, re.findall('href="([^"]*)"', page))

    return site


def parameters(url: str) -> dict[str, str]:
    """The query, the last value of each name."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def month_numbers(url: str) -> Answer:
    """A calendar that counts months, in both directions, with next to no text."""
    month = int(parameters(url).get("m", "0"))
    return f"calendar {month}\nNo events.", (f"/cal?view=month&m={month + 1}", f"/cal?view=month&m={month - 1}")


def month_names(url: str) -> Answer:
    """A calendar by year and name of month in its path, with the days of the month as text."""
    parts = urlsplit(url).path.strip("/").split("/")
    names = [name.lower() for name in month_name[1:]]
    year, month = (int(parts[1]), names.index(parts[2])) if len(parts) > 2 else (2024, 0)
    after, before = divmod(year * 12 + month + 1, 12), divmod(year * 12 + month - 1, 12)
    days = " ".join(str(day) for day in range(1, 29))
    links = (f"/calendar/{y}/{names[m]}" for y, m in (after, before))
    return f"{names[month]} {year}\nMon Tue Wed Thu Fri Sat Sun {days} No events are planned this month.", links


def days_and_months(url: str) -> Answer:
    """A calendar whose months link to their days and whose days link to the next and to their month."""
    query = parameters(url)
    day = date.fromisoformat(query.get("date", "2024-01-01"))
    if query.get("view") == "day":
        after = day + timedelta(1)
        return f"{day:%A, %d %B %Y}\nNothing on this day.", (
            f"/events?view=day&date={after}",
            f"/events?view=month&date={day:%Y-%m-01}",
        )
    days = [day + timedelta(n) for n in range(28)]
    after = (day + timedelta(32)).replace(day=1)
    links = [f"/events?view=day&date={each}" for each in days]
    return f"{day:%B %Y}\n" + " ".join(f"{each.day}" for each in days), (f"/events?view=month&date={after}", *links)


def timestamps(url: str) -> Answer:
    """A calendar that counts seconds."""
    time = int(parameters(url).get("t", "1700000000"))
    return f"Week of {time}\nno entries", (f"/week?t={time + 604800}", f"/week?t={time - 604800}")


def soft_404(url: str) -> Answer:
    """A list that has a next page after its last."""
    page = int(parameters(url).get("page", "1"))
    text = (
        f"Results {page}: {' '.join(WORDS[page * n % len(WORDS)] for n in range(9))}"
        if page < 4
        else f"Page {page} is empty"
    )
    return text, (f"/list?page={page + 1}",)


def facets(url: str) -> Answer:
    """A search whose filters are added to what is there, without effect."""
    return "results\nSame ten results.", (f"{url}{'&' if '?' in url else '?'}f[{len(url)}]=topic:{n}" for n in range(8))


def named_facets(url: str) -> Answer:
    """A shop whose filters combine: 4 to the power of 8 pages of the same shoes."""
    chosen = parameters(url)
    names = ("brand", "colour", "heel", "lining", "material", "price", "season", "size")
    links = []
    for name in names:
        for value in ("a", "b", "c"):
            more = dict(sorted({**chosen, name: value}.items()))
            links.append("/shoes?" + "&".join(f"{key}={text}" for key, text in more.items()))
    return "Shoes\nWe have shoes.", links


def copies(url: str) -> Answer:
    """Each page is one copy longer than the one before."""
    return "empty\nmore", (f"{url}&q=",)


def entities(url: str) -> Answer:
    """Ampersands that were escaped twice."""
    return "list\n2 3", (f"{url}&amp;p=2", f"{url}&amp;p=3")


def relative(url: str) -> Answer:
    """A page that answers under any path, with a relative link."""
    return "page\nlink 1 link 2", ("area/sub/index.html", "common/")


def any_path(url: str) -> Answer:
    """The same with many relative links, as below a script with path info."""
    return "About us", ("about/", "contact/", "help/", "news/", "shop/")


def two_words(url: str) -> Answer:
    """The same with one link up and one down, and a text that quotes the path."""
    return f"You are at {urlsplit(url).path}", ("left/", "right/")


def glued(url: str) -> Answer:
    """A script that glues its name to where it is."""
    return "Gallery", (f"{url}index.html",)


def come_back(url: str) -> Answer:
    """A login that brings its own address along, escaped once more each time."""
    return "Log in\nPassword", (f"/login?next={quote(url, safe='')}",)


def sessions(url: str) -> Answer:
    """Every answer has new session ids in its links."""
    token = xxhash.xxh3_64_hexdigest(url.encode())
    return f"Page {len(url) % 3}", (f"/s/{token[::-1]}/home", f"/s/{token}/help")


def wildcard(url: str) -> Answer:
    """Names without end, all the same server."""
    number = int((urlsplit(url).hostname or "").split(".")[0].removeprefix("x") or 0)
    return "Welcome", (f"http://x{2 * number + 1}.trap.test/", f"http://x{2 * number + 2}.trap.test/")


def articles(url: str) -> Answer:
    """No trap: 2,000 short articles in one row."""
    number = int(urlsplit(url).path.rpartition("/")[2] or 0)
    text = " ".join(Random(number).choices(WORDS, k=8))
    return f"Article {number}\n{text}", (f"/article/{number + 1}",) if number < 1999 else ()


def gallery(url: str) -> Answer:
    """No trap: a list of 500 pages with nothing on them but a number and a link to the next."""
    number = int(urlsplit(url).path.rpartition("/")[2] or -1)
    links = [f"/p/{each}" for each in range(500)] if number < 0 else [f"/p/{number + 1}"] if number < 499 else []
    return f"page {number}", links
