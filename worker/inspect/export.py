"""Stored pages for other programs: WARC 1.1 (ISO 28500:2017) and JSON lines."""

import io
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from typing import BinaryIO, Final, NamedTuple

from gregor.schemas.messages import Page, RobotsRecord, Row, url_fingerprint
from gregor.schemas.parts import RobotsCopy
from gregor.worker.archives.segments import Output
from gregor.worker.archives.warc import WarcRecord, size_of
from gregor.worker.base.streams import in_order
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import WHOLE, Part, Reader
from gregor.worker.extract import markdown as as_markdown
from gregor.worker.extract.page import of_stored
from gregor.worker.inspect import selection, url_record, warc_records
from gregor.worker.inspect.selection import EVERYTHING, Selection
from gregor.worker.inspect.versions import undamaged
from gregor.worker.inspect.warc_records import Original, WarcAnswer
from gregor.worker.web import heads

_BATCHES: Final = 2
"""Batches of pages, with their bodies, that are read ahead: one is asked for while another is written."""


async def jsonl(
    reader: Reader,
    file: BinaryIO,
    wanted: Selection = EVERYTHING,
    part: Part = WHOLE,
    *,
    body: bool = False,
    headers: bool = False,
    markdown: bool = False,
) -> int:
    """Stored pages, or those of a part, with text and links, one object a line; returns how many. On demand with
    ``body`` (base64), ``headers`` and ``markdown``."""
    count = 0
    async for _, encoded in json_lines(reader, wanted, part, body=body, headers=headers, markdown=markdown):
        file.write(encoded)
        count += 1
    return count


async def json_lines(
    reader: Reader,
    wanted: Selection,
    part: Part,
    *,
    body: bool = False,
    headers: bool = False,
    markdown: bool = False,
) -> AsyncIterator[tuple[Page, bytes]]:
    """The lines of `jsonl`, each with its page."""

    async def line(pair: tuple[Page, Row | None]) -> tuple[Page, bytes]:
        page, row = pair
        if page.body and (opened := await url_record.body_of(reader, page, page.body)) is not None:
            opened[0].close()  # whoever is told its sha256 may rely on it
        record = await url_record.of_page(reader, page, row, text=True)
        await url_record.add_contents(reader, record, page, body=body, headers=headers)
        if markdown:
            content = await url_record.read_body(reader, page)
            record.markdown = None if content is None else as_markdown.of_page(of_stored(page, content))
        return page, url_record.encode(record) + b"\n"

    async for made in in_order(selection.pages(reader, wanted, part), line):
        yield made


async def warc(
    reader: Reader,
    output: Output,
    wanted: Selection = EVERYTHING,
    part: Part = WHOLE,
    on_page: Callable[[Page], None] = lambda _: None,
) -> int:
    """Every version of every stored page as request and response, exact copies as revisit records; then the answers of
    which no page was made, 304s as revisit records, and each robots.txt. Returns how many versions.

    ``on_page`` hears of each version that is a response of its own. Credentials and cookies of requests are masked.
    """
    count = 0
    versions = selection.batches(reader, wanted, part, versions=True, rows=False)
    async for batch in in_order(versions, partial(_all_stored, reader), _BATCHES):
        for stored in batch:
            _write_page(output, stored)
            if stored.original is None:
                on_page(stored.page)
        count += len(batch)
    async for records in in_order(_with_answers(reader, wanted, part), partial(_answers, reader)):
        for record in records:
            output.write(record)
    with url_record.Once() as once:  # one answer may be for the origins of many hosts
        async for answer in reader.all_robots():
            if wanted.host not in (None, answer.origin.partition("://")[2]):
                continue
            for record in _robots(answer):
                if _within(part, record) and once.first(record.identity):
                    output.write(record)
    return count


class _Stored(NamedTuple):
    """A page with what of it is read apart: its body (``decoded``: not as received), and whose copy it is."""

    page: Page
    payload: BinaryIO | bytes
    decoded: bool
    original: Original | None


async def _all_stored(reader: Reader, wanted: list[tuple[Page, Row | None]]) -> list[_Stored]:
    """Small bodies are asked for together: a question and a task for each would cost as much as what they bring."""
    pages = [page for page, _ in wanted]
    small = await _small_bodies(reader, [name for page in pages if (name := page.wire or page.body)])
    at_once = [_stored_with(page, small) for page in pages]

    async def others() -> AsyncIterator[Page]:
        for page, stored in zip(pages, at_once, strict=True):
            if stored is None:
                yield page

    asked = iter([stored async for stored in in_order(others(), partial(_stored, reader))])
    return [next(asked) if stored is None else stored for stored in at_once]


async def _small_bodies(reader: Reader, names: list[str]) -> dict[str, bytes]:
    try:
        return await reader.small_bodies(names)
    except Damaged:  # each that is asked for alone tells of itself
        return {}


