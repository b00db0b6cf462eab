"""`gregor show URL`: what the crawl keeps of one URL."""

import argparse
import shlex
import shutil
import sys

from gregor.schemas.messages import Page, Row
from gregor.worker.base.errors import complain
from gregor.worker.base.printable import escape, one_line
from gregor.worker.commands import FAILED
from gregor.worker.commands.common import OpenedCrawl, add_settings, not_negative, reading, run_reading, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record
from gregor.worker.inspect.url_record import UrlRecord
from gregor.worker.inspect.versions import undamaged
from gregor.worker.web.heads import printable
from gregor.worker.web.http_headers import masked

_VERSIONS = 100
_SHOWN = (
    *("status", "outcome", "rule", "redirected_to", "depth", "label", "checked_at", "fetched_at", "version"),
    *("document_status", "mime", "charset", "language", "size"),
    *("sha256", "title", "truncated", "unread", "duplicate_of", "near_duplicate_of", "canonical", "directives"),
    "requisite",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The URL and what to show of it."""
    parser.add_argument("url", metavar="URL")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="the record, its text and links as one JSON object")
    what.add_argument("--headers", action="store_true", help="request and answer; credentials and cookies masked")
    what.add_argument("--text", action="store_true", help="the text of the document")
    what.add_argument("--links", action="store_true", help="each link with its kind and what became of it")
    what.add_argument("--body", action="store_true", help="the body, decoded, byte for byte")
    parser.add_argument(
        "--version", type=not_negative, metavar="N", help="the document that visit N brought; default: the newest"
    )
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show it."""
    return run_reading(_show(arguments, settings(arguments).config))


async def _show(arguments: argparse.Namespace, config: Config) -> int:
    async with reading(config) as crawl:
        url = crawl.url(arguments.url)
        stored = await url_record.find(crawl.reader, url)
        if stored.row is not None:
            record, page = await url_record.of_row(crawl.reader, stored.row, text=True, version=arguments.version)
            if arguments.version is not None and page is None:
                kept = ", ".join(map(str, await _versions(crawl, stored.row))) or "none"
                complain(
                    f"visit {arguments.version} brought no document of {record.url} that is kept: there are {kept}"
                )
                return FAILED
        elif stored.tickets:
            record, page = url_record.of_ticket(stored.tickets[0]), None
        else:
            complain(f"the crawl has no record of {url.href}; `gregor explain {shlex.quote(url.href)}` may say why")
            return FAILED
        if arguments.json:
            sys.stdout.buffer.write(url_record.encode(record) + b"\n")
        elif arguments.headers or arguments.text or arguments.links or arguments.body:
            return await _part(arguments, crawl, record, page)
        else:
            _summary(record, page)
            if stored.row is not None and (versions := await _versions(crawl, stored.row)):
                print(f"  {'versions':<18} {', '.join(map(str, versions))}: --version N shows one")
        return crawl.code


async def _versions(crawl: OpenedCrawl, row: Row) -> list[int]:
    """The visits that brought a document which is kept: of the last hundred."""
    visits = range(max(1, row.visits - _VERSIONS + 1), row.visits + 1) if row.page else ()
    return [visit for visit in visits if await undamaged(crawl.reader, crawl.reader.page(row.key, visit)) is not None]


async def _part(arguments: argparse.Namespace, crawl: OpenedCrawl, record: UrlRecord, page: Page | None) -> int:
    if page is None:
        complain(f"{record.url} has no document now: its state is {record.state}; `gregor show` lists older versions")
        return FAILED
    if arguments.headers:
        lines = [*printable(masked(page.request_head)), "", *printable(page.response_head)]
        print("\n".join(map(escape, lines)))
    elif arguments.links:
        for link in page.links:
            fate = one_line(link.fate) + (" (marked nofollow)" if link.nofollow else "")
            print(f"{link.kind:<10} {one_line(link.url, 2000)}  {fate}")
    elif arguments.text:
        print("\n".join(escape(line) for line in page.text.split("\n")))
    else:
        opened = await url_record.body_of(crawl.reader, page, page.body)
        if opened is None:
            return FAILED
        body, _ = opened
        with body:
            shutil.copyfileobj(body, sys.stdout.buffer)
    return crawl.code


def _summary(record: UrlRecord, page: Page | None) -> None:
    print(one_line(record.url, 2000))
    print(f"  {'state':<18} {record.state}")
    for name in _SHOWN:
        value = getattr(record, name)
        if value not in (None, False, ()):
            text = ", ".join(value) if isinstance(value, tuple) else str(value)
            print(f"  {name.replace('_', ' '):<18} {one_line(text)}")
    if page is not None:
        print(f"  {'links':<18} {len(page.links)}, {sum(link.fate == 'sent' for link in page.links)} of them followed")
        if page.truncated:
            print(f"  {'cut because of':<18} {one_line(page.truncated)}")
        if page.tls_fault:
            print(f"  {'certificate':<18} {one_line(page.tls_fault)}")
        print(f"  {'server':<18} {one_line(page.address)}, {page.elapsed:.3f} s")
