"""What the records of WARC files say, by their place: answers with their payloads, also where those are elsewhere."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from gregor.schemas.messages import Page
from gregor.worker.archives.blocks import pieces_of, stated_digest
from gregor.worker.archives.book import AnswerRecord, RecordBook, moment
from gregor.worker.archives.files import HeadFields, WarcFile
from gregor.worker.archives.http import RecordedAnswer, answer_of, response_of
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.transport import Response
from gregor.worker.web.urls import Urls

_UNCHANGED: Final = "server-not-modified"
_NOT_MODIFIED: Final = b"HTTP/1.1 304 Not Modified"


class RecordedFetch(NamedTuple):
    """An answer as a transport gives it; ``unchanged``: it says that what came before still holds."""

    response: Response
    unchanged: bool = False


class Recordings:
    """The records of several files."""

    def __init__(self, files: Sequence[WarcFile], book: RecordBook, reader: Reader, urls: Urls, most: int) -> None:
        """``reader``: where payloads are that no file has; ``most``: bytes of a body that are kept."""
        self._files = files
        self._book = book
        self._reader = reader
        self._urls = urls
        self._most = most

    async def read(self, entry: AnswerRecord) -> RecordedFetch | None:
        """What a record says; None for one that repeats what is nowhere. Raises ValueError for one that is damaged.

        The response is the caller's to close.
        """
        fields, block = self._files[entry.file].read(entry.offset)
        if entry.kind != "revisit":
            answer = _answer(entry, fields, block)
            return RecordedFetch(response_of(answer, answer, fields, self._most))
        own = _own(block)
        if fields.get("warc-profile", "").endswith(_UNCHANGED):
            answer = own or answer_of(iter([_NOT_MODIFIED]))
            return RecordedFetch(response_of(answer, answer, {}, self._most), unchanged=True)
        if (repeated := await self._repeated(entry, fields)) is None:
            return None
        original, of_original = repeated
        response = response_of(own or original, original, of_original, self._most)
        response.address = fields.get("warc-ip-address", "")
        return RecordedFetch(response)

    async def _repeated(self, entry: AnswerRecord, fields: HeadFields) -> tuple[RecordedAnswer, HeadFields] | None:
        """The answer whose payload a record repeats."""
        url, date = fields.get("warc-refers-to-target-uri", "").strip("<>"), fields.get("warc-refers-to-date", "")
        original = self._book.repeated(url or entry.url, date, entry.digest)
        if original is not None:
            of_original, block = self._files[original.file].read(original.offset)
            return _answer(original, of_original, block), of_original
        return await self._stored(url or entry.url, date, entry.digest)

    async def _stored(self, href: str, date: str, digest: str) -> tuple[RecordedAnswer, HeadFields] | None:
        """The same, of what the crawl has."""
        url = self._urls.parse(href)
        page = await self._reader.page(url.key) if url is not None else None
        if page is None or not (page.wire or page.body):
            return None
        body = await self._reader.body(page.wire or page.body)
        if body is None:
            return None
        if not (_has_digest(body, digest) if digest else _has_date(page, date)):
            body.close()
            return None
        head = [page.response_head.rstrip(b"\r\n")]
        return answer_of(iter(head))._replace(payload=_pieces(body)), {}


def _own(block: Iterator[bytes]) -> RecordedAnswer | None:
    """The head that a revisit record has itself, if it has one."""
    try:
        return answer_of(block)
    except ValueError:
        return None


def _answer(entry: AnswerRecord, fields: HeadFields, block: Iterator[bytes]) -> RecordedAnswer:
    if entry.kind == "resource":  # it has no head
        return RecordedAnswer(200, "", b"", [("Content-Type", fields.get("content-type", ""))], block)
    return answer_of(block)


def _has_digest(body: BinaryIO, stated: str) -> bool:
    digest = stated_digest(stated)
    if digest is None:
        return False
    for piece in pieces_of(body):
        digest.update(piece)
    body.seek(0)
    return digest.holds()


def _has_date(page: Page, date: str) -> bool:
    try:
        return int(page.fetched_at) == int(moment(date))
    except ValueError:
        return False


def _pieces(body: BinaryIO) -> Iterator[bytes]:
    with body:
        yield from pieces_of(body)
