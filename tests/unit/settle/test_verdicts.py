"""What follows from an outcome: one state, the next ticket exactly when one is due, and an end to every retry."""

import random
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import TERMINAL, Link, Page, Row, State, Ticket, TicketKind, url_fingerprint
from gregor.worker.fetch.outcomes import (
    AddressRefused,
    Broken,
    CredentialsWanted,
    Denied,
    Failed,
    Gone,
    Outcome,
    Pushback,
    Redirected,
    Unchanged,
)
from gregor.worker.frontier.tickets import is_stale
from gregor.worker.politeness.host_records import OriginFailed
from gregor.worker.read.fingerprints import simhash_and_sketch
from gregor.worker.settle.change_rate import ChangeRate
from gregor.worker.settle.revisits import Revisits
from gregor.worker.settle.rows import settled_row
from gregor.worker.settle.verdicts import GIVEN_UP, Policy, conclude, turn_result
from gregor.worker.settle.visited import Visited
from gregor.worker.web.urls import Urls

NOW = 1_700_000_000.0
TICKET = Ticket("http://h/", "http://h/", "h")

KINDS = st.sampled_from(["new", "retry", "revisit"])
VISITS = st.integers(0, 6)
STATES = st.sampled_from(get_args(State))
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Failed, st.just("status"), st.just("why"), st.just(500), st.booleans()),
    st.builds(Pushback, st.sampled_from([429, 503]), st.none() | st.floats(0.0, 3600.0)),
    st.builds(Gone, st.just(404)),
    st.builds(Redirected, st.just(301), st.just("http://h/x")),
    st.builds(Denied, st.just("robots.txt line 2")),
    st.builds(AddressRefused, st.just("10.0.0.1")),
    st.builds(Broken, st.just("decode"), st.just("why"), st.just(200)),
    st.just(Unchanged()),
    st.builds(CredentialsWanted, st.sampled_from([401, 407])),
)
POLICIES = st.builds(
    Policy,
    retries=st.integers(0, 5),
    pause=st.floats(0.1, 60.0),
    longest=st.floats(60.0, 3600.0),
    revisits=st.none() | st.floats(1.0, 86400.0).map(lambda first: Revisits(first, first / 8, first * 64)),
    jitter=st.floats(0.0, 1.0),
)


def held(state: State) -> Page:
    """A stored version that a request can ask about."""
    return Page("http://h/", "http://h/", "h", 1, "new", 200, NOW, state=state, etag="1")


def row(visits: int, state: State = "waiting", **fields: float) -> Row:
    return Row("http://h/", "http://h/", "h", visits, state, "", **fields)  # type: ignore[arg-type]


@given(visit=VISITS, kind=KINDS, visits=VISITS, state=STATES)
def test_a_ticket_is_stale_as_the_protocol_says(visit: int, kind: TicketKind, visits: int, state: State) -> None:
    ticket = msgspec.structs.replace(TICKET, visit=visit, kind=kind)
    done_before = visit < visits
    settled = visit == visits and state in TERMINAL and kind != "revisit"
    assert is_stale(ticket, row(visits, state)) == (done_before or settled)
    assert not is_stale(ticket, None), "no row means no visit"


@given(OUTCOMES, KINDS, VISITS, st.integers(0, 8), POLICIES, st.integers(1, 9), st.integers())
def test_every_outcome_has_one_state_and_at_most_one_next_ticket(
    outcome: Outcome, kind: TicketKind, visit: int, attempts: int, policy: Policy, pushbacks: int, seed: int
) -> None:
    ticket = msgspec.structs.replace(TICKET, kind=kind, visit=visit, attempts=attempts)
    known = row(visit, "fetched") if kind == "revisit" else None
    verdict = conclude(Visited(ticket, known, outcome), policy, pushbacks, NOW, random.Random(seed))
    again = verdict.next
    if verdict.state == "waiting":
        assert again is not None
        assert again.kind == "retry"
        assert again.attempts == attempts + 1 <= policy.retries
    else:
        assert again is None or again.kind == "revisit"
    if again is not None:
        assert (again.visit, again.key, again.href) == (visit + 1, ticket.key, ticket.href)
        assert verdict.due >= NOW
        assert not is_stale(again, row(visit + 1, verdict.state)), "its own row must not make it stale"
    if isinstance(outcome, Failed | Pushback):
        assert verdict.state == ("waiting" if attempts < policy.retries else "dead")
    assert (verdict.state == "dead") <= bool(verdict.cause), "a dead letter names its cause"
    assert verdict.host_failed == (isinstance(outcome, Failed) and outcome.host)
    assert (verdict.pause > 0.0) <= isinstance(outcome, Pushback), "only a host that asks for it is left alone"


