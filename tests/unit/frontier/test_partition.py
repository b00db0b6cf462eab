"""A partition in memory: which tickets an earlier owner may have begun, and how each owner stamps its writes."""

from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import PRIORITIES
from gregor.worker.frontier.calendar import Calendar
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.queue_item import FromBucket, FromChunk, FromLog, TicketSource
from tests.contract.world import ticket


def owned(epoch: int) -> Partition:
    lease: Any = SimpleNamespace(epoch=epoch, partition=0, taken_at=0.0, holds=lambda: True)
    return Partition(lease, dict.fromkeys(PRIORITIES, 0), dict.fromkeys(PRIORITIES, 10), Calendar(0, [], 1.0, 1))


@pytest.mark.parametrize(
    ("source", "inherited"),
    [(FromLog(2, 9), True), (FromLog(2, 10), False), (FromBucket(3), True), (FromChunk("a", 3), True)],
)
def test_what_was_there_at_the_takeover_may_have_been_begun(source: TicketSource, inherited: bool) -> None:
    assert owned(2).enter(ticket("a"), source).inherited is inherited
    assert not owned(1).enter(ticket("a"), source).inherited, "nobody came before"


def test_a_later_stamp_is_greater_and_a_later_epochs_always() -> None:
    first, second = owned(1), owned(2)
    stamps = [first.stamp() for _ in range(1000)]
    assert stamps == sorted(set(stamps))
    assert second.stamp() > stamps[-1]
