"""Which outcome a fetch result is: the set is closed, every status and every failure has one."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.shortage import LocalShortage
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Failure, FailureKind, Response
from gregor.worker.fetch.outcomes import (
    AddressRefused,
    Broken,
    CredentialsWanted,
    Failed,
    Fetched,
    Gone,
    LeaseOver,
    Outcome,
    Pushback,
    Redirected,
    Unchanged,
    in_the_end,
    of_failure,
    of_response,
    of_result,
)

HREF = "http://h/page"
NOW = 1_700_000_000.0
LONGEST = 3600.0


def response(status: int, truncated: Any = None, **headers: str) -> Response:
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    body = SpooledBody(cap=10)
    return Response(status, "", fields, "HTTP/1.1", body, None, b"", b"", "192.0.2.1", 0.1, 0.2, truncated)


def outcome(status: int, truncated: Any = None, **headers: str) -> Outcome:
    return of_result(response(status, truncated, **headers), HREF, NOW, LONGEST)


STATUSES: dict[type, tuple[int, ...]] = {
    Fetched: (200, 206, 299),
    Unchanged: (304,),
    Gone: (400, 403, 404, 410, 451),
    CredentialsWanted: (401, 407),
    Failed: (408, 425, 500, 502, 599),
    Pushback: (429, 503),
    Broken: (100, 199, 300, 302, 600, 999),
}


@pytest.mark.parametrize(("kind", "status"), [(kind, one) for kind, some in STATUSES.items() for one in some])
def test_every_class_of_status(kind: type, status: int) -> None:
    assert isinstance(outcome(status), kind)


@given(st.integers(100, 999), st.text(max_size=30), st.text(max_size=30))
def test_any_answer_has_an_outcome(status: int, location: str, after: str) -> None:
    found = of_response(response(status, Location=location, Retry_After=after), HREF, NOW, LONGEST)
    assert isinstance(found, get_args(Outcome))
    assert not isinstance(found, LeaseOver | AddressRefused)
    if isinstance(found, Pushback):
        assert found.after is None or 0.0 <= found.after <= LONGEST
        assert 0.0 <= found.at_least <= LONGEST
    if isinstance(found, Failed | Redirected):
        assert 0.0 <= found.after <= LONGEST
    if isinstance(found, Failed):
        assert not found.host, "a host that answers has not failed"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_needs_a_target(status: int) -> None:
    assert outcome(status, Location="../other#part") == Redirected(status, "http://h/other#part")
    assert isinstance(outcome(status), Broken)


def test_locations_that_contradict_each_other_lead_nowhere() -> None:
    answer = response(302, Location="/a")
    answer.headers.append(("location", "/a"))
    assert of_result(answer, HREF, NOW, LONGEST) == Redirected(302, "http://h/a")
    answer.headers.append(("location", "/b"))
    assert isinstance(of_result(answer, HREF, NOW, LONGEST), Broken)


@pytest.mark.parametrize(
    ("said", "after"),
    [("7", 7.0), ("86400", LONGEST), ("Tue, 14 Nov 2023 22:14:20 GMT", 60.0), ("soon", None), (None, None)],
)
def test_retry_after_is_capped_and_only_taken_when_valid(said: str | None, after: float | None) -> None:
    assert outcome(503, **({} if said is None else {"Retry_After": said})) == Pushback(503, after)


@pytest.mark.parametrize(
    ("said", "at_least"), [("2 s", 2.0), ("5.5", 5.5), ("3600.5", LONGEST), ("1 hour, 5", 3600.0), ("soon", 0.0)]
)
def test_a_retry_after_beside_the_standard_is_no_reason_to_come_sooner(said: str, at_least: float) -> None:
    assert outcome(503, Retry_After=said) == Pushback(503, None, at_least)


@pytest.mark.parametrize("said", ["7", "7 s", "Tue, 14 Nov 2023 22:13:27 GMT"])
def test_a_retry_after_holds_whatever_status_it_came_with(said: str) -> None:
    for status in (500, 502, 504, 408, 425, 599):
        assert outcome(status, Retry_After=said) == Failed("status", f"status {status}", status, after=7.0)
    for status in (301, 302, 303, 307, 308):
        assert outcome(status, Location="/x", Retry_After=said) == Redirected(status, "http://h/x", 7.0)
    assert outcome(404, Retry_After=said) == Gone(404)


def test_the_longest_of_several_retry_afters_holds() -> None:
    answer = response(500, Retry_After="5")
    answer.headers += [("retry-after", "30"), ("Retry-After", "soon")]
    assert of_result(answer, HREF, NOW, LONGEST) == Failed("status", "status 500", 500, after=30.0)


@pytest.mark.parametrize("cause", ["connect", "reset", "timeout"])
def test_what_was_never_sent_is_the_hosts_failure(cause: str) -> None:
    failed = Failed(cause, "why")
    assert in_the_end(failed, None, sent=False, last=False) == Failed(cause, "why", host=True)
    assert in_the_end(failed, None, sent=True, last=False) == failed


def test_a_body_that_ended_early_is_tried_again() -> None:
    assert outcome(200, "cut") == Failed("cut", "the connection ended before the whole body came", 200)
    assert isinstance(outcome(200, "size"), Fetched)


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_every_failure_has_an_outcome(kind: FailureKind) -> None:
    if kind == "local":
        with pytest.raises(LocalShortage, match="why"):  # it is no outcome of a URL
            of_failure(Failure(kind, "why"))
        return
    found = of_failure(Failure(kind, "why"))
    match kind:
        case "downgrade":
            assert found == Broken("protocol", "why"), "it has one more turn"
        case "lease":
            assert found == LeaseOver()
        case "refused_address":
            assert found == AddressRefused("why")
        case "too_large_headers" | "request" | "protocol" | "decode":
            assert found == Broken(kind, "why")
        case "legacy_tls":
            assert found == Failed(kind, "why; legacy_tls allows it", host=True)
        case "connect" | "proxy" | "tls" | "timeout":
            assert found == Failed(kind, "why", host=True)
        case "cut" | "elsewhere":
            assert found == Failed(kind, "why"), "other pages of the host may well be had"
