"""Whatever is asked of the API gets an answer that its document has, and leaves the worker at its work."""

import asyncio
import random
import socket
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from gregor.worker.adapters.embedded import change_orders
from gregor.worker.api import access
from gregor.worker.orders.model import Orders
from tests.endtoend.described import DOCUMENT
from tests.endtoend.operated import OPERATOR, VIEWER, Operated, over

REQUESTS: Final = 120
TEXTS: Final = (
    "", "h0.example", "H1.Example", "*", "*.example", "[::1]:8080", "http://h0.example/0", "http://h1.example/1",
    "http://user:secret@a.example/", "mailto:a@b.example", "worker-1", "a/b", "..", "%00", "<script>alert(1)</script>",
    "\x00\x1b[31m\u202e", "'; DROP TABLE orders", "\ufffd\U0001f577", "é" * 300, "x" * 9000, "nan:nan:nan", "1:2:3",
)  # fmt: skip
NUMBERS: Final = (-1, 0, 1, 2, 5, 0.5, 1e-9, 1e308, 2**31, 2**53, 2**63, 2**64, 10**30)
TOKENS: Final = (
    *[f"Bearer {OPERATOR}"] * 12, f"Bearer {VIEWER}", f"bearer {VIEWER}", f"Basic {OPERATOR}", f"Bearer {OPERATOR} x",
    "Bearer", "", "Bearer \xff", "Bearer " + "x" * 9000, f"Bearer {OPERATOR[:-1]}", OPERATOR,
)  # fmt: skip


