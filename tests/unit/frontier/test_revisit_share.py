"""Visits of known pages have their share of the requests while new pages wait, and all where none does."""

from functools import partial

import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.frontier.back_queue import BackQueue, open_to_all
from gregor.worker.frontier.queue_item import FromBucket, FromLog, QueueItem
from gregor.worker.frontier.revisit_share import MOST_SAVED, QUIET, STUCK, RevisitShare, VisitsAgain, WaitingPages


class Hosts:
    """Hosts whose turns are taken in a row, a second apart, as the politeness of each has them."""

    def __init__(self, share: float) -> None:
        self.now = 0.0
        self.share = RevisitShare(share, lambda: self.now)
        self.pages = WaitingPages(self.share)
        self.asked: list[str] = []

    def host(self, *, again: int = 0, new: int = 0) -> BackQueue:
        queue = BackQueue(open_to_all, None, VisitsAgain(self.pages))
        for number in range(again + new):
            known = number < again
            ticket = Ticket(
                href="", key=f"http://h.example/{number}", host="h.example", kind="revisit" if known else "new"
            )
            queue.put(QueueItem(ticket, FromBucket(1) if known else FromLog(1, number), False, again=known))
        return queue

    def turn(self, queue: BackQueue) -> bool:
        """Whether a turn of a host came to a request."""
        item = queue.take()
        if item is None:
            return False
        assert queue.again is not None
        if queue.again.holds():
            queue.put_back(item)
            return False
        queue.again.asked()
        self.asked.append(item.ticket.kind)
        return True


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("apart", [False, True], ids=["of one host", "of two hosts"])
def test_they_take_no_more_than_their_share_and_all_of_it(share: float, apart: bool) -> None:
    hosts = Hosts(share)
    queues = [hosts.host(again=2000), hosts.host(new=2000)] if apart else [hosts.host(again=2000, new=2000)]
    while len(hosts.asked) < 1000:
        hosts.now += 1.0
        for queue in queues:
            hosts.turn(queue)
    again = hosts.asked.count("revisit")
    most = share if not apart or share <= 0.5 else 0.5  # a host has one turn a second
    assert abs(again - most * 1000) <= max(MOST_SAVED, 10 * share)


def test_where_no_new_page_waits_all_is_theirs() -> None:
    hosts = Hosts(0.0)
    queue = hosts.host(again=10)
    hosts.now = QUIET
    assert all(hosts.turn(queue) for _ in range(10))


def test_what_is_not_used_is_not_saved_up() -> None:
    hosts = Hosts(0.5)
    fresh, known = hosts.host(new=1000), hosts.host()
    for _ in range(500):
        hosts.turn(fresh)
    known = hosts.host(again=100)
    assert sum(hosts.turn(known) for _ in range(100)) == MOST_SAVED


def test_new_pages_that_cannot_be_asked_for_hold_nothing_up_for_long() -> None:
    hosts = Hosts(0.1)
    hosts.host(new=1)
    known = hosts.host(again=3)
    hosts.now = STUCK - 1
    assert not hosts.turn(known)
    hosts.now = STUCK
    assert hosts.turn(known)


def test_a_partition_that_is_given_up_has_no_new_pages() -> None:
    hosts = Hosts(0.1)
    queue = hosts.host(new=3)
    first = queue.take()
    hosts.pages.close()
    assert first is not None
    queue.put_back(first)
    hosts.now = QUIET
    assert not hosts.share.closed_for


def test_a_host_that_waits_for_its_share_is_called_when_there_is_some_or_something_new() -> None:
    hosts = Hosts(0.5)
    fresh, known, other = hosts.host(new=10), hosts.host(again=1), hosts.host(again=1)
    called: list[str] = []

    def call(name: str) -> bool:
        called.append(name)
        return True

    for name, queue in (("known", known), ("other", other)):
        assert queue.again is not None
        assert not hosts.turn(queue)
        queue.again.hold(partial(call, name))
    hosts.turn(fresh)
    assert called == ["known"]
    item = QueueItem(Ticket(href="", key="http://h.example/late", host="h.example"), FromLog(1, 1), False)
    other.put(item)
    assert called == ["known", "other"]


def test_a_share_that_brought_no_request_is_given_back() -> None:
    hosts = Hosts(0.5)
    fresh, known = hosts.host(new=10), hosts.host(again=1)
    hosts.turn(fresh)
    again = known.again
    item = known.take()
    assert again is not None
    assert item is not None
    assert not again.holds()
    known.put_back(item)  # its address was busy
    assert hosts.turn(known)


@pytest.mark.parametrize("share", [None, 1.0])
def test_nothing_is_bounded_as_a_rule(share: float | None) -> None:
    assert RevisitShare.of(share, lambda: 0.0) is None
