"""Where the headers of an answer lead. Pure."""

from gregor.worker.borders.transport import Response
from gregor.worker.read.document import Extract, Reference
from gregor.worker.read.html import references
from gregor.worker.web import http_headers
from gregor.worker.web.urls import Url, Urls


def add_header_links(extract: Extract, url: Url, response: Response, urls: Urls) -> None:
    """Where the headers lead: their canonical link (RFC 6596 section 3) counts where the document names none;
    a Refresh is read as that of a ``meta`` element (HTML Standard, "initialize the Document object")."""
    header = response.combined("link")
    stated = http_headers.canonical_link(http_headers.decoded(header)) if header and extract.canonical is None else None
    target = urls.resolve(stated, url.href) if stated is not None else None
    if target is not None:
        extract.canonical = target.href
        extract.links.append(Reference(target.href, "canonical"))
    refresh = references.refresh(http_headers.decoded(response.header("refresh") or ""))
    if refresh is not None and refresh.url and (target := urls.resolve(refresh.url, url.href)):
        extract.links.append(Reference(target.href, "refresh"))
