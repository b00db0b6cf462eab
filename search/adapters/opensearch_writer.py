"""Writing documents to OpenSearch: whole, by names that last, in versions that only grow, in bulks that are bounded."""

import hashlib
from collections.abc import Callable
from typing import Final

import msgspec

from gregor.search.adapters.opensearch_client import BulkOutcome, Client, Refused
from gregor.search.adapters.opensearch_query import BOOST, NAME, SHOWN
from gregor.search.adapters.opensearch_schema import gone, writers_of
from gregor.search.borders import Hit
from gregor.search.documents import IndexedDocument
from gregor.search.fields import boost, fields, shown

BULK: Final = 4 * 1024 * 1024
"""Octets of a request, about: small nodes take 10 MiB."""
_LONGEST_ID: Final = 500
"""Octets of a name that the engine takes (it takes 512)."""
_COUNTED: Final = 40
"""Bits of a version that count what an owner writes; 23 are left for owners."""

ReportRefusal = Callable[[IndexedDocument, str], None]


def ignore(document: IndexedDocument, reason: str) -> None:
    """Nobody wants to know what the engine refuses."""


def version_of(epoch: int, number: int) -> int:
    """The version of what an owner writes: any of an older one loses against it, and of its own each before."""
    return epoch << _COUNTED | number


def name_of(name: str) -> str:
    """The name of a document in the engine, which takes no long ones, nor half a surrogate pair."""
    plain = name.encode("utf-8", "surrogatepass")
    return f"d-{name}" if len(plain) <= _LONGEST_ID and name.isprintable() else f"h-{hashlib.sha256(plain).hexdigest()}"


class BulkWriter:
    """Gathers what is to be written, and sends it in bulks. Raises `Unavailable`, `Unusable`: then nothing is lost of
    what was given since the last `flush`, and it is sent with the next."""

    def __init__(self, client: Client, index: str, on_refused: ReportRefusal = ignore) -> None:
        """``on_refused`` hears of documents that the engine takes under no circumstances, with the reason."""
        self._client = client
        self._index = index
        self._on_refused = on_refused
        self._lines: dict[str, bytes] = {}
        self._documents: dict[str, IndexedDocument] = {}
        self._size = 0
        self.older = 0
        """How many are there in a newer version already."""

    def put(self, document: IndexedDocument, version: int) -> None:
        """Have a document written, in place of what is of its name."""
        name = name_of(document.id)
        self._documents[name] = document
        self._add(name, _line(name, document, version))

    def remove(self, id: str, version: int) -> None:
        """Have a document removed; one that is not there changes nothing."""
        name = name_of(id)
        self._documents.pop(name, None)
        head = {"_id": name, "version": version, "version_type": "external_gte"}
        self._add(name, msgspec.json.encode({"delete": head}) + b"\n")

    def flush(self) -> None:
        """Send what is left; acknowledged when it returns."""
        if self._lines:
            self._send(self._lines)
        self.forget()

    def forget(self) -> None:
        """What was not sent is not to be written."""
        self._lines, self._documents, self._size = {}, {}, 0

    def _add(self, name: str, line: bytes) -> None:
        self._size += len(line) - len(self._lines.get(name, b""))
        self._lines[name] = line
        if self._size >= BULK:
            self.flush()

    def _send(self, part: dict[str, bytes]) -> None:
        try:
            outcome = self._client.bulk(writers_of(self._index), list(part.values()))
        except Refused as refused:
            if refused.status == 404:
                raise gone(self._index) from None
            if len(part) > 1:  # one of them makes it too large, or unreadable: not all
                each, half = list(part.items()), len(part) // 2
                self._send(dict(each[:half]))
                self._send(dict(each[half:]))
                return
            outcome = BulkOutcome({name: str(refused) for name in part})
        self.older += outcome.older
        for name, reason in outcome.refused.items():
            if (document := self._documents.get(name)) is not None:
                self._on_refused(document, reason)


def _line(name: str, document: IndexedDocument, version: int) -> bytes:
    """What a bulk has for a document."""
    head = {"_id": name, "version": version, "version_type": "external_gte"}
    values = fields(document) | {NAME: name, BOOST: boost(document.rank), SHOWN: _readable(shown(document))}
    return msgspec.json.encode({"index": head}) + b"\n" + msgspec.json.encode(values) + b"\n"


def _readable(hit: Hit) -> str:
    """As JSON, with no half of a surrogate pair in what a page says of itself: no JSON has them."""
    title, language, content_type = (
        text.encode("utf-8", "replace").decode() for text in (hit.title, hit.language, hit.content_type)
    )
    return msgspec.json.encode(
        msgspec.structs.replace(hit, title=title, language=language, content_type=content_type)
    ).decode()
