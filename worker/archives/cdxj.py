"""CDXJ: the index of archives by which players find a capture, a sorted text with a line for each record.

``urlkey timestamp {json}``, as pywb and ReplayWeb.page read it; sorted by octets, so that it can be searched by halves.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gregor.worker.archives.surt import surt

_AT_ONCE: Final = 10_000


class Cdxj:
    """The lines of an export; in a temporary file of SQLite's, so that memory stays bounded."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("CREATE TABLE lines (line BLOB)")
        self._database.execute("BEGIN")
        self._lines: list[tuple[bytes]] = []

    def add(self, record: Any, file: str, offset: int, length: int) -> None:
        """See `segments.Index`."""
        self._lines.append((line_of(record, file, offset, length),))
        if len(self._lines) == _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO lines VALUES (?)", self._lines)
        self._lines.clear()

    def lines(self) -> Iterator[bytes]:
        """All, sorted, with their ends."""
        self._flush()
        for (line,) in self._database.execute("SELECT line FROM lines ORDER BY line"):
            yield line

    def close(self) -> None:
        """Forget them."""
        self._database.close()


def line_of(record: Any, file: str, offset: int, length: int) -> bytes:
    """The line of a record that was written."""
    headers, http = record.rec_headers, record.http_headers
    url = headers.get_header("WARC-Target-URI")
    mime = (http.get_header("Content-Type") if http is not None else headers.get_header("Content-Type")) or ""
    fields = {
        "url": url,
        "mime": "warc/revisit" if record.rec_type == "revisit" else mime.partition(";")[0].strip().lower() or "unk",
        "status": http.get_statuscode() if http is not None else "200",
        "digest": headers.get_header("WARC-Payload-Digest") or headers.get_header("WARC-Block-Digest") or "-",
        "length": str(length),
        "offset": str(offset),
        "filename": file,
    }
    text = msgspec.json.encode(fields)
    return f"{surt(url)} {timestamp(headers.get_header('WARC-Date'))} ".encode() + text + b"\n"


def timestamp(date: str) -> str:
    """A WARC-Date in 14 digits."""
    return "".join(filter(str.isdigit, date))[:14]
