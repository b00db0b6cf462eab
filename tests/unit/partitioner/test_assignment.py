"""The assignment of partitions to members: balanced, stable, deterministic, with the fewest moves there can be."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.moves import fewest_moves, modulo, moves
from gregor.partitioner.assignment import assign

NAMES = st.text("abcdefgh", min_size=1, max_size=2)
WEIGHTS = st.dictionaries(NAMES, st.integers(1, 9), min_size=1, max_size=12)


@st.composite
def situations(draw: st.DrawFn) -> tuple[int, dict[str, int], dict[int, str]]:
    partitions = draw(st.integers(1, 64))
    weights = draw(WEIGHTS)
    owners = st.sampled_from([*weights, "gone"])
    previous = draw(st.dictionaries(st.integers(0, partitions + 3), owners))
    return partitions, weights, previous


@given(situations())
def test_every_partition_has_one_live_member_and_every_member_its_share(
    situation: tuple[int, dict[str, int], dict[int, str]],
) -> None:
    partitions, weights, previous = situation
    assignment = assign(partitions, weights, previous)
    assert assignment.keys() == set(range(partitions))
    for member, weight in weights.items():
        share = partitions * weight / sum(weights.values())
        assert abs(list(assignment.values()).count(member) - share) < 1


@given(situations())
def test_what_is_balanced_stays(situation: tuple[int, dict[str, int], dict[int, str]]) -> None:
    partitions, weights, previous = situation
    assignment = assign(partitions, weights, previous)
    assert assign(partitions, weights, assignment) == assignment


@given(situations(), st.randoms(use_true_random=False))
def test_the_order_of_the_arguments_changes_nothing(
    situation: tuple[int, dict[str, int], dict[int, str]], chance: random.Random
) -> None:
    partitions, weights, previous = situation
    members, owned = list(weights.items()), list(previous.items())
    chance.shuffle(members)
    chance.shuffle(owned)
    assert assign(partitions, dict(members), dict(owned)) == assign(partitions, weights, previous)


@given(situations())
def test_no_balanced_assignment_moves_fewer(situation: tuple[int, dict[str, int], dict[int, str]]) -> None:
    partitions, weights, previous = situation
    assert moves(previous, assign(partitions, weights, previous)) == _fewest_by_trial(partitions, weights, previous)


@given(situations())
def test_the_bound_is_reached_with_equal_weights(situation: tuple[int, dict[str, int], dict[int, str]]) -> None:
    partitions, weights, previous = situation
    equal = dict.fromkeys(weights, 1)
    assert moves(previous, assign(partitions, equal, previous)) == fewest_moves(partitions, equal, previous)
    assert moves(previous, assign(partitions, weights, previous)) >= fewest_moves(partitions, weights, previous)


@given(st.integers(1, 64), WEIGHTS, NAMES, st.integers(1, 9))
def test_a_leave_moves_what_was_the_leavers_and_a_return_takes_no_more_than_its_share(
    partitions: int, weights: dict[str, int], name: str, weight: int
) -> None:
    others = {member: 1 for member in weights if member != name}
    if not others:
        return
    everyone = others | {name: 1}
    before = assign(partitions, everyone, {})
    without = assign(partitions, others, before)
    leavers = list(before.values()).count(name)
    assert moves(before, without) == leavers
    assert moves(without, assign(partitions, everyone, without)) <= -(-partitions // len(everyone))


def test_nobody_owns_nothing() -> None:
    assert assign(8, {}, {0: "a"}) == {}


def test_moves_against_modulo() -> None:
    """256 partitions, from 1 worker to 16: what each join moves here, at least, and by modulo N."""
    members = ["w00"]
    current = assign(256, dict.fromkeys(members, 1), {})
    here = least = by_modulo = 0
    for number in range(1, 16):
        joined = [*members, f"w{number:02}"]
        weights = dict.fromkeys(joined, 1)
        following = assign(256, weights, current)
        here += moves(current, following)
        least += fewest_moves(256, weights, current)
        by_modulo += moves(modulo(256, members), modulo(256, joined))
        members, current = joined, following
    assert here == least
    assert here * 4 < by_modulo


def _fewest_by_trial(partitions: int, weights: dict[str, int], previous: dict[int, str]) -> int:
    """Try every choice of the members whose share is rounded up: what each can keep is then known."""
    whole = sum(weights.values())
    down = {member: partitions * weight // whole for member, weight in weights.items()}
    held = dict.fromkeys(weights, 0)
    for partition, member in previous.items():
        if partition < partitions and member in held:
            held[member] += 1
    rounded = [member for member, weight in weights.items() if partitions * weight % whole]
    left = partitions - sum(down.values())
    kept = max(
        sum(min(held[member], down[member] + (member in up)) for member in weights)
        for up in itertools.combinations(rounded, left)
    )
    return partitions - kept