def _stored_with(page: Page, small: dict[str, bytes]) -> _Stored | None:
    """All that there is of a page, if nothing is to be asked any more."""
    name = page.wire or page.body
    payload = small.get(name) if name else b""
    if payload is None or page.duplicate_of:
        return None
    return _Stored(page, payload, decoded=False, original=None)


async def _stored(reader: Reader, page: Page) -> _Stored:
    payload, decoded, there = await _payload(reader, page)
    first = await _first(reader, page) if there else None
    return _Stored(page, payload, decoded, warc_records.original(first, payload) if first is not None else None)


def _write_page(output: Output, stored: _Stored) -> None:
    page, payload, decoded, original = stored
    with payload if not isinstance(payload, bytes) else nullcontext():
        answer = warc_records.of_page(page)
        if original is not None:
            record = warc_records.copy(answer, original, decoded=decoded)
        else:
            size = len(payload) if isinstance(payload, bytes) else size_of(payload)
            if page.size > 0 == size and not page.truncated:
                answer = answer._replace(truncated="unspecified")
            record = warc_records.response(answer, payload, decoded=decoded, size=size)
        output.write(record, warc_records.request(page, answer, record))


async def _payload(reader: Reader, page: Page) -> tuple[BinaryIO, bool, bool]:
    """The body as it was received, or, when only that is kept, decoded (True); then whether there is any. Its place is
    at the start."""
    opened = await url_record.body_of(reader, page, *filter(None, (page.wire, page.body)))
    if opened is None:
        return io.BytesIO(), False, False
    body, sha256 = opened
    return body, sha256 != (page.wire or page.body), True


async def _first(reader: Reader, page: Page) -> Page | None:
    """The page of which this one is a copy, byte for byte as received; a copy of the text only is no revisit."""
    first = await undamaged(reader, reader.page(page.duplicate_of)) if page.duplicate_of else None
    if first is None or (first.wire or first.body) != (page.wire or page.body):
        return None
    return first


async def _with_answers(reader: Reader, wanted: Selection, part: Part) -> AsyncIterator[Row]:
    """The rows that are wanted and remember an answer of which no page was made."""
    async for row in reader.rows(wanted.state, wanted.host):
        if not any(attempt.answer for attempt in row.attempts) or url_fingerprint(row.key) % part.parts != part.number:
            continue
        if await selection.chosen(reader, wanted, row, None):
            yield row


async def _answers(reader: Reader, row: Row) -> list[WarcRecord]:
    """Redirects, errors and 304s; their payloads are not kept, and their requests neither."""
    records = []
    page_visit, first = 0, row.visits - len(row.attempts) + 1
    for visit, attempt in enumerate(row.attempts, first):
        kept = attempt.answer
        if kept is None:
            page_visit = visit if 200 <= attempt.status < 300 else page_visit
            continue
        name = f"{visit} {attempt.at} {kept.href}"
        truncated = kept.truncated or ("unspecified" if kept.size else "")
        answer = WarcAnswer(kept.href, attempt.status, kept.head, attempt.at, kept.address, truncated, name)
        held = await _held(reader, row, page_visit or row.page) if attempt.status == 304 else None
        if held is not None and held.at <= attempt.at:
            records.append(warc_records.not_modified(answer, held))
        else:
            records.append(warc_records.response(answer, b"", decoded=False))
    return records


async def _held(reader: Reader, row: Row, visit: int) -> Original | None:
    """The version of a page that a 304 was about."""
    page = await undamaged(reader, reader.page(row.key, visit)) if visit else None
    if page is None:
        return None
    payload, _, there = await _payload(reader, page)
    with payload:
        return warc_records.original(page, payload) if there or not page.size else None


def _within(part: Part, record: WarcRecord) -> bool:
    return url_fingerprint(record.url) % part.parts == part.number


def _robots(record: RobotsRecord) -> Iterator[WarcRecord]:
    """What is kept of an origin's robots.txt: the last answer, and texts of which only they themselves are kept."""
    href = f"{record.origin}/robots.txt"
    came = record.answer is not None and record.verdict == "parsed"
    copies = [*record.earlier, RobotsCopy(record.good_at, record.good_at, None if came else record.good_body)]
    for before, text in pairwise([RobotsCopy(0.0, 0.0, None), *copies]):
        if text.text and text.text != before.text:
            yield warc_records.resource(href, text.since, text.text)
    if (kept := record.answer) is not None:
        body = record.body if came else b""
        truncated = kept.truncated or ("unspecified" if kept.size and not body else "")
        name = f"robots {record.fetched_at} {kept.href}"
        answer = WarcAnswer(kept.href, record.status, kept.head, record.fetched_at, kept.address, truncated, name)
        yield warc_records.response(answer, body, decoded=True)


async def agent(reader: Reader) -> str:
    """The User-Agent that asked, as the first request that is found has it; "" if none has."""
    async for page in reader.pages():
        _, headers = heads.parse(page.request_head)
        return next((value for name, value in headers if name.lower() == "user-agent"), "")
    return ""
