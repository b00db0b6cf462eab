"""A small web on loopback with its own log: what a crawl that is killed again and again must still get right."""

import http.server
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.serving import running

FAST = tuple(f"h{number}.test" for number in range(5))
SLOW = "slow.test"
DELAY = 0.1
CRAWL_DELAY = 2.0
"""Seconds that the slow host asks for: longer than a process needs to start, so that a restart could break it."""
PAGES = 12


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it. ``at``: monotonic seconds."""

    at: float
    host: str
    path: str


@dataclass
class SmallWeb:
    """Where it listens, and every request so far in the order of arrival."""

    port: int
    log: list[Asked] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def note(self, host: str, path: str) -> None:
        """A request came."""
        with self.changed:
            self.log.append(Asked(time.monotonic(), host, path))
            self.changed.notify_all()

    def wait_for(self, requests: int, seconds: float) -> bool:
        """Until so many requests came."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.log) >= requests, seconds)

    def settled(self) -> int:
        """How many requests came, after all that were sent before this call: connections are accepted in order."""
        before = len(self.log)
        with socket.create_connection(("127.0.0.1", self.port), 10.0) as connection:
            connection.sendall(b"GET /nothing HTTP/1.0\r\nHost: \r\n\r\n")
            while connection.recv(4096):
                pass
        return max(before, len(self.log))

    def command_line(self, folder: Path) -> list[str]:
        """The arguments of a crawl of all of it, with its data in the folder."""
        (folder / "hosts.table").write_text(f"* 127.0.0.1:{self.port}\n")
        settings = ["--delay", str(DELAY), "--set", "delay_factor=0", "--scope", "any", "--set", "stop_grace=5"]
        place = ["--data", str(folder / "data"), "--host-table", str(folder / "hosts.table")]
        return ["crawl", f"http://{FAST[0]}/", f"http://{SLOW}/", *place, *settings]


def answer(host: str, path: str) -> tuple[int, str, str]:
    """Status, content type or Location, and body. Pages link to the next ones and to the next host."""
    if path == "/robots.txt":
        delay = f"Crawl-delay: {CRAWL_DELAY:g}\n" if host == SLOW else ""
        return 200, "text/plain", f"User-agent: *\nDisallow: /private\n{delay}"
    if path == "/old":
        return 302, "/3", ""
    if path == "/copy":
        return 200, "text/html", "<title>Copy</title><p>The same words on every host.</p>"
    pages = 3 if host == SLOW else PAGES
    number = 0 if path == "/" else int(path[1:]) if path[1:].isdigit() else pages
    if number >= pages:
        return 404, "text/plain", "no such page\n"
    following = "".join(f'<a href="/{number + step}">on</a>' for step in (1, 2) if number + step < pages)
    others = "".join(f'<a href="/{name}">{name}</a>' for name in ("old", "copy", "missing", "private/x"))
    neighbour = f'<a href="http://{FAST[(FAST.index(host) + 1) % len(FAST)]}/">next</a>' if host in FAST else ""
    links = following + (others + neighbour if number == 0 and host != SLOW else "")
    return 200, "text/html", f"<title>{host} {number}</title><p>Page {number} of {host}.</p>{links}"


@contextmanager
def serving() -> Iterator[SmallWeb]:
    """Serves it for as long as the block runs."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers["Host"]
            if not host:
                return
            web.note(host, self.path)
            status, kind, body = answer(host, self.path)
            try:
                self.send_response(status)
                self.send_header("Location" if status == 302 else "Content-Type", kind)
                self.end_headers()
                self.wfile.write(body.encode())
            except ConnectionError:
                return  # the crawl was killed meanwhile

        def log_message(self, *_: object) -> None:
            return

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            return  # a connection that was cut by a kill

    with Server(("127.0.0.1", 0), Handler) as server, running(server):
        web = SmallWeb(server.server_port)
        yield web
