"""The order of a visit and of its settle: what is asked before a fetch, and what is durable before what."""

import asyncio
import io
import random
from contextlib import nullcontext, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from gregor.schemas.items import StoredItem
from gregor.schemas.messages import Page, Row, Ticket
from gregor.worker.base.shortage import LocalShortage
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.borders.store import Entry
from gregor.worker.crawl import PartitionCrawl
from gregor.worker.fetch.held import TurnHeld
from gregor.worker.fetch.outcomes import Broken, Denied, Failed, Gone, LeaseOver
from gregor.worker.frontier.counts import NO_CHANGE
from gregor.worker.frontier.queue_item import FromBucket, QueueItem
from gregor.worker.robots.rulings import Allowed, NotNow
from gregor.worker.settle.rows import OPTED_OUT
from gregor.worker.settle.settling import InSteps
from gregor.worker.settle.verdicts import Policy
from gregor.worker.settle.visited import Visited
from gregor.worker.web.urls import Urls

HREF = "http://a.test/x"
TICKET = Ticket(HREF, HREF, "a.test")
LINKS = (Ticket("http://a.test/y", "http://a.test/y", "a.test"),)
PAGE = Page(HREF, HREF, "a.test", 1, "new", 200, 1.0)
SETTLE = ["publish", "announce", "put_rows", "mark", "learn", "finish"]

ONWARD = SETTLE[1:4] + SETTLE[5:]


class Scene:
    """A crawl of doubles that note what is done, in order; ``last``: the lease ends with this one, which fails."""

    def __init__(self, row: Row | None = None, stored: Page | None = None, last: str = "") -> None:
        self.done: list[str] = []
        self.rows: list[Row] = []
        self._last = last
        self._over = False
        note = self._note

        def noted(name: str, answer: Any = None) -> Any:
            async def call(*_: Any, **__: Any) -> Any:
                note(name)
                return answer

            return call

        async def put_rows(rows: list[Row], stamp: int) -> None:
            note("put_rows")
            self.rows += rows

        async def page(key: str, visit: int) -> Page | None:
            note("page")
            return stored if stored is not None and stored.visit == visit else None

        store = SimpleNamespace(rows=noted("rows", [row]), page=page, put_rows=put_rows,
                                put_page=noted("store page"), put_entries=noted("appoint"),
                                put_dead_letter=noted("letter"))  # fmt: skip
        seen = SimpleNamespace(mark=noted("mark"), claim=noted("claim", HREF))
        log = SimpleNamespace(publish=noted("publish"), announce=noted("announce"))
        clock = SimpleNamespace(now=lambda: 100.0)

        async def learn_all(links: list[Ticket]) -> None:
            if links:
                note("learn")

        services = SimpleNamespace(store=store, log=log, seen=seen, coordinator=clock)
        lease: Any = SimpleNamespace(holds=lambda: not self._over)
        watching: Any = SimpleNamespace(retrying=lambda _: None)
        host = SimpleNamespace(name="a.test", pushbacks=0, take_requests=tuple, asked=(), busy=True)
        host.queue = SimpleNamespace(put_back=lambda _: note("put back"))
        self.turn: Any = SimpleNamespace(
            host=host, used=True, over=noted("next turn"), refusal=lambda *_, **__: None, now=0.0
        )
        waiting = SimpleNamespace(
            place=lambda ticket, due: Entry(1, ticket), placed=lambda _: note("placed"), postpone=noted("postpone")
        )
        effects = Effects(lease, watching, random.Random(1))
        anything: Any = services
        parts: dict[str, Any] = {
            "partition": SimpleNamespace(stamp=lambda: 1, id=0),
            "intake": SimpleNamespace(waiting=waiting, finish=lambda *_, **moved: note("finish", moved)),
            "turns": None,
            "rulings": SimpleNamespace(rule=noted("rule", NotNow())),
            "fetcher": SimpleNamespace(refused_port=lambda _: None),
            "examiner": None,
            "pages": SimpleNamespace(compare=noted("compare", True), stored=lambda _: note("count")),
            "settling": InSteps(anything.log, anything.seen, anything.store, effects),
            "comebacks": SimpleNamespace(bring=noted("bring")),
            "news": SimpleNamespace(apply=noted("news"), shorten=noted("shorten")),
            "budgets": SimpleNamespace(settled=lambda *_: NO_CHANGE),
            "visits": SimpleNamespace(running=7, published=lambda _: None, settled=lambda *_: None),
            "policy": Policy(retries=3, pause=1.0, longest=60.0, revisits=None, jitter=0.0),
            "services": services,
            "effects": effects,
            "orders": SimpleNamespace(ranked=lambda some: some, opted_out=lambda _: False),
            "schedule": None,
            "urls": Urls(),
            "sent": SimpleNamespace(learn_all=learn_all),
            "chance": random.Random(1),
            "name": "w",
        }
        self.crawl = PartitionCrawl(**parts)
        self.moved: bool | None = None

    def _note(self, what: str, moved: dict[str, bool] | None = None) -> None:
        self.done.append(what)
        if what == "finish":
            self.moved = bool(moved and moved.get("moved"))
        if what == self._last:
            self._over = True
            raise LeaseLost

    def settle(self, visited: Visited) -> list[str]:
        item = QueueItem(visited.ticket, FromBucket(1), inherited=False)
        with suppress(LeaseLost):
            asyncio.run(self.crawl.settle(self.turn, item, visited))
        return self.done

    def visit(self, ticket: Ticket, *, inherited: bool = True) -> list[str]:
        item = QueueItem(ticket, FromBucket(1), inherited)
        asyncio.run(self.crawl._visit(self.turn, item))
        return self.done


