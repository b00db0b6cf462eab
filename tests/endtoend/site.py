"""Sites on loopback and commands as a shell would see them: what tests of whole commands share."""

import contextlib
import http.server
import io
import logging
import socketserver
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dns.message
import dns.rcode
import msgspec
import pytest

from gregor.worker.commands import cli
from tests.serving import running


class Site(http.server.BaseHTTPRequestHandler):
    """Ten pages that link to each other, a sitemap of one; /slow answers when the test lets it."""

    let = threading.Event()
    asked = threading.Event()

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].strip("/")
        if name == "slow":
            self.asked.set()
            self.let.wait(60)
        number = int(name) if name.isdigit() else 0
        found = name in ("", "slow", "sitemap.xml", str(number)) and number < 10
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the crawl was stopped meanwhile
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            if name == "sitemap.xml":
                self.wfile.write(b"<urlset><url><loc>http://www.test/7</loc></url></urlset>")
                return
            self.wfile.write(f"<title>{name}</title><p>page {name}<a href=/{number + 1}>next</a>".encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def site(tmp_path: Path) -> Iterator[list[str]]:
    """Flags with which www.test is a site of ten pages."""
    Site.let.clear()
    Site.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server, running(server):
        (tmp_path / "hosts").write_text(f"www.test 127.0.0.1:{server.server_port}\n")
        flags = ["--data", str(tmp_path / "data"), "--host-table", str(tmp_path / "hosts"), "--delay", "0"]
        yield [*flags, "--set", "delay_factor=0"]
        Site.let.set()


class Here:
    """Runs commands in this process, as a shell would see them."""

    def __init__(self, captured: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
        self._captured = captured
        self._monkeypatch = monkeypatch

    err = ""

    def said(self, *words: str, code: int = 0, stdin: bytes = b"") -> str:
        """Standard output; standard error, which is one line then, for bad input. `err` has it for every code."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._captured.readouterr()
        assert cli.main(words) == code
        captured = self._captured.readouterr()
        self.err = captured.err.decode()
        assert "Traceback" not in self.err
        if code == 2:
            assert (captured.out, captured.err.count(b"\n")) == (b"", 1)
        return (captured.err if code == 2 else captured.out).decode()

    def report(self, *words: str, code: int = 0) -> dict[str, Any]:
        """What `gregor crawl --json` tells at its end."""
        found = msgspec.json.decode(self.said("crawl", "--json", *words, code=code))
        assert isinstance(found, dict)
        return found


@pytest.fixture
def here(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield Here(capsysbinary, monkeypatch)
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


class Web:
    """Hosts whose pages a test changes as it likes: by "host/path" a status, headers and a body."""

    def __init__(self, folder: Path) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], str]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.flags: list[str] = []
        self.folder = folder

    def page(self, place: str, body: str = "", status: int = 200, **headers: str) -> None:
        """Serve this from now on."""
        self.pages[place] = status, {name.replace("_", "-"): value for name, value in headers.items()}, body

    def paths(self) -> list[str]:
        """What was asked for since the last look, but for robots.txt."""
        asked, self.asked = self.asked, []
        return [place for place, _ in asked if not place.endswith("/robots.txt")]

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        """One request."""
        place = request.headers["Host"] + request.path
        self.asked.append((place, dict(request.headers.items())))
        status, headers, body = self.pages.get(place, (404, {}, ""))
        if "ETag" in headers and request.headers["If-None-Match"] == headers["ETag"]:
            status, body = 304, ""
        request.send_response(status)
        for name, value in {"Content-Type": "text/html", **headers}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body.encode())


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    """A web of any hosts below .test, and the flags that reach it without delay."""
    found = Web(tmp_path)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.answer(self)

        def log_message(self, *_: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, running(server):
        (tmp_path / "hosts").write_text(f"* 127.0.0.1:{server.server_port}\n")
        fast = ("delay_factor=0", "first_contact_delay=0", "retry_pause=0.1", "retries=1", "failure_ttl=0.2")
        found.flags = ["--data", str(tmp_path / "data"), "--host-table", str(tmp_path / "hosts")]
        found.flags += [word for setting in (*fast, "delay=0") for word in ("--set", setting)]
        yield found


@pytest.fixture
def names() -> Iterator[str]:
    """A DNS server that knows no name."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            data, socket = self.request
            answer = dns.message.make_response(dns.message.from_wire(data))
            answer.set_rcode(dns.rcode.NXDOMAIN)
            socket.sendto(answer.to_wire(), self.client_address)

    with socketserver.ThreadingUDPServer(("127.0.0.1", 0), Handler) as server, running(server):
        yield f"127.0.0.1:{server.server_address[1]}"
