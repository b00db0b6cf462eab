"""What is learnt of a host is kept, in few octets, and gone on from; what is damaged is learnt anew."""

import msgspec
import pytest

from gregor.schemas.messages import Ticket, encode
from gregor.schemas.parts import LearntShape, LearntShapes
from gregor.worker.links.known_host import KEPT_SHAPES
from gregor.worker.links.rank import Rank
from gregor.worker.links.traps import Traps
from gregor.worker.web.urls import Url, Urls

URLS = Urls()


def url(text: str) -> Url:
    parsed = URLS.parse(text)
    assert parsed is not None
    return parsed


def month(traps: Traps, number: int, text: str = "No events.") -> bytes | None:
    """Learns a month of a calendar; what the record of its host should hold then, if something new."""
    before = f"http://a.test/cal?m={number - 1}"
    traps.learn(url(f"http://a.test/cal?m={number}"), text=f"{text} {number}", via=before)
    return traps.changes("a.test")


def rank_of(traps: Traps) -> Rank:
    key = "http://a.test/cal?m=99"
    return traps.judge(Ticket(key, key, "a.test", depth=9, via="http://a.test/cal?m=98", link="a")).rank


def test_a_record_changes_when_a_shape_is_spent_and_when_it_opens_again() -> None:
    traps = Traps()
    changes = [number for number in range(60) if month(traps, number) is not None]
    assert 1 <= len(changes) <= 3, "rarely"
    assert rank_of(traps) is Rank.REFUSED
    assert month(traps, 60, "A concert!") is not None
    assert rank_of(traps) is Rank.SUNK


def test_a_later_owner_goes_on_and_something_new_opens_what_was_spent() -> None:
    first, later = Traps(), Traps()
    learnt = next(learnt for number in range(60) if (learnt := month(first, number)) is not None)
    later.recall("a.test", learnt)
    assert rank_of(later) is Rank.SPENT
    for number in range(60, 70):
        month(later, number)
    assert rank_of(later) is Rank.REFUSED
    month(later, 70, "A concert!")
    assert rank_of(later) is Rank.SUNK
    later.recall("a.test", learnt)
    assert rank_of(later) is Rank.SUNK, "what is known is newer"


def test_few_octets_are_kept() -> None:
    traps = Traps()
    sizes = []
    for shape in range(100):
        for number in range(40):
            path = f"{'x' * 150}{shape}/{'y' * 60}"
            page, via = (f"http://a.test/{path}?m={each}" for each in (number, number - 1))
            traps.learn(url(page), text=f"same {number}", via=via)
            sizes.append(len(traps.changes("a.test") or b""))
    assert 0 < max(sizes) <= 10_000


@pytest.mark.parametrize(
    "damaged",
    [
        b"x",
        encode(LearntShapes(1, 1, ()))[:-1],
        encode(LearntShapes(1, 1, (LearntShape("/N", 240, 9, 9, 9, 9, True, full=(-1,)),))),
        encode(Ticket("a", "b", "c")),
    ],
)
def test_what_is_damaged_is_told_and_changes_nothing(damaged: bytes) -> None:
    traps = Traps()
    with pytest.raises((msgspec.MsgspecError, OverflowError)):
        traps.recall("a.test", damaged)
    assert len(traps) == 0
    assert rank_of(traps) < Rank.SPENT


def test_more_shapes_than_are_kept_are_left_out() -> None:
    shapes = tuple(LearntShape(f"/{number}N", 240, 9, 9, 9, 0, True) for number in range(1000))
    traps = Traps()
    traps.recall("a.test", encode(LearntShapes(0, 0, shapes)))
    assert len(traps) == 1 + KEPT_SHAPES
