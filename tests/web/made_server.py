"""A site of made-up pages on loopback, one thread a connection."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.serving import running

MadePage = tuple[str, bytes]
"""A media type, and a body."""


@contextmanager
def serving(page_at: Callable[[str], MadePage | None]) -> Iterator[int]:
    """A server that answers with the page at a target, with 404 where there is none: its port. ``page_at`` is called on
    the thread of the connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer with a page of the site."""
            page = page_at(self.path)
            kind, body = page if page is not None else ("text/plain", b"nothing here")
            self.send_response(200 if page is not None else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, running(server):
        yield server.server_port
