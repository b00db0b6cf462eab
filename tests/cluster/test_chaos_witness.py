"""The witness of a round finds what it looks for: a made-up log with one fault each."""

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.partitioner.hashing import partition_of
from tests.cluster.chaos import witness
from tests.cluster.chaos.faults import KINDS, Faults, kinds
from tests.cluster.chaos.server import Asked
from tests.cluster.chaos.web import Host, Web, make

HOST = "h000.chaos.example"
WEB = Web(
    hosts={HOST: Host(HOST, 4, 1.0)},
    links={f"http://{HOST}/": [f"http://{HOST}/p1", f"http://{HOST}/p2"]},
    busy={f"http://{HOST}/p3"},
)
PARTITION = partition_of(HOST, 24)


def asked(at: float, path: str, worker: str = "w1", status: int = 200, lag: float = 0.0) -> Asked:
    return Asked(at, HOST, path, f"gregor/0 (+http://chaos.example/; {worker})", status, lag)


GOOD = [asked(0.0, "/robots.txt"), asked(0.5, "/"), asked(1.5, "/p1"), asked(2.5, "/p3", status=503), asked(3.6, "/p3")]


def test_a_polite_crawl_is_found_polite() -> None:
    assert witness.impolite(WEB, GOOD, 0.5) == []
    assert witness.extra(WEB, GOOD, {}) == []
    assert witness.two_owners(GOOD, 24, 2.0) == []


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ([asked(0.0, "/robots.txt"), asked(0.3, "/")], "after the request before"),
        ([*GOOD[:2], asked(1.1, "/p1")], "after the page before"),
        ([asked(0.0, "/")], "before robots.txt"),
        ([*GOOD[:2], asked(1.5, "/private/1")], "is disallowed"),
        ([*GOOD[:2], asked(1.5, "/p3", status=503), asked(2.1, "/robots.txt")], "Retry-After"),
    ],
)
def test_impoliteness_is_found(log: Sequence[Asked], says: str) -> None:
    (violation,) = witness.impolite(WEB, log, 0.5)
    assert says in violation


def test_a_late_witness_does_not_accuse() -> None:
    assert witness.impolite(WEB, [asked(0.0, "/robots.txt"), asked(0.3, "/", lag=0.2)], 0.5) == []


def test_a_page_asked_for_again_needs_a_misfortune_of_who_asked_first() -> None:
    log = [*GOOD, asked(6.0, "/p1", "w2")]
    assert len(witness.extra(WEB, log, {"w2": [2.0]})) == 1
    assert len(witness.extra(WEB, log, {"w1": [-witness.LEASE_ENDS]})) == 1
    assert len(witness.extra(WEB, log, {"w1": [2.0 + witness.IN_FLIGHT]})) == 1
    assert witness.extra(WEB, log, {"w1": [2.0]}) == []
    assert witness.extra(WEB, log, {"w1": [0.5]}) == []


def test_what_was_under_way_waited_for_a_server_that_was_away() -> None:
    again = [*GOOD[:2], asked(40.0, "/", "w2")]
    hurt = {"w1": [30.5]}
    assert witness.extra(WEB, again, hurt) != []
    assert witness.extra(WEB, again, hurt, [(20.0, 35.0), (5.0, 15.0)]) == []
    assert witness.extra(WEB, again, hurt, [(5.0, 15.0), (8.0, 14.0)]) != []
    assert witness.extra(WEB, again, {}, [(0.0, 40.0)]) != []


def test_workers_that_take_turns_in_a_partition_are_two_owners() -> None:
    log = [asked(0.0, "/robots.txt"), asked(0.5, "/", "w2"), asked(1.5, "/p1")]
    assert len(witness.two_owners(log, 24, 2.0)) == 1
    assert witness.two_owners([*log[:2], asked(6.0, "/p1")], 24, 2.0) == []


def test_a_hand_over_is_timed_and_judged_unless_something_else_was_wrong() -> None:
    log = [*GOOD[:2], asked(11.0, "/p1", "w2")]
    expected = witness.Handover(3.0, PARTITION, 8.0, 7.5, judged=True)
    assert witness.handovers(WEB, log, [(3.0, "w1")], [], 24, 6.5) == [expected]
    (excused,) = witness.handovers(WEB, log, [(3.0, "w1")], [(9.0, 12.0)], 24, 6.5)
    assert not excused.judged


def test_a_hand_over_is_seen_when_nobody_asked_just_before() -> None:
    """A server was away, as it is in many a round: it is a hand-over all the same, and not judged."""
    log = [*GOOD[:2], asked(31.0, "/p1", "w2")]
    (late,) = witness.handovers(WEB, log, [(0.5 + witness.OWNED + 20.0, "w1")], [], 24, 6.5)
    assert (late.partition, late.judged) == (PARTITION, False)


def test_a_request_of_the_victim_that_the_witness_saw_late_is_nobody_elses() -> None:
    log = [*GOOD[:2], asked(3.1, "/p1", lag=0.2), asked(11.0, "/p2", "w2")]
    (found,) = witness.handovers(WEB, log, [(3.0, "w1")], [], 24, 6.5)
    assert found.seconds == 8.0


def test_a_round_that_saw_no_hand_over_says_so_when_workers_were_killed() -> None:
    kills = [(3.0, "w1"), (9.0, "w2")]
    (violation,) = witness.unseen(kills, witness.handovers(WEB, GOOD, kills, [], 24, 6.5))
    assert "w1 and w2" in violation
    assert not witness.unseen([], [])
    assert not witness.unseen(kills, [witness.Handover(3.0, PARTITION, 8.0, 7.5, judged=False)])


def test_only_who_is_at_work_is_killed() -> None:
    killed: list[str] = []
    workers = [SimpleNamespace(name=name, leaving=False, away=False, ended=1.0) for name in ("w1", "w2", "w3")]
    crew: Any = SimpleNamespace(alive=workers, start=None, kill=lambda worker: killed.append(worker.name))
    at_work: set[str] = set()
    faults = Faults(crew, {}, random.Random(1), askers=lambda: at_work)
    faults.strike("kill")
    assert not faults.done
    at_work.add("w2")
    faults.strike("kill")
    assert [kind for _, kind in faults.done] == ["kill"]
    assert killed == ["w2"]


def test_a_partition_without_a_url_due_is_no_hand_over() -> None:
    log = [*GOOD[:2], asked(1.5, "/p1"), asked(2.5, "/p2"), asked(30.0, "/p9", "w2")]
    assert witness.handovers(WEB, log, [(3.0, "w1")], [], 24, 6.5) == []


def test_every_kind_of_fault_comes_before_any_comes_again() -> None:
    found = kinds(random.Random(1), KINDS, 2 * len(KINDS))
    assert set(found[: len(KINDS)]) == set(found[len(KINDS) :]) == set(KINDS)


def test_the_same_seed_makes_the_same_web() -> None:
    assert make(3, 5, 50) == make(3, 5, 50) != make(4, 5, 50)


def test_a_crawl_that_stood_still_while_a_node_was_away_is_found() -> None:
    assert witness.silent(GOOD, [(0.6, 1.4, "kafka")], 0.5) != []
    assert witness.silent(GOOD, [(0.6, 1.6, "kafka")], 0.5) == []
    assert witness.silent(GOOD, [(3.0, 9.0, "kafka")], 5.0) == [], "it had ended"
