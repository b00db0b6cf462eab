"""What an index has to remember beside its documents: which URLs have which content, who links to whom and with which
words, and which contents are still to be written. SQLite, one file beside the index.

It may be ahead of the index, never behind it for long: what an index is to take in is read again from the lower one of
both positions, and taking in the same page again changes nothing.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from gregor.schemas.messages import Page
from gregor.search.adapters.damage import open_reading
from gregor.search.adapters.link_reader import LinkReader
from gregor.search.adapters.link_rows import LinkRow, number_of, rows_of
from gregor.search.documents import BUCKETS, Anchor, ContentUrl, Noted, content_of
from gregor.search.links import NOFOLLOW, Links, Node, packed
from gregor.search.ranking import Ranked
from gregor.worker.base.transaction import transaction

_SCHEMA: Final = """
PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=FAST;
PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value INT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages (key TEXT PRIMARY KEY, content TEXT NOT NULL, visit INT NOT NULL,
    duplicate INT NOT NULL, depth INT NOT NULL, host INT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pages_by_content ON pages (content);
CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS hosts (id INTEGER PRIMARY KEY, host TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS links (source INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS anchors (target INT NOT NULL, host INT NOT NULL, name INT NOT NULL, text TEXT NOT NULL,
    count INT NOT NULL, PRIMARY KEY (target, host, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ranks (content TEXT PRIMARY KEY, rank REAL NOT NULL, bucket INT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unwritten (content TEXT PRIMARY KEY, soon INT NOT NULL) WITHOUT ROWID;
"""
_READ: Final = 1000
"""Anchors of a target that are looked at."""
_CHANGED: Final = """CREATE TEMP TABLE IF NOT EXISTS changed (target INT NOT NULL, host INT NOT NULL, name INT NOT NULL,
    text TEXT NOT NULL, more INT NOT NULL)"""
"""How many pages more have an anchor, or less, in what is taken in, each once; joined in whole, in the order of the
anchors, which takes a third of the time of row by row."""
_MORE: Final = """INSERT INTO anchors SELECT target, host, name, text, more FROM changed WHERE more > 0
    ON CONFLICT DO UPDATE SET count = count + excluded.count"""
_LESS: Final = """UPDATE anchors SET count = count + changed.more FROM changed WHERE changed.more < 0
    AND (anchors.target, anchors.host, anchors.name) = (changed.target, changed.host, changed.name)"""
_LATER: Final = """INSERT OR IGNORE INTO unwritten SELECT content, 0 FROM pages WHERE key IN (
    SELECT key FROM names WHERE id IN (
        SELECT target FROM changed JOIN anchors USING (target, host, name) WHERE count <= 0 OR count = more))"""
"""What an anchor leads to that is new, or that no page has any more."""
_GONE: Final = """DELETE FROM anchors WHERE count <= 0 AND (target, host, name) IN (
    SELECT target, host, name FROM changed WHERE more < 0)"""

_PUT_RANK: Final = """INSERT INTO ranks VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET rank = ?2, bucket = ?3"""
_RERANKED: Final = """INSERT OR IGNORE INTO unwritten SELECT ?1, 0
    WHERE coalesce((SELECT bucket FROM ranks WHERE content = ?1), 0) <> ?2"""
_SLICE: Final = 2000
"""Ranks that are put in at once: who follows the crawl waits for them."""
_BUSY_SECONDS: Final = 60.0
_ASKED_AT_ONCE: Final = 500


class PageBook:
    """What is known of the pages that were taken in."""

    def __init__(self, file: Path, key_of: Callable[[str], str | None]) -> None:
        """``key_of`` gives the key of a URL as a link has it; None for what is no URL of a crawl."""
        self._connection = sqlite3.connect(
            file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        self._connection.executescript(_SCHEMA + _CHANGED)
        self._links_of = LinkReader(key_of).rows
        self._changed: dict[tuple[int, int, int], int] = {}  # pages more that have an anchor, in what is taken in
        self._texts: dict[tuple[int, int, int], str] = {}  # of these

    @property
    def position(self) -> int:
        """How far the changes were taken in."""
        found = self._connection.execute("SELECT value FROM facts WHERE name = 'position'").fetchone()
        return int(found[0]) if found else 0

    def take_in(self, pages: Iterable[tuple[str, Page | None]], position: int) -> None:
        """Take in how these URLs stand now, None: not to be found any more; the contents concerned become unwritten.

        In one transaction with the position.
        """
        try:
            with transaction(self._connection):
                self._take_in(dict(pages))
                self._change_anchors()
                self._connection.execute("INSERT OR REPLACE INTO facts VALUES ('position', ?)", (position,))
        finally:
            self._changed.clear()
            self._texts.clear()

    def unwritten(self, limit: int, *, soon: bool) -> list[str]:
        """Contents whose documents have to be written; ``soon``: without those of which only anchors changed."""
        condition = "WHERE soon = 1" if soon else ""
        statement = f"SELECT content FROM unwritten {condition} LIMIT ?"
        return [content for (content,) in self._connection.execute(statement, (limit,))]

    def left(self) -> int:
        """How many contents are unwritten."""
        return int(self._connection.execute("SELECT count(*) FROM unwritten").fetchone()[0])

    def settled(self, contents: Sequence[str]) -> None:
        """Their documents are durable."""
        with transaction(self._connection):
            self._connection.executemany("DELETE FROM unwritten WHERE content = ?", [(one,) for one in contents])

    def rewrite(self, contents: Sequence[str]) -> None:
        """Their documents are to be written, whatever is known of them."""
        names = [(name,) for name in contents]
        with transaction(self._connection):
            self._connection.executemany("INSERT OR REPLACE INTO unwritten VALUES (?, 1)", names)

    def noted(self, contents: Sequence[str]) -> dict[str, Noted]:
        """What is remembered of contents: the URLs that each is under now, none when it is to be found no more; its
        rank by its bucket, 0 before it was ranked."""
        members: dict[str, list[ContentUrl]] = {content: [] for content in contents}
        statement = "SELECT content, key, visit, duplicate, depth FROM pages WHERE content"
        for content, key, visit, duplicate, depth in self._of(statement, contents):
            members[content].append(ContentUrl(key, visit, bool(duplicate), depth))
        ranks = dict(self._of("SELECT content, bucket FROM ranks WHERE content", contents))
        return {name: Noted(urls, ranks.get(name, 0) / (BUCKETS - 1)) for name, urls in members.items()}

    def anchors(self, keys: Iterable[str]) -> list[Anchor]:
        """What links that lead to these URLs say, and of which hosts; those that most pages use first."""
        statement = """SELECT text, hosts.host, count FROM anchors LEFT JOIN hosts ON hosts.id = anchors.host
            WHERE target = ? LIMIT ?"""
        rows = [row for key in keys for row in self._connection.execute(statement, (number_of(key), _READ))]
        return [Anchor(text, host or "") for text, host, _ in sorted(rows, key=lambda row: (-row[2], row[0]))]

    def ranks(self) -> dict[str, float]:
        """The rank of every content that was ranked."""
        return dict(self._connection.execute("SELECT content, rank FROM ranks"))

    def put_ranks(self, ranked: Sequence[Ranked]) -> int:
        """Replace the ranks of all contents; those whose bucket changed become unwritten. How many these are."""
        run, changed = self._connection.execute, 0
        for first in range(0, len(ranked), _SLICE):
            with transaction(self._connection):
                for document in ranked[first : first + _SLICE]:
                    changed += run(_RERANKED, (document.content, document.bucket)).rowcount
                    run(_PUT_RANK, (document.content, document.rank, document.bucket))
        run("DELETE FROM ranks WHERE content NOT IN (SELECT content FROM pages)")
        return changed

    def keep_ranks(self, file: Path) -> None:
        """Take over the ranks of another book, which is left as it is; of one that cannot be read, none."""
        with suppress(sqlite3.Error), closing(open_reading(file)) as other:
            ranks = other.execute("SELECT content, rank, bucket FROM ranks")
            with transaction(self._connection):
                self._connection.executemany("INSERT OR REPLACE INTO ranks VALUES (?, ?, ?)", ranks)

    def contents(self) -> dict[int, str]:
        """The content of every page that is to be found, by the number of its URL."""
        return {number_of(key): content for key, content in self._connection.execute("SELECT key, content FROM pages")}

    def nodes(self) -> Iterator[Node]:
        """Every page that is to be found."""
        statement = "SELECT key, content, hosts.host FROM pages LEFT JOIN hosts ON hosts.id = pages.host"
        for key, content, host in self._connection.execute(statement):
            yield Node(number_of(key), content, host or "")

    def links(self) -> Iterator[Links]:
        """The links of every page."""
        for source, data in self._connection.execute("SELECT source, data FROM links"):
            yield Links(source, np.frombuffer(data, dtype="<i8").reshape(-1, 3))

    def close(self) -> None:
        """End. May be repeated."""
        self._connection.close()

    def _take_in(self, pages: Mapping[str, Page | None]) -> None:
        """All of them together, in the order of the tables' keys: a third of the time of one by one."""
        many, numbers = self._connection.executemany, {key: number_of(key) for key in pages}
        there = {key: page for key, page in pages.items() if page is not None}
        gone = [key for key in pages if key not in there]
        before = dict(self._of("SELECT key, content FROM pages WHERE key", pages))
        concerned = {*before.values(), *map(content_of, there.values())}
        many("INSERT OR REPLACE INTO unwritten VALUES (?, 1)", [(content,) for content in sorted(concerned)])
        many("DELETE FROM pages WHERE key = ?", [(key,) for key in gone])
        many("DELETE FROM names WHERE id = ?", [(numbers[key],) for key in gone])
        hosts = {page.host: number_of(page.host) for page in there.values()}
        many("INSERT OR IGNORE INTO hosts VALUES (?, ?)", sorted((number, host) for host, number in hosts.items()))
        many("INSERT OR IGNORE INTO names VALUES (?, ?)", sorted((numbers[key], key) for key in there))
        members = [(key, ContentUrl.of(there[key]), there[key]) for key in sorted(there)]
        many(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?)",
            [
                (key, content_of(page), member.visit, member.duplicate, member.depth, hosts[page.host])
                for key, member, page in members
            ],
        )
        self._link({numbers[key]: page for key, page in pages.items()})

    def _of(self, statement: str, keys: Iterable[str | int]) -> Iterator[tuple[Any, ...]]:
        """What a statement that ends with a column's name gives for these values of the column."""
        ordered = list(keys)
        for first in range(0, len(ordered), _ASKED_AT_ONCE):
            some = ordered[first : first + _ASKED_AT_ONCE]
            yield from self._connection.execute(f"{statement} IN ({','.join('?' * len(some))})", some)

    def _link(self, pages: Mapping[int, Page | None]) -> None:
        """Replace the links of pages, and note which anchors one page more has, or one less."""
        kept = dict(self._of("SELECT source, data FROM links WHERE source", pages))
        links_of: list[tuple[int, bytes]] = []
        gone: list[tuple[int]] = []
        for source, page in pages.items():
            old = rows_of(kept[source]) if source in kept else {}
            new = self._links_of(source, page) if page is not None else {}
            self._note(old, new)
            if new:
                links_of.append((source, packed(new)))
            elif source in kept:
                gone.append((source,))
        self._connection.executemany("INSERT OR REPLACE INTO links VALUES (?, ?)", sorted(links_of))
        self._connection.executemany("DELETE FROM links WHERE source = ?", gone)

    def _note(self, old: Mapping[LinkRow, None], new: Mapping[LinkRow, str]) -> None:
        changed, texts = self._changed, self._texts
        for link in old:
            if link not in new and link[1] and not link[1] & NOFOLLOW:
                changed[link] = changed.get(link, 0) - 1
        for link, text in new.items():
            name = link[1]
            if name and not name & NOFOLLOW and link not in old:
                if link in changed:
                    changed[link] += 1
                else:
                    changed[link] = 1
                texts[link] = text

    def _change_anchors(self) -> None:
        """Count the pages that have each anchor, once for all that was taken in: pages of a site repeat them.

        What an anchor that is new leads to, or one that is gone, becomes unwritten.
        """
        if not self._changed:
            return
        run, texts = self._connection.execute, self._texts
        rows = sorted((target, host, name, texts.get((target, name, host), ""), more)
                      for (target, name, host), more in self._changed.items() if more)  # fmt: skip
        self._connection.executemany("INSERT INTO changed VALUES (?, ?, ?, ?, ?)", rows)
        for statement in (_MORE, _LESS, _LATER, _GONE, "DELETE FROM changed"):
            run(statement)