class Asker:
    """Makes requests of the document: mostly as it has them, now and then with something else in its place."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def one(self) -> tuple[str, str, dict[str, Any]]:
        """Method, path, and what `requests` is to send with it."""
        chosen = self._random
        path = chosen.choice([one for one in DOCUMENT["paths"] if one != "/api/v1/stop"])
        method = chosen.choice([*DOCUMENT["paths"][path]] * 8 + ["get", "put", "post", "delete", "head", "patch"])
        described = DOCUMENT["paths"][path].get(method, {})
        query: list[tuple[str, Any]] = []
        for parameter in described.get("parameters", ()):
            if parameter["in"] == "path":
                text = chosen.choice(TEXTS)
                if ("budget", text) == (path.split("/")[-2], "*"):
                    text = "h0.example"  # a crawl that has spent its budget ends, as it should
                path = path.replace("{" + parameter["name"] + "}", quote(text, safe=""))
            elif parameter["in"] == "query" and chosen.random() < 0.7:
                query.append((parameter["name"], self._value(parameter["schema"])))
        if chosen.random() < 0.05:
            query.append((chosen.choice(("colour", "limit", "after", "<b>")), chosen.choice(TEXTS)))
        headers: dict[str, Any] = {"Authorization": chosen.choice(TOKENS).encode("latin-1")}
        if chosen.random() < 0.3:
            headers["Idempotency-Key"] = chosen.choice(("k", '"k"', "", "k" * 101, "a\tb")).encode()
        more: dict[str, Any] = {"params": query, "headers": headers}
        if "requestBody" in described:
            more["json"] = self._value(described["requestBody"]["content"]["application/json"]["schema"])
        return method.upper(), path, more

    def _value(self, schema: dict[str, Any]) -> Any:
        """A value of a schema, or something else."""
        chosen = self._random
        if chosen.random() < 0.07:
            return chosen.choice((None, True, [], {}, {"why": []}, *TEXTS, *NUMBERS))
        if "$ref" in schema:
            return self._value(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self._value(chosen.choice(schema["anyOf"]))
        if "enum" in schema:
            return chosen.choice(schema["enum"])
        if schema.get("type") == "object":
            needed = schema.get("required", ())
            names = [name for name in schema["properties"] if name in needed or chosen.random() < 0.5]
            return {name: self._value(schema["properties"][name]) for name in names}
        if schema.get("type") == "array":
            return [self._value(schema["items"]) for _ in range(chosen.choice((1, 1, 2, 30)))]
        return chosen.choice(NUMBERS if schema.get("type") in ("integer", "number") else TEXTS)


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_asked_is_answered_as_described(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(access, "MOST_FAILURES", REQUESTS)

    async def case(worker: Operated) -> None:
        asker, found = Asker(seed), set()
        for _ in range(REQUESTS):
            method, path, more = asker.one()
            answer = await worker.ask(method, path, "", **more)  # which holds it against the document
            if not answer.ok and method != "HEAD":
                detail = answer.json()["detail"]
                assert detail.isprintable() and detail.endswith(".") and len(detail) < 300, detail
            found.add(answer.status_code)
        assert {200, 400, 401} <= found
        assert max(found) < 500
        await asyncio.to_thread(change_orders, worker.folder, lambda orders: Orders(orders.version + 1))
        before = worker.runtime.stats.requests
        await worker.until(lambda: worker.runtime.stats.requests > before + 4)
        assert worker.runtime.stats.too_close == 0
        assert (await worker.ask("GET", "/healthz", "")).json()["ok"]

    over(case, api_rate=1e6)(tmp_path)
    assert not caplog.records


UPGRADE: Final = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n"
HEAD: Final = f"Host: 127.0.0.1\r\nAuthorization: Bearer {OPERATOR}\r\n".encode()
PUT: Final = b"PUT /api/v1/orders/pause HTTP/1.1\r\n" + HEAD


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"OPTIONS * HTTP/1.1\r\n" + HEAD + b"\r\n", 404),
        (b"TRACE / HTTP/1.1\r\n" + HEAD + b"\r\n", 405),
        (b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n" + HEAD + b"\r\n", 404),
        (b"get /api/v1/status HTTP/1.1\r\n" + HEAD + b"\r\n", 405),
        (b"<script> / HTTP/1.1\r\n" + HEAD + b"\r\n", 400),
        (b"GET /healthz\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET http://evil.example/api/v1/status HTTP/1.1\r\n" + HEAD + b"\r\n", 404),
        (b"GET /api/v1/../../etc/passwd HTTP/1.1\r\n" + HEAD + b"\r\n", 404),
        (b"GET /api/v1/\x00 HTTP/1.1\r\n" + HEAD + b"\r\n", 400),
        (b"GET /api/v1/explain?url=%00%ff HTTP/1.1\r\n" + HEAD + b"\r\n", 400),
        (b"GET /%zz%ff%fe HTTP/1.1\r\n" + HEAD + b"\r\n", 404),
        (b"GET / HTTP/1.1\r\n" + HEAD + UPGRADE + b"\r\n", 200),
        (PUT + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
        (PUT + b"Content-Length: -2\r\n\r\n{}", 400),
        (PUT + b"Content-Length: 8000\r\n\r\n" + b"[" * 8000, 400),
        (PUT + b'Content-Length: 16\r\n\r\n{"why":"\\ud800"}', 400),
        (PUT + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (PUT + b"Transfer-Encoding: chunked\r\n\r\n" + b"1000\r\n" + b"x" * 4096 + b"\r\n1001\r\n" + b"x" * 4097, 413),
        (PUT.replace(b"pause", b"delay/a.example") + b'Content-Length: 13\r\n\r\n{"value":NaN}', 400),
        (PUT.replace(b"pause", b"delay/a.example") + b'Content-Length: 15\r\n\r\n{"value":1e400}', 400),
        (PUT.replace(b"pause", b"block/%ff%fe") + b"\r\n", 400),
        (PUT.replace(b"pause", b"block/a%2fb") + b"\r\n", 400),
        (PUT.replace(b"pause", b"drain/%3Cscript%3E%E2%80%AE") + b"\r\n", 400),
    ],
)  # fmt: skip
def test_bytes_that_no_client_sends_get_a_status(tmp_path: Path, sent: bytes, status: int) -> None:
    async def case(worker: Operated) -> None:
        answer = await asyncio.to_thread(_told, worker, sent)
        assert answer.startswith(b"HTTP/1.1 %d " % status), answer[:300]
        assert status == 200 or b"\r\ncontent-type: application/problem+json\r\n" in answer.lower()
        assert not worker.engine.coordinator.orders().by_name

    over(case)(tmp_path)


def _told(worker: Operated, sent: bytes) -> bytes:
    """The head of the answer to bytes."""
    with socket.create_connection(("127.0.0.1", int(worker.url.rstrip("/").rpartition(":")[2])), timeout=30) as client:
        client.sendall(sent)
        found = b""
        while b"\r\n\r\n" not in found and (piece := client.recv(65536)):
            found += piece
    return found
