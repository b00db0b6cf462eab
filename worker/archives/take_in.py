"""RecordedFetch answers taken in as visits: read, judged and stored as if they had just been fetched.

The steps of a settle are those of `crawl.py`, in their order, and each can be repeated: who was killed begins anew, and
what is there already is recognised by the date of its URL's last visit. Nothing that was found is asked for: links
stay in their pages, no ticket is made of them.
"""

import random
from collections.abc import Callable
from contextlib import closing
from contextvars import ContextVar
from typing import Final, Literal, get_args

import msgspec

from gregor.schemas.messages import Link, Page, Row, url_fingerprint
from gregor.worker.archives.book import AnswerRecord
from gregor.worker.archives.owners import OwnedPartition, OwnedPartitions
from gregor.worker.archives.recorded import RecordedFetch, Recordings
from gregor.worker.borders.effects import LeaseLost
from gregor.worker.borders.services import Services
from gregor.worker.examine import Examiner
from gregor.worker.fetch.outcomes import Unchanged, in_the_end, of_response
from gregor.worker.links.tickets import of_archive
from gregor.worker.settle.rows import allowed, dead_letter, last_visit, settled_row
from gregor.worker.settle.verdicts import GIVEN_UP, Policy, Verdict, conclude
from gregor.worker.settle.visited import Visited
from gregor.worker.web.urls import Url, Urls

NOT_FOLLOWED: Final = "archive: links of pages that were taken in are not followed"
Taken = Literal["page", "answer", "unchanged"]
TAKEN: Final[tuple[Taken, ...]] = get_args(Taken)
LeftOut = Literal["known", "robots.txt", "opted out", "scope", "no URL", "repeats what is not there"]

DATE: ContextVar[float] = ContextVar("date")
"""The date of the record that is read, unix seconds: what is now, for whoever reads it."""


class TakesIn:
    """Takes the records of a book in, in its order as far as one URL is concerned."""

    def __init__(
        self,
        recordings: Recordings,
        *,
        services: Services,
        owners: OwnedPartitions,
        examiner: Examiner,
        policy: Policy,
        urls: Urls,
        refusal: Callable[[Url], LeftOut | None],
        opted_out: Callable[[str], bool],
        longest_wait: float,
        name: str,
    ) -> None:
        """``refusal`` says why a URL is not taken in, None if it is; ``opted_out`` whether a host is, which is heard at
        any time."""
        self._recordings = recordings
        self._services = services
        self._owners = owners
        self._examiner = examiner
        self._policy = msgspec.structs.replace(policy, retries=0, revisits=None, max_redirects=0)
        self._urls = urls
        self._refusal = refusal
        self._opted_out = opted_out
        self._longest_wait = longest_wait
        self._name = name
        self._chance = random.Random(0)

    async def take(self, entry: AnswerRecord) -> Taken | LeftOut:
        """Take a record in; what became of it. Raises ValueError for one that is damaged."""
        url = self._urls.parse(entry.url)
        if url is None:
            return "no URL"
        if (refused := self._refusal(url)) is not None:
            return refused
        while True:
            try:
                return await self._under(await self._owners.of(url.host), url, entry)
            except LeaseLost:
                continue  # the partition is taken anew, and what was written is recognised

    async def _under(self, owner: OwnedPartition, url: Url, entry: AnswerRecord) -> Taken | LeftOut:
        """Take a record in as the owner of its URL. Raises `LeaseLost`."""
        effect, store = owner.effects.run, self._services.store
        row = (await effect(lambda: store.rows([url.key])))[0]
        if row is not None and entry.at < last_visit(row):
            return "known"
        stored = None
        if row is not None and (visit := row.page):
            stored = await effect(lambda: store.page(url.key, visit))
        recorded = await effect(lambda: self._recordings.read(entry))
        if recorded is None or (recorded.unchanged and stored is None):
            return "repeats what is not there"
        with closing(recorded.response):
            if row is not None and entry.at == last_visit(row) and _is_there(row, stored, recorded):
                return "known"
            return await self._settle(owner, url, row, stored, recorded, entry.at)

    async def _settle(
        self, owner: OwnedPartition, url: Url, row: Row | None, stored: Page | None, recorded: RecordedFetch, at: float
    ) -> Taken | LeftOut:
        """Make the visit that a record tells of durable, in the order of `crawl.py`."""
        DATE.set(at)
        response, effect, stamp = recorded.response, owner.effects.run, owner.partition.stamp
        log, seen, store = self._services.log, self._services.seen, self._services.store
        ticket = of_archive(url, row)
        if recorded.unchanged and stored is not None:  # whatever the request said, which is not known
            visited = Visited(ticket, row, Unchanged(), url, response, stored=stored)
            verdict = Verdict(stored.state, "unchanged", response.status, same=True)
        else:
            outcome = of_response(response, url.href, at, self._longest_wait)
            outcome = in_the_end(outcome, response, sent=True, last=True)
            examined = await self._examiner.of(ticket, url, outcome)
            visited = examined.visited(ticket, row, url, response, stored, 0.0)
            verdict = conclude(visited, self._policy, 0, at, self._chance)
        page = visited.page
        if page is not None:  # 1 page, links, items, body; the fingerprint
            page.links = [_unfollowed(link) if link.fate == "sent" else link for link in page.links]
            untaught = msgspec.structs.replace(visited, url=None)  # it teaches traps nothing
            await owner.pages.store(untaught, self._opted_out)
        if self._opted_out(url.host):
            return "opted out"
        if (news := visited.news(verdict.state, at)) is not None:  # 2, 3: it leads nowhere, and nothing comes next
            await effect(lambda: log.announce(news))
        if verdict.state in GIVEN_UP:
            letter = dead_letter(visited, verdict, at)
            await effect(lambda: store.put_dead_letter(letter))
            await effect(lambda: log.announce(letter))
        settled = settled_row(visited, verdict, at, self._name)
        await effect(lambda: store.put_rows([allowed(settled, self._opted_out)], stamp()))  # 4 the row
        await effect(lambda: seen.mark([url_fingerprint(url.key)]))  # 5 seen
        self._owners.settled(owner, row, settled, page, verdict.cause)
        return "page" if page is not None else "unchanged" if recorded.unchanged else "answer"


def _unfollowed(link: Link) -> Link:
    return msgspec.structs.replace(link, fate=NOT_FOLLOWED)


def _is_there(row: Row, stored: Page | None, recorded: RecordedFetch) -> bool:
    """Whether the last visit of a URL, of the same date, was that of this very record."""
    if row.status != recorded.response.status:
        return False
    if stored is None or stored.visit != row.visits:
        return True
    return stored.body == recorded.response.body.sha256
