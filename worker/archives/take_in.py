"""Recorded answers taken in as visits: read, judged and stored as if they had just been fetched.

The steps of a settle are those of `crawl.py`, in their order, and each can be repeated: who was killed begins anew, and
what is there already is recognised by the date of its URL's last visit. Nothing that was found is asked for: links
stay in their pages, no ticket is made of them.
"""

import random
from collections.abc import Callable
from contextlib import closing
from typing import Final, Literal, get_args

import msgspec

from gregor.schemas.messages import Link, Page, Row
from gregor.worker.archives.book import AnswerRecord
from gregor.worker.archives.examining import Examines
from gregor.worker.archives.order import RecordPlace
from gregor.worker.archives.owners import OwnedPartition, OwnedPartitions
from gregor.worker.archives.recorded import RecordedFetch, Recordings
from gregor.worker.borders.effects import LeaseLost
from gregor.worker.borders.services import Services
from gregor.worker.borders.settlement import Settlement
from gregor.worker.fetch.outcomes import Unchanged, in_the_end, of_response
from gregor.worker.links.tickets import of_archive
from gregor.worker.settle.revisits import last_visit
from gregor.worker.settle.rows import settled_row
from gregor.worker.settle.settling import settlement_of
from gregor.worker.settle.verdicts import Policy, Verdict, conclude
from gregor.worker.settle.visited import Visited
from gregor.worker.web.urls import Url, Urls

NOT_FOLLOWED: Final = "archive: links of pages that were taken in are not followed"
Taken = Literal["page", "answer", "unchanged"]
TAKEN: Final[tuple[Taken, ...]] = get_args(Taken)
LeftOut = Literal["known", "robots.txt", "opted out", "scope", "no URL", "repeats what is not there"]


class _Unfinished:
    """What of a record was written, maybe, under a lease that ended before it was finished; what is counted of it."""

    def __init__(self) -> None:
        self.settlement: Settlement | None = None
        self.visited: Visited | None = None
        self.cause = ""
        self.taken: Taken = "answer"

    def is_of(self, row: Row | None) -> bool:
        """Whether a row as it stands now is what was written."""
        ours = self.settlement.row if self.settlement is not None else None
        return row is not None and ours is not None and (row.visits, last_visit(row)) == (ours.visits, last_visit(ours))


class TakesIn:
    """Takes the records of a book in, in its order as far as one URL is concerned."""

    def __init__(
        self,
        recordings: Recordings,
        *,
        services: Services,
        owners: OwnedPartitions,
        examines: Examines,
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
        self._examines = examines
        self._policy = msgspec.structs.replace(policy, retries=0, revisits=None, max_redirects=0)
        self._urls = urls
        self._refusal = refusal
        self._opted_out = opted_out
        self._longest_wait = longest_wait
        self._name = name
        self._chance = random.Random(0)

    async def take(self, entry: AnswerRecord, place: RecordPlace) -> Taken | LeftOut:
        """Take a record in, in its ``place`` among those with its content; what became of it. Raises ValueError for one
        that is damaged."""
        url = self._urls.parse(entry.url)
        if url is None:
            return "no URL"
        if (refused := self._refusal(url)) is not None:
            return refused
        unfinished = _Unfinished()
        while True:
            try:
                return await self._under(await self._owners.of(url.host), url, entry, unfinished, place)
            except LeaseLost:
                continue  # the partition is taken anew, and what was written is recognised

    async def _under(
        self, owner: OwnedPartition, url: Url, entry: AnswerRecord, unfinished: _Unfinished, place: RecordPlace
    ) -> Taken | LeftOut:
        """Take a record in as the owner of its URL. Raises `LeaseLost`."""
        effect, store = owner.effects.run, self._services.store
        row = (await effect(lambda: store.rows([url.key])))[0]
        if unfinished.is_of(row):
            return await self._finish(owner, unfinished)
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
            return await self._settle(owner, url, row, stored, recorded, entry.at, unfinished, place)

    async def _settle(
        self,
        owner: OwnedPartition,
        url: Url,
        row: Row | None,
        stored: Page | None,
        recorded: RecordedFetch,
        at: float,
        unfinished: _Unfinished,
        place: RecordPlace,
    ) -> Taken | LeftOut:
        """Make the visit that a record tells of durable, in the order of `crawl.py`."""
        response = recorded.response
        ticket = of_archive(url, row)
        if recorded.unchanged and stored is not None:  # whatever the request said, which is not known
            visited = Visited(ticket, row, Unchanged(), url, response, stored=stored)
            verdict = Verdict(stored.state, "unchanged", response.status, same=True)
        else:
            outcome = of_response(response, url.href, at, self._longest_wait)
            outcome = in_the_end(outcome, response, sent=True, last=True)
            examined = await self._examines.examined(ticket, url, outcome, at)
            visited = examined.visited(ticket, row, url, response, stored, 0.0)
            verdict = conclude(visited, self._policy, 0, at, self._chance)
        if (page := visited.page) is not None:
            page.links = [_unfollowed(link) if link.fate == "sent" else link for link in page.links]
        await place.examined(page.fingerprint if page is not None else b"")
        claims = await owner.pages.compare(visited)
        if self._opted_out(url.host):
            return "opted out"
        settlement = settlement_of(
            visited,
            verdict,
            settled_row(visited, verdict, at, self._name),
            (),  # 2, 3: it leads nowhere, and nothing comes next
            None,
            claims=claims,
            owner=owner.partition,
            opted_out=self._opted_out,
            now=at,
        )
        unfinished.settlement, unfinished.visited, unfinished.cause = settlement, visited, verdict.cause
        unfinished.taken = "page" if page is not None else "unchanged" if recorded.unchanged else "answer"
        await owner.settling.settle(settlement)
        return self._settled(owner, unfinished)

    async def _finish(self, owner: OwnedPartition, unfinished: _Unfinished) -> Taken:
        """5 seen, and counted, where the row was written before. Raises `LeaseLost`."""
        settlement, seen = unfinished.settlement, self._services.seen
        assert settlement is not None
        await owner.effects.run(lambda: seen.mark([settlement.mark]))
        return self._settled(owner, unfinished)

    def _settled(self, owner: OwnedPartition, unfinished: _Unfinished) -> Taken:
        """All of a record is durable: it is counted."""
        settlement, visited = unfinished.settlement, unfinished.visited
        assert settlement is not None
        assert visited is not None
        row = settlement.kept_row
        if (page := visited.page if row.page else None) is not None:
            owner.pages.stored(msgspec.structs.replace(visited, url=None))  # it teaches traps nothing
        self._owners.settled(owner, visited.row, row, page, unfinished.cause)
        unfinished.settlement = None
        return unfinished.taken


def _unfollowed(link: Link) -> Link:
    return msgspec.structs.replace(link, fate=NOT_FOLLOWED)


def _is_there(row: Row, stored: Page | None, recorded: RecordedFetch) -> bool:
    """Whether the last visit of a URL, of the same date, was that of this very record."""
    if row.status != recorded.response.status:
        return False
    if stored is None or stored.visit != row.visits:
        return True
    return stored.body == recorded.response.body.sha256
