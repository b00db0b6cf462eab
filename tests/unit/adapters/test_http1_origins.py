"""Which origins are asked in HTTP/1.1 although they offer HTTP/2, and for how long."""

import pytest

from gregor.worker.adapters.transport import http1_origins
from gregor.worker.adapters.transport.http1_origins import RESETS, WHILE, Http1Origins
from gregor.worker.borders.transport import Failure, Response
from tests.memory_transport import MemoryTransport, Scripted
from tests.unit.adapters.test_memory_transports import fetch

A, B = "https://a.test", "https://b.test"
WANTS, CUT = Failure("downgrade", ""), Failure("cut", "")


def answer() -> Response:
    response = fetch(MemoryTransport({"http://a.test/": Scripted(200)}), "http://a.test/")
    assert isinstance(response, Response)
    return response


def test_who_wants_http_1_gets_it_for_a_while() -> None:
    origins = Http1Origins()
    origins.note(A, WANTS, 10.0, reset=False)
    assert origins.holds(A, 10.0 + WHILE - 1)
    assert not origins.holds(A, 10.0 + WHILE)
    assert not origins.holds(B, 10.0)


def test_one_reset_is_an_accident_and_resets_in_a_row_are_not() -> None:
    origins = Http1Origins()
    for _ in range(5):
        origins.note(A, CUT, 0.0, reset=True)
        assert not origins.holds(A, 0.0)
        origins.note(A, answer(), 0.0, reset=False)
    for _ in range(RESETS):
        origins.note(A, CUT, 0.0, reset=True)
    assert origins.holds(A, 0.0)
    assert not origins.holds(A, WHILE)


def test_other_failures_say_nothing() -> None:
    origins = Http1Origins()
    for _ in range(9):
        origins.note(A, CUT, 0.0, reset=False)
    assert not origins.holds(A, 0.0)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1_origins, "REMEMBERED", 2)
    origins = Http1Origins()
    for name in "abc":
        origins.note(name, WANTS, 0.0, reset=False)
    assert [origins.holds(name, 0.0) for name in "abc"] == [False, True, True]
