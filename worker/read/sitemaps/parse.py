"""Sitemaps: XML, index, gzip, text, RSS and Atom (sitemaps.org), as they are rather than as they should be.

The body is read as a stream and nothing but the entries is kept; entities are not resolved, and what was read before a
fault is used.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from typing import BinaryIO

from lxml import etree

from gregor.worker.read.sitemaps import mend as sitemap_mend
from gregor.worker.read.sitemaps.entries import (
    DEFAULT_PRIORITY,
    Extension,
    Sitemap,
    SitemapUrl,
    parse_date,
    parse_priority,
)
from gregor.worker.read.sitemaps.xml import MAX_FIELD, SitemapTarget
from gregor.worker.web.encodings import decoders, sniff

__all__ = [
    "DEFAULT_PRIORITY",
    "Extension",
    "Sitemap",
    "SitemapUrl",
    "is_sitemap",
    "parse",
    "parse_date",
    "parse_priority",
]

MAX_URLS = 50_000
"""Entries of one file (sitemaps.org)."""
MAX_BYTES = 50 * 1024 * 1024
"""Bytes of one file, unpacked (sitemaps.org)."""
DEFAULT_LOCATIONS = (
    "/sitemap.xml",
    "/sitemap.xml.gz",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap_index.xml.gz",
    "/sitemap-index.xml.gz",
    "/.sitemap.xml",
    "/sitemap",
    "/admin/config/search/xmlsitemap",
    "/sitemap/sitemap-index.xml",
    "/sitemap_news.xml",
    "/sitemap-news.xml",
    "/sitemap_news.xml.gz",
    "/sitemap-news.xml.gz",
)
"""Where sitemaps are that no robots.txt names, the usual ones first."""
_CHUNK = 64 * 1024
TELLING = _CHUNK
"""Bytes by which a document tells whether it is a sitemap."""
_LONGEST = 256 * 1024
"""Characters without the end of a tag beyond which a document is not read further."""
_LAYERS = 2
_MAX_MEMBERS = 10_000
"""Members of a gzip file; empty ones cost time and count no bytes."""
_GZIP = b"\x1f\x8b"
_ENTITY = re.compile(r"<!ENTITY")
_DECLARED = re.compile("<!(?:ATTLIST|ELEMENT|NOTATION|ENTITY)")
_LONGEST_DECLARED = len("<!NOTATION")
MAX_LINES = 1_000_000
"""Lines of a text that are looked at (some 0.2 s)."""
MAX_MARKS = 900_000
"""Marks ("<", "&") of a document that are read (some 0.5 s): an entry of a sitemap has four to twelve tags."""
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?>(?:<\?.*?\?>\s*|<!--.*?-->\s*)*)<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s/>]", re.DOTALL
)


def is_sitemap(body: bytes) -> bool:
    """Whether a document that nobody announced as one is an XML sitemap or an index of them: its root says so."""
    first = next(_unpacked(BytesIO(body), _CHUNK, Sitemap(urls=[], children=[])), b"")
    return _ROOT.match(first) is not None


def parse(
    body: bytes | BinaryIO,
    href: str,
    content_type: str | None = None,
    *,
    max_urls: int = MAX_URLS,
    max_bytes: int = MAX_BYTES,
    extensions: bool = False,
) -> Sitemap:
    """Reads a sitemap. Never raises over its content. What it is, is told by its bytes, not by its name or type.

    ``max_urls`` bounds the entries, ``max_bytes`` the bytes after each unpacking. With ``extensions`` those are kept
    too, up to 1,000 an entry: a file may have millions. ``href`` says where it came from.
    """
    result = Sitemap(urls=[], children=[])
    stream = _unpacked(BytesIO(body) if isinstance(body, bytes) else body, max_bytes, result)
    first = next(stream, b"")
    encoding = sniff.bom(first) or sniff.header_charset(content_type) or sniff.xml_declaration(first.lstrip())
    text = _decoded(first, stream, encoding or "utf-8")
    start = next(text, "").lstrip("\ufeff \t\r\n")
    if not _ENTITY.search(start):
        start = sitemap_mend.without_preface(start)
    if start.startswith("<"):
        _parse_xml(start, text, result, SitemapTarget(result, max_urls, extensions))
    else:
        _parse_text(start, text, result, max_urls)
    return result


class _Bounded:
    """Chunks up to a number of bytes."""

    def __init__(self, chunks: Iterable[bytes], left: int, result: Sitemap) -> None:
        self._chunks = iter(chunks)
        self._left = left
        self._result = result

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._left <= 0:
            self._result.truncated = True
            raise StopIteration
        chunk = next(self._chunks)[: self._left]
        self._left -= len(chunk)
        return chunk


def _unpacked(stream: BinaryIO, max_bytes: int, result: Sitemap) -> Iterator[bytes]:
    chunks: Iterator[bytes] = _Bounded(iter(lambda: stream.read(_CHUNK), b""), max_bytes, result)
    for _ in range(_LAYERS + 1):
        first = next(chunks, b"")
        chunks = _chain(first, chunks)
        if not first.startswith(_GZIP):
            break
        chunks = _Bounded(_inflated(chunks, result), max_bytes, result)
    return chunks


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _inflated(chunks: Iterator[bytes], result: Sitemap) -> Iterator[bytes]:
    """The content of gzip members, piece by piece; what follows a fault is left out."""
    member, members = zlib.decompressobj(wbits=31), 1
    for chunk in chunks:
        data = chunk
        while data:
            if member.eof:
                if data[:1] != _GZIP[:1]:
                    return  # padding, or what else stands behind the last member
                member, members = zlib.decompressobj(wbits=31), members + 1
                if members > _MAX_MEMBERS:
                    result.truncated = True
                    return
            try:
                piece = member.decompress(data, _CHUNK)
            except zlib.error:
                result.broken = True
                return
            if piece:
                yield piece
            data = member.unconsumed_tail or member.unused_data
    result.broken = result.broken or not member.eof


def _up_to_marks(pieces: Iterable[str], result: Sitemap) -> Iterator[str]:
    """The text up to `MAX_MARKS`: what is mended or told apart costs the same whatever it is."""
    left = MAX_MARKS
    for piece in pieces:
        left -= piece.count("<") + piece.count("&")
        if left < 0:
            result.truncated = True
            return
        yield piece


def _decoded(first: bytes, rest: Iterator[bytes], encoding: str) -> Iterator[str]:
    decoder = decoders.decoder(encoding)
    yield decoder.decode(first)
    yield from map(decoder.decode, rest)
    yield decoder.decode(b"", True)


def _parse_text(start: str, rest: Iterator[str], result: Sitemap, max_urls: int) -> None:
    """One address a line."""
    line, left = start, MAX_LINES
    for chunk in rest:
        *lines, line = (line + chunk).replace("\r", "\n").split("\n")
        left -= len(lines)
        result.truncated = left < 0
        _add_lines(lines, result, max_urls)
        if result.truncated or len(line) > MAX_FIELD:
            break
    else:
        _add_lines([line], result, max_urls)
    if result.urls:
        result.kind = "text"
    else:
        result.broken = True


def _add_lines(lines: Iterable[str], result: Sitemap, max_urls: int) -> None:
    for line in lines:
        loc = line.strip()
        if loc[:8].lower().startswith(("http://", "https://")) and len(loc) <= MAX_FIELD:
            if len(result.urls) >= max_urls:
                result.truncated = True
                return
            result.urls.append(SitemapUrl(loc))


def _parse_xml(start: str, rest: Iterator[str], result: Sitemap, target: SitemapTarget) -> None:
    if _ENTITY.search(start):
        # No sitemap needs entities of its own; a document that declares some means harm.
        result.broken = True
        return
    parser = etree.XMLParser(
        target=target,  # type: ignore[arg-type]
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
    )
    try:
        long, before = 0, ""
        for chunk in sitemap_mend.escaped(_up_to_marks(chain((start,), rest), result)):
            if result.truncated or target.is_none:
                break
            if result.kind == "unknown" and _DECLARED.search(before + chunk):
                # Nor does one need a DTD, whose default attributes every element would have.
                result.broken = True
                break
            before = chunk[-_LONGEST_DECLARED:]
            # Neither a tag nor a text may grow without end: the parser would have to keep all of it.
            long = 0 if ">" in chunk else long + len(chunk)
            if long > _LONGEST:
                result.truncated = True
                break
            parser.feed(chunk.encode())
        target.finish()
        parser.close()
    except etree.XMLSyntaxError:
        target.finish()
        result.broken = True
    result.broken = result.broken or result.kind == "unknown" or len(parser.error_log) > 0
