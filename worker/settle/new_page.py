"""The page of an answer, before its document is read. Pure."""

import hashlib

from gregor.schemas.messages import Page, Ticket
from gregor.worker.borders.transport import Response
from gregor.worker.read.document import Document
from gregor.worker.web import http_headers
from gregor.worker.web.urls import Url


def new_page(ticket: Ticket, url: Url, response: Response, document: Document, now: float) -> Page:
    """What is known of it by ticket and answer; ``now``: unix seconds."""
    page = Page(
        key=ticket.key,
        href=url.href,
        host=ticket.host,
        visit=ticket.visit + 1,
        kind=ticket.kind,
        status=response.status,
        fetched_at=now,
        content_type=document.content_type,
        body=document.sha256,
        size=response.body.size,
        truncated=response.truncated or "",
        label=ticket.label,
        depth=ticket.depth,
        via=ticket.via,
        hops=ticket.hops,
        response_head=response.response_head,
        request_head=http_headers.masked(response.request_head),
        address=response.address,
        elapsed=response.elapsed,
        tls_fault=response.tls_fault or "",
        etag=response.header("etag") or "",
        last_modified=response.header("last-modified") or "",
        requisite=ticket.requisite,
    )
    if response.wire_body is not None:
        page.wire = hashlib.sha256(response.wire_body.read()).hexdigest()
    return page