def fetched(**changes: Any) -> Visited:
    body = SimpleNamespace(open=io.BytesIO)
    response: Any = SimpleNamespace(status=200, body=body, wire_body=None)
    whole = Visited(TICKET, None, None, page=PAGE, tickets=LINKS, response=response)
    return msgspec.structs.replace(whole, **changes)


def test_each_step_of_a_settle_is_durable_before_the_next() -> None:
    scene = Scene()
    durable = ["compare", "store page", "claim", "publish", "announce", "put_rows", "mark"]
    assert scene.settle(fetched()) == [*durable, "count", "learn", "shorten", "bring", "finish", "next turn"]
    assert scene.moved is False


@pytest.mark.parametrize("last", ["publish", "put_rows", "mark"])
def test_cut_short_it_has_done_a_beginning_of_it_and_learnt_nothing_of_what_was_not_acknowledged(last: str) -> None:
    done = Scene(last=last).settle(fetched())
    assert done == ["compare", "store page", "claim", *SETTLE[: SETTLE.index(last) + 1]]


def test_a_retry_is_appointed_before_the_row_says_that_it_waits() -> None:

    scene = Scene()
    done = scene.settle(fetched(outcome=Failed("timeout", "why"), page=None, tickets=(), response=None))
    assert done.index("appoint") < done.index("put_rows") < done.index("mark") < done.index("finish")
    assert scene.moved is True, "what follows it in the calendar must not finish with it"
    (row,) = scene.rows
    assert (row.state, row.visits) == ("waiting", 1)


def test_what_is_given_up_has_its_letter_before_its_row() -> None:

    done = Scene().settle(fetched(outcome=Broken("decode", "why", 200), page=None, tickets=()))
    assert done.index("letter") < done.index("put_rows")


@pytest.mark.parametrize("outcome", [Gone(404), Denied("robots.txt line 2")])
def test_a_url_without_a_page_is_settled_all_the_same(outcome: Any) -> None:
    done = Scene().settle(fetched(outcome=outcome, page=None, tickets=()))
    assert [step for step in done if step in SETTLE] == ["put_rows", "mark", "finish"]


def known(visits: int, state: Any = "fetched") -> Row:
    return Row(HREF, HREF, "a.test", visits, state, "")


