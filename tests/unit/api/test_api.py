"""What the API decides without a worker: roles, rates, problems, its document, the policy of the console's page."""

import base64
import hashlib
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response

from gregor.worker.api import console, problems
from gregor.worker.api.access import MOST_FAILURES, WINDOW, Access, Bucket, Role, require
from gregor.worker.api.app import application
from gregor.worker.api.endpoints import ENDPOINTS
from gregor.worker.api.openapi import document
from gregor.worker.api.problems import Problem
from gregor.worker.base.errors import BadInput
from gregor.worker.config.api import reachable, token
from gregor.worker.config.check import check
from gregor.worker.config.settings import Config, ConfigError

VIEWER, OPERATOR = "v" * 20, "o" * 20


def access(*, anonymous: bool = False, viewer: str = VIEWER, operator: str = OPERATOR) -> Access:
    return Access(viewer, operator, anonymous_read=anonymous)


@pytest.mark.parametrize(
    ("authorization", "role"),
    [(None, "anyone"), (f"Bearer {VIEWER}", "viewer"), (f"bearer  {OPERATOR} ", "operator")],
)
def test_a_token_has_a_role(authorization: str | None, role: Role) -> None:
    assert access().role(authorization, "h", "c", 0.0) == role


@given(st.text(), st.booleans())
def test_no_other_text_is_a_token(text: str, configured: bool) -> None:
    gate = access() if configured else access(viewer="", operator="")
    for authorization in (text, f"Bearer {text}", f"Basic {text}", "Bearer"):
        if text.strip() not in (VIEWER, OPERATOR):
            with pytest.raises(Problem) as refused:
                gate.role(authorization, "h", "c", 0.0)
            assert refused.value.status == 401


@pytest.mark.parametrize("host", ["127.0.0.1:9100", "localhost", "[::1]:80", "LOCALHOST:1"])
def test_anonymous_reading_is_for_loopback_names(host: str) -> None:
    assert access(anonymous=True).role(None, host, "c", 0.0) == "viewer"
    assert access().role(None, host, "c", 0.0) == "anyone"
    for other in ("evil.example", "", "127.0.0.1.evil.example", "[::1", "10.0.0.1"):
        assert other == "[::1" or access(anonymous=True).role(None, other, "c", 0.0) == "anyone"


def test_failures_are_bounded_by_address_and_time() -> None:
    gate = access()

    def status(authorization: str, client: str, now: float) -> int:
        try:
            gate.role(authorization, "h", client, now)
        except Problem as problem:
            return problem.status
        return 200

    assert [status("Bearer x", "a", float(n)) for n in range(MOST_FAILURES)] == [401] * MOST_FAILURES
    assert status(f"Bearer {OPERATOR}", "a", 10.0) == 429
    assert status(f"Bearer {OPERATOR}", "b", 10.0) == 200
    assert status(f"Bearer {OPERATOR}", "a", WINDOW) == 200
    for number in range(10_000):
        status("Bearer x", f"n{number}", 100.0)
    assert len(gate._failures) <= 4096


def test_who_may_do_what() -> None:
    roles: tuple[Role, ...] = ("anyone", "viewer", "operator")
    for have, role in enumerate(roles):
        for needed, other in enumerate(roles):
            if have >= needed:
                require(role, other)
                continue
            with pytest.raises(Problem) as refused:
                require(role, other)
            assert refused.value.status == (401 if role == "anyone" else 403)


@given(st.lists(st.floats(0.0, 0.5), max_size=200), st.floats(1.0, 50.0))
def test_a_bucket_lets_its_rate_through(gaps: list[float], rate: float) -> None:
    bucket, now, let = Bucket(rate), 0.0, 0
    for gap in gaps:
        now += gap
        let += bucket.take(now)
    assert let <= rate * now + 2.0 * rate + 1e-6
    assert let >= min(len(gaps), int(2.0 * rate))


@given(st.text())
def test_a_problem_is_json_whatever_it_says(text: str) -> None:
    answer = problems.response(Problem(400, text.encode("utf-8", "replace").decode()))
    assert answer.status_code == 400
    assert answer.headers["content-type"] == problems.MEDIA_TYPE
    assert b"\n" not in bytes(answer.body)