@pytest.mark.parametrize(
    ("cause", "used", "silent"),
    [("timeout", True, True), ("timeout", False, False), ("connect", False, False), ("tls", True, False)],
)
def test_a_request_that_is_not_answered_is_told_from_a_connection_that_fails(
    cause: str, used: bool, silent: bool
) -> None:
    policy = Policy(retries=3, pause=10.0, longest=300.0, revisits=None, jitter=0.0)
    visited = Visited(TICKET, None, Failed(cause, "no answer", host=True))
    result = turn_result(visited, conclude(visited, policy, 0, NOW, random.Random(0)), used)
    assert isinstance(result, OriginFailed)
    assert result.silent == (url_fingerprint(TICKET.key) if silent else 0)


def test_what_wants_credentials_is_not_gone() -> None:
    policy = Policy(retries=3, pause=10.0, longest=300.0, revisits=None, jitter=0.0)
    verdict = conclude(Visited(TICKET, None, CredentialsWanted(401)), policy, 0, NOW, random.Random(1))
    assert (verdict.state, verdict.status, verdict.cause) == ("refused", 401, "credentials")
    assert verdict.state in GIVEN_UP, "its letter can be retried with credentials"
    assert "username_env" in verdict.rule


@given(POLICIES, st.integers())
def test_retries_end(policy: Policy, seed: int) -> None:
    chance, ticket = random.Random(seed), TICKET
    for _ in range(policy.retries):
        verdict = conclude(Visited(ticket, None, Failed("timeout", "why", host=True)), policy, 0, NOW, chance)
        assert verdict.next is not None
        ticket = verdict.next
    assert conclude(Visited(ticket, None, Failed("timeout", "why")), policy, 0, NOW, chance).state == "dead"


@pytest.mark.parametrize(("after", "pushbacks", "pause"), [(120.0, 1, 120.0), (None, 1, 10.0), (None, 3, 40.0)])
def test_a_pushback_pauses_host_and_url_alike(after: float | None, pushbacks: int, pause: float) -> None:
    policy = Policy(retries=3, pause=10.0, longest=300.0, revisits=None, jitter=0.0)
    verdict = conclude(Visited(TICKET, None, Pushback(429, after)), policy, pushbacks, NOW, random.Random(1))
    assert (verdict.pause, verdict.due) == (pause, NOW + pause)


@pytest.mark.parametrize(("after", "pause"), [(0.0, 10.0), (4.0, 10.0), (500.0, 500.0)])
def test_a_url_that_failed_is_tried_no_sooner_than_its_host_asked_for(after: float, pause: float) -> None:
    policy = Policy(retries=3, pause=10.0, longest=300.0, revisits=None, jitter=0.0)
    failed = Failed("status", "status 500", 500, after=after)
    verdict = conclude(Visited(TICKET, None, failed), policy, 0, NOW, random.Random(1))
    assert (verdict.pause, verdict.due) == (after, NOW + pause)


@pytest.mark.parametrize(("hops", "state"), [(0, "waiting"), (4, "waiting"), (5, "dead")])
def test_a_url_that_redirects_to_its_other_spelling_is_followed_for_so_many_hops(hops: int, state: State) -> None:
    policy = Policy(retries=3, pause=10.0, longest=300.0, revisits=None, jitter=0.0, max_redirects=5)
    ticket, url = msgspec.structs.replace(TICKET, hops=hops), Urls().parse("http://h/")
    spelt = Link("http://h/?", "redirect", key="http://h/")
    visited = Visited(ticket, None, Redirected(301, "http://h/?"), url, redirect=spelt)
    verdict = conclude(visited, policy, 0, NOW, random.Random(1))
    assert (verdict.state, verdict.next and verdict.next.hops) == (state, hops + 1 if state == "waiting" else None)
    assert verdict.next is None or (verdict.next.href, verdict.next.visit) == ("http://h/?", ticket.visit + 1)