def test_a_stale_ticket_is_finished_without_a_look_at_pages_or_rules() -> None:
    assert Scene(known(1)).visit(TICKET) == ["rows", "news", "finish"]


@pytest.mark.parametrize("state", ["fetched", "duplicate"])
def test_the_page_of_this_very_ticket_is_settled_without_a_fetch(state: Any) -> None:
    done = Scene(stored=msgspec.structs.replace(PAGE, state=state)).visit(TICKET)
    assert "rule" not in done
    assert ("claim" in done) is (state == "fetched")
    assert [step for step in done if step in ONWARD] == ["announce", "put_rows", "mark", "finish"]


@pytest.mark.parametrize(
    ("met", "then"), [(TurnHeld(), "wait for it"), (LocalShortage("no descriptor"), "put off 4.0"), (LeaseLost(), "")]
)
def test_a_turn_that_comes_to_nothing_leaves_its_url_in_the_queue(met: Exception, then: str) -> None:
    async def rule(*_: Any) -> Any:
        raise met

    scene, item = Scene(), QueueItem(TICKET, FromBucket(1), inherited=False)
    item.shortages = 2
    crawl: Any = scene.crawl
    crawl.rulings.rule = rule
    crawl.fetcher.lacks = lambda _, visits, times: 2.0 * times if visits == 7 else 0.0
    scene.turn.wait_for = lambda held: scene.done.append("wait for it")
    scene.turn.put_off = lambda seconds: scene.done.append(f"put off {seconds}")
    with nullcontext() if then else pytest.raises(LeaseLost):
        asyncio.run(scene.crawl._visit(scene.turn, item))
    assert scene.done == ["rows", *(["put back", then] if then else [])], "without a lease nothing more is done"
    assert item.shortages == 2 + isinstance(met, LocalShortage)


def test_a_request_that_was_not_sent_since_the_lease_is_over_is_no_outcome() -> None:
    async def answer(given: Any) -> Any:
        return given

    scene, item = Scene(), QueueItem(TICKET, FromBucket(1), inherited=False)
    crawl: Any = scene.crawl
    crawl.rulings.rule = lambda *_: answer(Allowed(1.0))
    crawl.pages.version = lambda *_: answer(None)
    crawl.fetcher.limits_of = lambda _: None
    crawl.fetcher.fetch = lambda *_: answer((LeaseOver(), None))
    scene.turn.for_page = lambda *_: answer(None)
    with pytest.raises(LeaseLost):
        asyncio.run(scene.crawl._visit(scene.turn, item))
    assert scene.done == ["rows"]


def test_what_is_no_http_has_one_more_turn_and_is_settled_then() -> None:
    """The transport reads as browsers do in that one; the host's delay lies between the two."""

    async def answer(given: Any) -> Any:
        return given

    def heard(settling: Any) -> Any:
        return settling

    broken = Broken("protocol", "not HTTP")
    scene, item = Scene(), QueueItem(TICKET, FromBucket(1), inherited=False)
    read = SimpleNamespace(visited=lambda *_: fetched(outcome=broken, page=None, tickets=(), response=None))
    room = SimpleNamespace(of=lambda _: nullcontext())
    scene.crawl = replace(scene.crawl, examiner=cast(Any, SimpleNamespace(room=room, of=lambda *_: None)))
    crawl: Any = scene.crawl
    crawl.rulings.rule = lambda *_: answer(Allowed(1.0))
    crawl.pages.version = lambda *_: answer(None)
    crawl.fetcher.limits_of = lambda _: None
    crawl.fetcher.fetch = lambda *_: answer((broken, None))
    crawl.visits.answered = lambda _: None
    crawl.visits.parse = lambda _: answer(read)
    crawl.visits.settle = heard
    scene.turn.for_page = lambda *_: answer(None)
    scene.turn.took = lambda *_: 1.0
    asyncio.run(crawl._visit(scene.turn, item))
    assert (scene.done, item.lenient) == (["rows", "put back", "next turn"], True)
    asyncio.run(crawl._visit(scene.turn, item))
    assert scene.done.count("put back") == 1
    assert "put_rows" in scene.done and "finish" in scene.done


