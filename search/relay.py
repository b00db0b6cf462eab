"""How workers of an index on servers take in what a crawl does, each for partitions of its own.

Two steps, each by who owns the partition. 1 **Note** (partition of the URL's host): a URL that is told of is read from
the store as it stands; what the index remembers of it is replaced on the shelf; the contents concerned, those that its
links are new to among them, are posted. 2 **Write** (partition of the content): the document of a content is made from
all its URLs, wherever they are, and written as of the post's place, or removed.

A place is committed when all before it was acknowledged, so that a crash costs a repeat: each step reads what is there
and replaces, and can be repeated, also when the page is another one by then, or gone. What is remembered of a URL names
at every moment all contents that it may be held under, all links that may say something, and all contents whose
document it may be in; so that step 1 goes in this order:

1. remembered is what was and, as pending, what is to be: whoever links to the URL from now on tells both contents;
2. what documents are made of is replaced: the URL is held under its content and no other, its links are added, removed;
3. the contents concerned are posted, after that, so that whoever writes a document for a post sees what it tells of;
4. remembered is what is, alone: what was had to be known until it was posted.

Two posts for one content are in one partition, in order, and the later one's document wins.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeVar

from gregor.schemas.messages import Page, Row, url_fingerprint
from gregor.search.documents import (
    BUCKETS,
    MOST_ANCHORS,
    MOST_URLS,
    Anchor,
    ContentUrl,
    IndexedDocument,
    content_of,
    document,
    in_order,
    is_found,
)
from gregor.search.links import MOST_LINKS as MOST_RANKED
from gregor.search.links import RECOMMENDING, packed, signed, words_of
from gregor.worker.borders.shelf import Held, IndexedUrl, Post, Shelf, UrlToIndex

A = TypeVar("A")
T = TypeVar("T")
_AT_ONCE: Final = 16
"""URLs, or contents, that are worked at together."""
MOST_LINKS: Final = 1000
"""Links of a page that are remembered, each target and text once."""
_REMEMBERED: Final = 200_000
_POSITIVE: Final = (1 << 63) - 1
"""The bits of the number of words, without that which says nofollow."""

PutDocument = Callable[[str, IndexedDocument | None], None]
"""Gathers the document of a content; None: it is to be removed."""


class Relay:
    """The two steps."""

    def __init__(
        self,
        shelf: Shelf,
        page_of: Callable[[str, int | None], Awaitable[Page | None]],
        row_of: Callable[[str], Awaitable[Row | None]],
        key_of: Callable[[str], str | None],
    ) -> None:
        """``page_of`` gives a version of a page, the newest for None; ``key_of`` the key of a URL as a link has it."""
        self._shelf = shelf
        self._page_of = page_of
        self._row_of = row_of
        self._key_of = key_of
        self._linked: set[tuple[str, str, int]] = set()  # what hosts are known to say of targets: pages repeat it

    async def note(
        self, notices: Sequence[UrlToIndex], stamp: Callable[[], int], post: Callable[[list[Post]], Awaitable[None]]
    ) -> None:
        """Step 1, for what was told last of each URL; ``post`` tells of the contents concerned.

        Raises what the shelf and ``post`` raise, and can be repeated then, with a new relay.
        """
        newest = {notice.key: notice for notice in notices}
        noted = await _each(list(newest.values()), lambda notice: self._note(notice, stamp))
        contents = dict.fromkeys(content for concerned, _, _ in noted for content in concerned)
        await post([Post(write=content) for content in contents])
        await _each(noted, lambda each: self._shelf.note(each[1], each[2], stamp()))

    async def write(self, contents: Sequence[str], put: PutDocument) -> None:
        """Step 2, for contents; they are gathered, and whoever calls has them acknowledged."""
        for content, made in await _each(list(dict.fromkeys(contents)), self._document):
            put(content, made)

    async def _note(self, notice: UrlToIndex, stamp: Callable[[], int]) -> tuple[list[str], str, IndexedUrl]:
        """The contents concerned, and what is to be remembered of the URL."""
        page, row, before = await asyncio.gather(
            self._page_of(notice.key, None), self._row_of(notice.key), self._shelf.noted(notice.key)
        )
        before = before or IndexedUrl()
        kept = page if is_found(page, notice.settled(row)) else None
        links: dict[tuple[str, int], str] = {}
        now = IndexedUrl()
        if kept is not None:
            links, ranked = self._links(kept)
            now = IndexedUrl(content_of(kept), list(links), kept.host, ranked)
            await self._announce(notice.key, before, now, stamp)
            member = ContentUrl.of(kept)
            await self._shelf.hold(now.content, Held(notice.key, member.visit, member.duplicate, member.depth), stamp())
        for content in before.contents():
            if content != now.content:
                await self._shelf.let_go(content, notice.key, stamp())
        concerned = dict.fromkeys([*before.contents(), *now.contents()])
        changed = await self._relink(notice.key, kept, before, links, stamp)
        return [*concerned, *await self._shelf.contents_of(changed)], notice.key, now

    async def _announce(self, key: str, before: IndexedUrl, now: IndexedUrl, stamp: Callable[[], int]) -> None:
        """Have it remembered what a URL was and is to be; nothing is written where what it was says all of that."""
        if now.content in before.contents() and set(now.links).issubset(before.links):
            return
        links = dict.fromkeys([*before.links, *now.links])
        pending = dict.fromkeys([*before.pending, now.content])
        await self._shelf.note(key, IndexedUrl(before.content, list(links), pending=list(pending)), stamp())

    async def _relink(
        self,
        key: str,
        page: Page | None,
        before: IndexedUrl,
        links: Mapping[tuple[str, int], str],
        stamp: Callable[[], int],
    ) -> list[str]:
        """Replace what a page's links say; the targets for which that is new."""
        host = page.host if page is not None else (key.partition("://")[2].partition("/")[0])
        old = {(target, words) for target, words in before.links}
        removed = [link for link in old if link not in links]
        added = {link: text for link, text in links.items() if (link[0], host, link[1]) not in self._linked}
        await self._shelf.unlink(key, host, removed, stamp())
        await self._shelf.link(key, host, added, stamp())
        if len(self._linked) > _REMEMBERED:
            self._linked.clear()
        self._linked |= {(target, host, words) for target, words in added}
        self._linked -= {(target, host, words) for target, words in removed}
        return list(dict.fromkeys(target for target, _ in (*added, *removed)))

    def _links(self, page: Page) -> tuple[dict[tuple[str, int], str], bytes]:
        """Where a page's links lead, by which words, without those that recommend nothing or say nothing; and all of
        those that count for ranks, packed."""
        links: dict[tuple[str, int], str] = {}
        ranked: dict[tuple[int, int], None] = {}
        for link in page.links:
            if link.kind not in RECOMMENDING or len(ranked) >= MOST_RANKED:
                continue
            target = self._key_of(link.url)
            if target is None or target == page.key:
                continue
            words = words_of(link.text, link.nofollow)
            ranked[signed(url_fingerprint(target)), words] = None
            text = link.text.strip()
            if text and not link.nofollow and len(links) < MOST_LINKS:
                links[target, (words >> 1) & _POSITIVE] = text
        return links, packed(ranked)

    async def _document(self, content: str) -> tuple[str, IndexedDocument | None]:
        members = in_order(
            ContentUrl(held.key, held.visit, held.duplicate, held.depth) for held in await self._shelf.held(content)
        )
        for member in members:
            page = await self._page_of(member.key, member.visit)
            # One that is stored no more, or was replaced meanwhile, is told of by a post that comes.
            if page is not None and content_of(page) == content:
                others = [other for other in members if other.key != member.key]
                keys = [other.key for other in members][:MOST_URLS]
                said, bucket = await asyncio.gather(
                    self._shelf.anchors(keys, MOST_ANCHORS), self._shelf.bucket(content)
                )
                anchors = [Anchor(words.text, words.host) for words in said]
                return content, document(page, [member, *others], anchors, bucket / (BUCKETS - 1))
        return content, None


async def _each(items: Sequence[A], work: Callable[[A], Awaitable[T]]) -> list[T]:
    answers: list[T] = []
    for at in range(0, len(items), _AT_ONCE):
        answers += await asyncio.gather(*map(work, items[at : at + _AT_ONCE]))
    return answers
