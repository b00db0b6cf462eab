"""The audit: every kind of impolite request is found, and nothing else."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import Attempt, Row
from gregor.schemas.parts import RequestStart, RobotsCopy
from gregor.worker.inspect.audit import (
    LISTED,
    MARGINS,
    AddressAudit,
    AuditedRequest,
    Findings,
    HostAudit,
    requests_of,
    untold,
)

HOST, AGENT = "a.example", "gregor/1.0 (+https://us.example/)"
ORIGIN = f"http://{HOST}"
COPIES = {
    ORIGIN: (
        RobotsCopy(100.0, 200.0, b"User-agent: *\nDisallow: /old", AGENT),
        RobotsCopy(300.0, 300.0, None, AGENT),
        RobotsCopy(400.0, 900.0, b"User-agent: gregor\nDisallow: /new\nUser-agent: *\nDisallow: /", AGENT),
    )
}


def page(
    at: float, path: str = "/", rules: float = 400.0, delay: float = 1.0, page_delay: float = 1.0
) -> AuditedRequest:
    return AuditedRequest(HOST, ORIGIN + path, "worker", RequestStart(at, delay, page_delay, rules))


def robots(at: float, delay: float = 1.0) -> AuditedRequest:
    return AuditedRequest(HOST, "", "worker", RequestStart(at, delay, robots=True))


def judged(*requests: AuditedRequest) -> HostAudit:
    found = HostAudit(AGENT)
    for request in requests:
        found.add(request, COPIES)
    return found


def kinds(*requests: AuditedRequest) -> list[str]:
    return [one.kind for one in judged(*requests).listed]


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        (page(450.0, "/x"), None),
        (page(450.0, "/new/x"), "disallowed"),
        (page(450.0, "/old", rules=150.0), "disallowed"),
        (page(450.0, "/new", rules=150.0), None),
        (page(450.0, "/x", rules=300.0), "disallowed"),
        (page(450.0, "/x", rules=0.0), "unread"),
        (page(400.0 + 90_000.0, "/x"), "stale"),
        (robots(450.0), None),
    ],
)
def test_a_request_is_judged_by_the_robots_txt_that_it_knew(request_: AuditedRequest, kind: str | None) -> None:
    assert kinds(request_) == ([kind] if kind else [])


def test_a_copy_that_is_not_kept_is_counted() -> None:
    found = judged(page(450.0, "/new", rules=250.0))
    assert (found.unkept, found.listed) == (1, [])


@pytest.mark.parametrize(
    ("requests", "near"),
    [
        ([page(500.0), page(501.0)], 0),
        ([page(500.0), page(500.9)], 1),
        ([robots(500.0), page(500.9)], 1),
        ([page(500.0), robots(500.9)], 1),
        ([page(500.0, page_delay=9.0), robots(501.0), page(502.0, page_delay=9.0)], 1),
        ([page(500.0, page_delay=9.0), robots(501.0), page(509.0, page_delay=9.0)], 0),
        ([page(500.0, page_delay=9.0), page(501.0, page_delay=9.0)], 1),
        ([page(500.0, delay=0.0, page_delay=0.0), page(500.0, "/x", delay=0.0, page_delay=0.0)], 0),
    ],
)
def test_requests_are_as_far_apart_as_their_delays(requests: list[AuditedRequest], near: int) -> None:
    assert kinds(*requests) == ["too near"] * near


def test_a_request_that_two_rows_tell_of_is_one() -> None:
    assert judged(page(500.0), page(500.0)).requests == 1
    assert judged(page(500.0), page(500.0, "/x")).violations["too near"] == 1


def test_clocks_of_two_workers_may_be_apart() -> None:
    def other(at: float) -> AuditedRequest:
        return AuditedRequest(HOST, f"{ORIGIN}/", "another", RequestStart(at, 1.0, 1.0, 400.0))

    assert kinds(page(500.0), other(500.6)) == []
    assert kinds(page(500.0), other(500.4)) == ["too near"]


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=20))
def test_the_smallest_margin_is_told(gaps: list[float]) -> None:
    at, requests = 500.0, [page(500.0)]
    for number, gap in enumerate(gaps):
        at += gap
        requests.append(page(at, f"/{number}"))
    found = judged(*requests)
    starts = [request.asked.at for request in requests]
    least = min(after - before for before, after in pairwise(starts))
    assert found.margin is not None
    assert math.isclose(found.margin.share, least, abs_tol=1e-9)
    assert found.violations["too near"] == sum(after - before < 0.999 for before, after in pairwise(starts))


def test_what_is_listed_is_bounded_and_all_is_counted() -> None:
    findings = Findings()
    for _ in range(MARGINS + 5):
        findings.add(judged(*(page(500.0 + number / 1000) for number in range(LISTED))))
    assert len(findings.listed) == LISTED
    assert findings.violations.total() == (MARGINS + 5) * (LISTED - 1)
    assert len(findings.margins) == MARGINS
    assert findings.requests == (MARGINS + 5) * LISTED


def test_a_row_tells_what_was_asked_and_what_it_does_not_know() -> None:
    sent = (
        RequestStart(1.0, 1.0, robots=True),
        RequestStart(2.0, 1.0, 1.0, 1.0),
        RequestStart(3.0, 1.0, 1.0, 1.0, f"{ORIGIN}/B"),
    )
    attempts = (Attempt(4.0, "fetched", 200, asked=sent), Attempt(5.0, "fetched", 200), Attempt(6.0, "denied"))
    row = Row(f"{ORIGIN}/b", f"{ORIGIN}/B", HOST, 5, "fetched", "fetched", attempts=attempts)
    assert [request.href for request in requests_of(row)] == ["", f"{ORIGIN}/b", f"{ORIGIN}/B"]
    assert untold(row) == 1 + 2


def at_address(host: str, at: float, *, owner: str = "worker", delay: float = 2.0) -> AuditedRequest:
    asked = RequestStart(at, 0.1, 0.1, 400.0, addresses=("192.0.2.1",), address_delay=delay)
    return AuditedRequest(host, f"http://{host}/", owner, asked)


@pytest.mark.parametrize(
    ("second", "is_crowded"),
    [
        (at_address("b.test", 1002.0), False),
        (at_address("b.test", 1001.9), True),
        (at_address("a.test", 1001.0), True),
        (at_address("b.test", 1001.9, owner="another"), False),  # as far as clocks may be apart
        (at_address("b.test", 1001.0, owner="another"), True),
        (at_address("b.test", 1001.0, delay=0.5), False),  # what held for it then
    ],
)
def test_hosts_at_one_address_are_judged_as_one_server(second: AuditedRequest, is_crowded: bool) -> None:
    audit = AddressAudit("192.0.2.1")
    first = at_address("a.test", 1000.0)
    for request in (first, first, second, second):
        audit.add(request)
    findings = Findings()
    findings.add_address(audit)
    assert findings.violations == ({"crowded": 1} if is_crowded else {})
    assert findings.addresses == (second.host != "a.test")