def test_what_opted_out_while_it_was_asked_for_is_settled_without_its_content() -> None:
    scene = Scene()
    crawl: Any = scene.crawl
    crawl.orders.opted_out = lambda _: True
    done = scene.settle(fetched())
    assert not {"store page", "publish", "learn"} & set(done)
    assert scene.rows[0].rule == OPTED_OUT


def test_nothing_more_is_asked_of_a_host_that_opted_out_while_it_failed() -> None:
    scene = Scene()
    crawl: Any = scene.crawl
    crawl.orders.opted_out = lambda _: True
    done = scene.settle(fetched(outcome=Failed("timeout", "why"), page=None, tickets=(), response=None))
    assert (set(done) & {"appoint", "letter"}, scene.rows[0].state, scene.moved) == (set(), "denied", False)


def test_links_that_were_not_published_since_the_host_opted_out_meanwhile_are_not_taken_for_sent() -> None:
    scene, heard = Scene(), iter([False])
    crawl: Any = scene.crawl
    crawl.orders.opted_out = lambda _: next(heard, True)
    assert not {"publish", "learn"} & set(scene.settle(fetched())), "another page may link there, too"


def test_the_page_of_another_kind_of_ticket_is_not_this_ones() -> None:
    revisit = msgspec.structs.replace(TICKET, visit=1, kind="revisit")
    done = Scene(known(1), msgspec.structs.replace(PAGE, visit=2)).visit(revisit)
    assert done == ["rows", "page", "rule", "put back"]


def test_the_items_of_a_page_that_vanished_are_told_gone_before_its_row() -> None:
    items = [StoredItem("job", "job", "1", b"{}", "[1]"), StoredItem("job", "job", "1", b"{}", "[2]", "gone")]
    stored = msgspec.structs.replace(PAGE, items=items)
    revisit = msgspec.structs.replace(TICKET, visit=1, kind="revisit")
    scene, news = Scene(known(1)), list[Any]()

    async def announce(what: Any) -> None:
        news.append(what)
        scene.done.append("announce")

    log: Any = scene.crawl.services.log
    log.announce = announce
    visited = Visited(revisit, known(1), Gone(410), stored=stored)
    asyncio.run(scene.crawl.settle(scene.turn, QueueItem(revisit, FromBucket(1), False), visited))
    assert [step for step in scene.done if step in ONWARD] == ["announce", "put_rows", "mark", "finish"]
    (vanished,) = news
    assert (vanished.page.visit, vanished.page.fetched_at) == (2, 100.0)
    assert [(item.id, item.change) for item in vanished.page.items] == [("[1]", "gone")]


def test_what_nobody_can_have_begun_is_not_looked_for() -> None:
    assert Scene().visit(TICKET, inherited=False) == ["rows", "rule", "put back"]


def test_a_redirect_that_is_to_be_followed_later_waits_then_is_finished() -> None:
    scene = Scene()
    done = scene.visit(msgspec.structs.replace(TICKET, not_before=200.0), inherited=False)
    assert done == ["rows", "postpone", "finish"]
    assert scene.moved is True


def test_a_shorter_way_that_is_told_of_while_the_row_is_read_counts() -> None:
    scene, item = Scene(), QueueItem(msgspec.structs.replace(TICKET, depth=4), FromBucket(1), inherited=False)
    read = scene.crawl.services.store.rows

    async def rows(keys: list[str]) -> Any:
        item.ticket = msgspec.structs.replace(item.ticket, depth=3)  # by a record that follows it
        return await read(keys)

    store: Any = scene.crawl.services.store
    store.rows = rows
    asyncio.run(scene.crawl._visit(scene.turn, item))
    assert item.ticket.depth == 3