def test_only_reading_and_health_need_no_operator() -> None:
    assert [one.path for one in ENDPOINTS if one.role == "anyone"] == ["/healthz"]
    assert {one.role for one in ENDPOINTS if one.method != "GET"} == {"operator"}
    assert {one.role for one in ENDPOINTS if one.method == "GET"} == {"anyone", "viewer"}


def test_the_document_has_every_route_that_exists() -> None:
    desk: Any = None
    gate: Any = application(desk, access(), 1.0, {"/": Response(), "/bot": Response()})
    routes = {
        (method, route.path.replace(":path}", "}")) for route in gate._app.routes for method in route.methods - {"HEAD"}
    }
    found = document(["/", "/bot"])["paths"]
    assert {(method.upper(), path) for path, methods in found.items() for method in methods} == routes
    assert len(routes) > len({one.path for one in ENDPOINTS})
    for path, methods in found.items():
        for method, operation in methods.items():
            in_path = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
            assert in_path == set(re.findall(r"{(\w+)}", path))
            headers = {one["name"] for one in operation.get("parameters", []) if one["in"] == "header"}
            assert headers == ({"Idempotency-Key"} if method != "get" else set())
            assert ("requestBody" in operation) == (method != "get")
    for one in ENDPOINTS:
        parameters = found[one.path][one.method.lower()].get("parameters", [])
        fields = {field.name: field.required for field in msgspec.structs.fields(one.query)} if one.query else {}
        assert {each["name"]: each["required"] for each in parameters if each["in"] == "query"} == fields
    names = [operation["operationId"] for methods in found.values() for operation in methods.values()]
    assert len(names) == len(set(names))


def test_the_page_runs_its_own_script_only() -> None:
    text = console.page()
    policy = dict(part.split(" ", 1) for part in console.policy(text).split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    for name in ("script", "style"):
        (source,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert policy[f"{name}-src"] == f"'sha256-{digest}'"
    assert not re.search(r"\son\w+=|\sstyle=|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
    example = "https://www.example.org/"  # in a field that is empty
    assert set(re.findall(r"https?://[^\"'\s]+", text)) == {"http://www.w3.org/2000/svg", example}
    assert not re.search(r"<(link|img|iframe|object|embed|script\s|style\s)", text)
    used = set(re.findall(r'\b(?:el|fill|describe|counted)\("([a-z-]+)"[,)]', text))
    assert len(used) > 50
    assert used <= set(re.findall(r'id="([a-z-]+)"', text))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"listen": "9100"}, "must be ADDRESS:PORT"),
        ({"listen": "127.0.0.1:99999"}, "must be ADDRESS:PORT"),
        ({"listen": "0.0.0.0:9100", "anonymous_read": True}, "loopback"),
        ({"listen": "crawler.example:9100", "anonymous_read": True}, "loopback"),
    ],
)
def test_settings_that_cannot_hold(settings: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        check(Config(**settings))  # type: ignore[arg-type]
    check(Config(listen="[::1]:9100", anonymous_read=True))


def test_tokens_come_from_files_and_the_environment() -> None:
    config = Config(viewer_token_env="VIEW", operator_token_file="/does/not/exist")
    assert token(config, "viewer", {"VIEW": VIEWER}) == VIEWER
    assert token(Config(), "viewer", {}) == ""
    with pytest.raises(BadInput, match="at least 16"):
        token(config, "viewer", {})
    with pytest.raises(BadInput, match="cannot be read"):
        token(config, "operator", {})
    with pytest.raises(BadInput, match="exclude each other"):
        token(Config(viewer_token_env="A", viewer_token_file="b"), "viewer", {})


@pytest.mark.parametrize(
    ("listens", "told"),
    [
        ("http://127.0.0.1:9100/", "http://127.0.0.1:9100/"),
        ("http://crawler.example:9100/", "http://crawler.example:9100/"),
        ("http://0.0.0.0:9100/", "http://127.0.0.1:9100/"),
        ("http://[::]:9100/", "http://127.0.0.1:9100/"),
    ],
)
def test_any_address_is_told_as_the_one_that_reaches_the_others(listens: str, told: str) -> None:
    assert reachable(listens, "127.0.0.1:2181") == told


def test_without_a_way_to_the_others_the_address_stays() -> None:
    assert reachable("http://0.0.0.0:9100/", "nowhere.invalid:2181") == "http://0.0.0.0:9100/"
    assert reachable("http://0.0.0.0:9100/", "[::1") == "http://0.0.0.0:9100/"
