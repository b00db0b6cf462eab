"""A crawl's traces, as a collector on loopback gets them, and its log, which has the same ids."""

import gzip
import http.server
import re
import socket
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from gregor.worker.commands import cli
from tests.endtoend import small_web
from tests.serving import running

PAGE = (Path(__file__).parents[2] / "docs" / "logging.md").read_text()
TRACES = PAGE[PAGE.index("## Traces") :]


@contextmanager
def collecting() -> Iterator[tuple[str, list[ResourceSpans]]]:
    """A collector: its URL, and what it was sent."""
    got: list[ResourceSpans] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/traces":
                got.extend(ExportTraceServiceRequest.FromString(body).resource_spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, running(server):
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", got


def crawl(folder: Path, endpoint: str) -> list[dict[str, Any]]:
    """Crawl three pages, every visit traced; what the log has."""
    log = folder / "log"
    settings = {
        "trace_endpoint": endpoint,
        "trace_share": "1",
        "log_format": "json",
        "log_level": "debug",
        "log_file": str(log),
        "headers": '{X-Key = "hush-hush"}',
    }
    with small_web.serving() as web:
        words = [*web.command_line(folder), "--max-pages", "3"]
        assert cli.main([*words, *(word for name in settings for word in ("--set", f"{name}={settings[name]}"))]) == 0
    text = log.read_text()
    assert not [word for word in ("hush-hush", "Disallow", "<title>", "Page 1 of", "same words") if word in text]
    return [msgspec.json.decode(line) for line in text.splitlines()]


def values(pairs: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in pairs}


def test_a_collector_gets_what_the_log_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with collecting() as (endpoint, got):
        lines = crawl(tmp_path, endpoint)
    traces: dict[str, list[Span]] = defaultdict(list)
    for resource in got:
        assert {"service.name", "service.instance.id", "gregor.crawl"} <= values(resource.resource.attributes).keys()
        for scope in resource.scope_spans:
            for span in scope.spans:
                traces[span.trace_id.hex()].append(span)
    visited = {line["trace"]: line for line in lines if line["event"] == "visited"}
    assert len(visited) >= 3
    assert visited.keys() <= traces.keys()
    assert b"hush-hush" not in b"".join(resource.SerializeToString() for resource in got)
    documented = set(re.findall(r"`([\w.]+)`", TRACES))
    for trace, spans in traces.items():
        (root,) = [span for span in spans if not span.parent_span_id]
        stages = [span for span in spans if span.parent_span_id]
        assert {span.parent_span_id for span in stages} <= {root.span_id}
        assert root.name == "visit"
        assert {span.name for span in stages} | values(root.attributes).keys() <= documented
        assert all(root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano for span in stages)
        if trace in visited and visited[trace]["state"] == "fetched":
            told, line = values(root.attributes), visited[trace]
            assert (told["url.full"], told["gregor.state"]) == (line["url"], line["state"])
            assert (told["gregor.partition"], told["gregor.epoch"]) == (line["partition"], line["epoch"])
            assert {"queue", "row", "robots", "first_byte", "body", "parse", "settle"} <= {s.name for s in stages}
    assert all({"crawl", "worker"} <= line.keys() for line in lines if line["source"] == "crawl")
    capsys.readouterr()


def test_a_collector_that_is_not_there_costs_only_the_traces(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        lines = crawl(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}/v1/traces")
    assert sum(line["event"] == "visited" for line in lines) >= 3


def test_without_its_libraries_the_setting_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "gregor.worker.adapters.tracing", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    words = ["crawl", "http://a.test/", "--data", str(tmp_path / "data"), "--set", "trace_endpoint=http://127.0.0.1:1/"]
    assert cli.main(words) == 2
    assert "gregor-crawler[tracing]" in capsys.readouterr().err
