"""The server of recorded webs: every record is answered as recorded, over http and https, for any name."""

import http.client
import io
import json
import ssl
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.web.warc_server import RecordedWeb, serving

BODY = bytes(range(256)) * 3000
RECORDS = (
    ("http://a.example/", "200 OK", [("Content-Type", "text/html"), ("X-Note", "kept")], b"<p>a"),
    ("https://a.example/", "200 OK", [("Content-Type", "text/plain; charset=koi8-r")], b"\xc1"),
    ("https://b.example/big?q=%20x", "200 OK", [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")], BODY),
    ("http://b.example/old", "301 Moved Permanently", [("Location", "/new")], b""),
    ("http://b.example/gone", "410 Gone", [("Content-Type", "text/html")], b"gone"),
    ("http://b.example:8080/", "200 OK", [("Content-Type", "text/html")], b"port"),
)


@pytest.fixture
def web_files(tmp_path: Path) -> list[Path]:
    file = tmp_path / "made.warc.gz"
    with file.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        writer.write_record(writer.create_warcinfo_record(file.name, {"software": "test"}))
        for url, status, headers, body in RECORDS:
            head = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=head))
    return [file]


def ask(web: RecordedWeb, scheme: str, host: str, target: str) -> http.client.HTTPResponse:
    if scheme == "http":
        connection = http.client.HTTPConnection("127.0.0.1", web.http, timeout=10)
    else:
        context = ssl.create_default_context(cafile=str(web.ca))
        connection = http.client.HTTPSConnection("127.0.0.1", web.https, timeout=10)
        connection.connect = lambda: None  # type: ignore[method-assign]
        plain = http.client.socket.create_connection(("127.0.0.1", web.https), 10)  # type: ignore[attr-defined]
        connection.sock = context.wrap_socket(plain, server_hostname=host)
    connection.request("GET", target, headers={"Host": host, "Connection": "close"})
    return connection.getresponse()


def test_records_are_answered_as_recorded(web_files: list[Path], tmp_path: Path) -> None:
    with serving(web_files, tmp_path) as web:
        for url, status, headers, body in RECORDS:
            scheme, _, rest = url.partition("://")
            host, _, target = rest.partition("/")
            answer = ask(web, scheme, host, f"/{target}")
            assert (f"{answer.status} {answer.reason}", answer.read()) == (status, body)
            assert answer.headers["Content-Length"] == str(len(body))
            for name, value in headers:
                assert answer.headers[name] == (None if name.endswith("Encoding") else value)
        assert ask(web, "http", "a.example", "/nothing").status == 404
        assert ask(web, "https", "never.heard.example", "/").status == 404
        table = web.host_table.read_text()
        assert f"a.example:443 127.0.0.1:{web.https}\n" in table
        assert f"b.example:80 127.0.0.1:{web.http}\n" in table
    logged = [json.loads(line) for line in web.log.read_text().splitlines()]
    assert [entry["host"] for entry in logged[-2:]] == ["a.example", "never.heard.example"]
    assert logged[2] | {"t": 0} == {"t": 0, "scheme": "https", "host": "b.example", "target": "/big?q=%20x"}


def test_one_connection_takes_many_requests_and_bad_ones_end_it(web_files: list[Path], tmp_path: Path) -> None:
    with serving(web_files, tmp_path) as web:
        connection = http.client.HTTPConnection("127.0.0.1", web.http, timeout=10)
        connection.connect()
        kept = connection.sock
        for _ in range(50):
            connection.request("GET", "/", headers={"Host": "a.example:80"})
            assert connection.getresponse().read() == b"<p>a"
        assert connection.sock is kept
        connection.request("POST", "/", body=b"x", headers={"Host": "a.example"})
        assert connection.getresponse().status == 400
        connection.close()
        connection.request("GET", "/", headers={"Host": "a.example", "X-Long": "x" * 100_000})
        assert connection.getresponse().status == 431
        connection.close()
