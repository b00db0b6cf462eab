"""Which records of which files are taken in, in the order of their dates; in a temporary file of SQLite's, so that
memory stays bounded whatever the size of the archives."""

import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from gregor.worker.archives.files import HeadFields

_DATE: Final = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d)(\.\d{1,9})?)?)?)?)?(?:Z|\+00:00)?"
)
_KINDS: Final = ("response", "revisit", "resource")


class AnswerRecord(NamedTuple):
    """A record that tells of an answer. ``at``: unix seconds; ``file``: its number; ``digest``: of its payload, as the
    record states it, "" if it does not."""

    at: float
    file: int
    offset: int
    kind: str
    url: str
    digest: str


def entry_of(file: int, offset: int, fields: HeadFields) -> AnswerRecord | None:
    """What is noted of a record; None for one that tells of no answer by HTTP. Raises ValueError if it is no use."""
    kind = fields.get("warc-type", "").lower()
    url = fields.get("warc-target-uri", "").strip("<> ")
    if kind not in _KINDS or not url.lower().startswith(("http://", "https://")):
        return None
    if kind == "response" and not fields.get("content-type", "application/http").lower().startswith("application/http"):
        return None
    return AnswerRecord(
        moment(fields.get("warc-date", "")), file, offset, kind, url, fields.get("warc-payload-digest", "")
    )


def moment(text: str) -> float:
    """A WARC-Date as unix seconds: RFC 3339, or less precise (WARC 1.1 section 5.4). Raises ValueError."""
    date = _DATE.fullmatch(text.strip())
    if date is None:
        raise ValueError(f"it has no WARC-Date: {text[:40]!r}")
    year, month, day, hour, minute, second, fraction = date.groups()
    seconds = min(int(second or 0), 59)  # a leap second has no number of its own
    parts = (int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), seconds)
    return datetime(*parts, tzinfo=UTC).timestamp() + float(fraction or 0)


class RecordBook:
    """All records that are to be taken in."""

    _AT_ONCE: Final = 10_000

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("CREATE TABLE entries (at REAL, file INT, offset INT, kind TEXT, url TEXT, digest TEXT)")
        self._database.execute("BEGIN")
        self._entries: list[AnswerRecord] = []
        self._revisits = False
        self.count = 0

    def add(self, entry: AnswerRecord) -> None:
        """One more."""
        self._entries.append(entry)
        self._revisits = self._revisits or entry.kind == "revisit"
        self.count += 1
        if len(self._entries) == self._AT_ONCE:
            self._flush()

    def finish(self) -> None:
        """All are there."""
        self._flush()
        self._database.execute("CREATE INDEX by_date ON entries (at, file, offset)")
        if self._revisits:
            self._database.execute("CREATE INDEX by_digest ON entries (digest, at)")
            self._database.execute("CREATE INDEX by_url ON entries (url, at)")

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", self._entries)
        self._entries.clear()

    def in_order(self) -> Iterator[AnswerRecord]:
        """All, by date, then as they lie in the files."""
        for record in self._database.execute("SELECT * FROM entries ORDER BY at, file, offset"):
            yield AnswerRecord(*record)

    def repeated(self, url: str, date: str, digest: str) -> AnswerRecord | None:
        """The record that has the payload which a revisit repeats: of a URL, the last up to a date, or any of its
        digest."""
        of_url = "SELECT * FROM entries WHERE url = ? AND at <= ? AND kind <> 'revisit' ORDER BY at DESC LIMIT 1"
        of_digest = "SELECT * FROM entries WHERE digest = ? AND kind <> 'revisit' ORDER BY at LIMIT 1"
        entry = None
        if url and date:
            try:
                entry = self._database.execute(of_url, (url, moment(date))).fetchone()
            except ValueError:
                entry = None
            if entry and digest and entry[5] and entry[5] != digest:
                entry = None
        if entry is None and digest:
            entry = self._database.execute(of_digest, (digest,)).fetchone()
        return AnswerRecord(*entry) if entry else None

    def close(self) -> None:
        """Forget all."""
        self._database.close()
