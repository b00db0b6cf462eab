"""The crawler's own line is down for a while: no URL is given up for it, by either transport."""

import http.server
import json
import socketserver
import threading
from pathlib import Path

import pytest

from gregor.worker.commands import cli

HOSTS, PAGES = 6, 8


class Page(http.server.BaseHTTPRequestHandler):
    """Pages in a row, each with words of its own."""

    def do_GET(self) -> None:
        number = int(self.path.strip("/") or 0) if self.path != "/robots.txt" else PAGES
        self.send_response(200 if number < PAGES else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"page {number} of {self.headers['Host']} <a href=/{number + 1}>next</a>".encode())
        self.server.answered()  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None:
        return


class Site(http.server.ThreadingHTTPServer):
    """Ends after some answers, and comes back to its port after a while."""

    allow_reuse_address = True
    daemon_threads = True
    left = HOSTS * 4

    def answered(self) -> None:
        self.left -= 1
        if self.left == 0:
            threading.Thread(target=self.fall, daemon=True).start()

    def fall(self) -> None:
        self.shutdown()
        self.socket.close()
        threading.Event().wait(1.5)
        self.socket = type(self.socket)(self.address_family, self.socket_type)
        socketserver.TCPServer.server_bind(self)
        self.server_activate()
        self.serve_forever()


@pytest.mark.parametrize("transport", ["curl", "requests"])
def test_no_url_is_given_up_while_nothing_can_be_reached(
    transport: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        (tmp_path / "hosts").write_text(f"* 127.0.0.1:{site.server_port}\n")
        seeds = [f"http://h{number}.test/" for number in range(HOSTS)]
        flags = {"transport": transport, "retries": 2, "delay": 0.05, "delay_factor": 0, "retry_pause": 0.2}
        settings = [word for name, value in flags.items() for word in ("--set", f"{name}={value}")]
        line = ["--data", str(tmp_path / "data"), "--host-table", str(tmp_path / "hosts"), "--json"]
        assert cli.main(["crawl", *seeds, *line, *settings]) == 0
        report = json.loads(capsys.readouterr().out)
    assert site.left < 0
    assert report["states"]["fetched"] == HOSTS * PAGES
    assert set(report["errors"]) <= {"cut", "timeout"}, "in flight when it was cut: that is no sign of the line"