def test_what_differs_in_noise_alone_is_no_change() -> None:
    story = " ".join(f"word{number * number} of the story" for number in range(200))
    ticket = msgspec.structs.replace(TICKET, kind="revisit", visit=1)

    def rate(text: str) -> float:
        """What is expected after a revisit that found this text."""
        policy = Policy(retries=3, pause=1.0, longest=60.0, revisits=Revisits(800.0, 100.0, 51200.0), jitter=0.0)
        texts = f"{story} It is 6 degrees at 11:02.", text
        stored, page = (msgspec.structs.replace(held("fetched"), simhash=simhash_and_sketch(text)[0]) for text in texts)
        stored.fingerprint, page.fingerprint = b"1", b"2"
        verdict = conclude(
            Visited(ticket, row(1, page=1, first_seen=NOW - 800.0), None, page=page, stored=stored),
            policy,
            0,
            NOW,
            random.Random(1),
        )
        assert not verdict.same, "it is another version all the same"
        known = ChangeRate.read(verdict.rate)
        assert known is not None
        return known.mean

    assert rate(f"{story} It is 7 degrees at 12:31.") < rate("Nothing of what was said there holds any more. " * 9)


@pytest.mark.parametrize(("bits", "noise"), [(0, True), (0b111, True), (0b1111, False)])
def test_a_few_bits_of_the_simhash_are_noise(bits: int, noise: bool) -> None:
    stored, page = (msgspec.structs.replace(held("fetched"), simhash=0xF0F0 ^ flipped) for flipped in (0, bits))
    assert Visited(TICKET, None, None, page=page, stored=stored).only_noise is noise


@pytest.mark.parametrize(
    "revisits", [None, Revisits(800.0, 100.0, 51200.0), Revisits(800.0, 100.0, 51200.0, stale_after=799.0)]
)
@pytest.mark.parametrize("page", [0, 3])
def test_a_page_that_is_gone_is_looked_for_again_where_pages_are_visited_again(
    revisits: Revisits | None, page: int
) -> None:
    policy = Policy(retries=3, pause=1.0, longest=60.0, revisits=revisits, jitter=0.0)
    ticket = msgspec.structs.replace(TICKET, kind="revisit", visit=4)
    known = msgspec.structs.replace(row(4), page=page)
    visited = Visited(ticket, known, Gone(410))
    verdict = conclude(visited, policy, 0, NOW, random.Random(1))
    assert verdict.state == "gone"
    kept_until_then = revisits is not None and revisits.stale_after > 800.0
    assert (verdict.next is not None) == (kept_until_then and page > 0)
    after = settled_row(visited, verdict, NOW, "w")
    assert after.gone_since == NOW
    assert settled_row(Visited(ticket, after, Gone(410)), verdict, NOW + 9.0, "w").gone_since == NOW


@pytest.mark.parametrize("known", ["fetched", "duplicate", "gone", "dead"])
@pytest.mark.parametrize("state", ["fetched", "duplicate"])
def test_unchanged_is_what_the_stored_version_was_whatever_came_between(known: State, state: State) -> None:
    policy = Policy(retries=3, pause=1.0, longest=60.0, revisits=None, jitter=0.0)
    visited = Visited(TICKET, row(1, known), Unchanged(), stored=held(state))
    verdict = conclude(visited, policy, 0, NOW, random.Random(1))
    assert (verdict.state, verdict.cause) == (state, "")


@pytest.mark.parametrize("outcome", [None, Unchanged()])
def test_a_page_that_is_visited_again_gets_a_revisit_of_the_next_number(outcome: Outcome | None) -> None:
    policy = Policy(retries=3, pause=1.0, longest=60.0, revisits=Revisits(800.0, 100.0, 51200.0), jitter=0.0)
    ticket = msgspec.structs.replace(TICKET, visit=4, kind="retry", attempts=2)
    page = held("fetched")
    visited = Visited(ticket, row(4), outcome, page=page if outcome is None else None, stored=page)
    verdict = conclude(visited, policy, 0, NOW, random.Random(1))
    assert verdict.next is not None
    assert (verdict.next.kind, verdict.next.visit, verdict.next.attempts) == ("revisit", 5, 0)
    assert verdict.due > NOW
    assert not is_stale(verdict.next, row(5, verdict.state)), "though its URL is settled and seen"


def test_unchanged_without_a_condition_is_no_answer() -> None:
    policy = Policy(retries=3, pause=1.0, longest=60.0, revisits=None, jitter=0.0)
    verdict = conclude(Visited(TICKET, None, Unchanged()), policy, 0, NOW, random.Random(1))
    assert (verdict.state, verdict.status, verdict.cause) == ("dead", 304, "status")
