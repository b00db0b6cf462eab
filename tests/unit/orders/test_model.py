"""Orders: given twice is given once, taken back is gone, every change is on record, one key is one change."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.errors import BadInput
from gregor.worker.orders.model import (
    MOST,
    REMEMBERED,
    By,
    Change,
    KeyReused,
    Order,
    OrderKind,
    Orders,
    archived,
    check,
    give,
    listed,
    made_before,
    record,
    take_back,
)
from gregor.worker.web.hostnames import host_of
from tests.contract.world import ordered

ME = By("me", 2.0, "why", "here")
HOSTS = st.sampled_from(["a.example", "b.example:8080", "*.example", "*.a.example", "c.test"])
GIVEN = st.one_of(
    st.just(Order("pause")),
    st.builds(Order, st.just("block"), HOSTS),
    st.builds(Order, st.just("delay"), HOSTS, st.floats(0.0, 86400.0)),
    st.builds(Order, st.just("rate"), HOSTS, st.floats(0.01, 1000.0)),
    st.builds(Order, st.just("budget"), st.one_of(HOSTS, st.just("*")), st.integers(0, 10**9).map(float)),
    st.builds(Order, st.just("drain"), st.text("abc-1", min_size=1)),
)  # fmt: skip


@given(st.lists(GIVEN))
def test_what_stands_is_what_was_given_last(given_orders: list[Order]) -> None:
    orders = Orders()
    expected: dict[str, Order] = {}
    for order in given_orders:
        orders = give(give(orders, order, ME), order, ME)
        expected[order.name] = Order(order.kind, order.target, order.value, "me", 2.0, "why")
    assert {one.name: one for one in listed(orders)} == expected
    assert orders.version == len(orders.changes) == 2 * len(given_orders)
    assert [one.number for one in orders.changes] == list(range(1, orders.version + 1))
    for order in given_orders:
        orders = take_back(orders, order.name, ME)
    assert not orders.by_name
    assert orders.version == 2 * len(given_orders) + len(expected)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.ORG", "example.org"),
        ("https://www.example.org/a?b", "www.example.org"),
        ("bücher.example:8080", "xn--bcher-kva.example:8080"),
        ("*.example.org", "*.example.org"),
        ("[::1]:81", "[::1]:81"),
        ("example.org:80", "example.org"),
        ("*", "*"),
    ],
)
def test_a_host_is_written_as_the_crawl_writes_it(text: str, host: str) -> None:
    assert host_of(text) == host


NO_HOSTS = ["", "*.", "a b", "a/b", "user@host.example", "*.a.example:80808", "*.a.example:8080", "*.http://a.example"]
NO_HOSTS += ["a\n.example", "ftp://a.example", "\x1b[31m", "a?b", "\ud800", "**"]


@pytest.mark.parametrize("text", NO_HOSTS)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a host"):
        host_of(text)


@given(st.text())
def test_any_text_is_a_host_or_refused(text: str) -> None:
    try:
        host = host_of(text)
    except BadInput:
        return
    assert host.isascii()
    assert host == host.lower()
    assert host_of(host) == host


@pytest.mark.parametrize(
    ("kind", "target", "value", "says"),
    [
        ("pause", "a.example", None, "of the whole crawl"),
        ("block", "*", None, "not blocked but paused"),
        ("block", "a.example", 1.0, "block has no value"),
        ("delay", "a.example", None, "a delay is a number from 0 to 86400 seconds"),
        ("delay", "a.example", -1.0, "a delay is"),
        ("delay", "a.example", 86401.0, "a delay is"),
        ("delay", "a.example", float("nan"), "a delay is"),
        ("delay", "a.example", float("inf"), "a delay is"),
        ("rate", "*", 0.0, "a rate is"),
        ("concurrency", "a.example", 2.0, "one host gets one request at a time, always"),
        ("concurrency", "*", 1.5, "a concurrency is a whole number from 1"),
        ("priority", "*", 1.0, "give it to a host or a domain"),
        ("priority", "a.example", 5.0, "a priority is a whole number from 1 to 4"),
        ("budget", "*", 0.5, "a budget is a whole number"),
        ("drain", "", None, "not the name of a worker"),
        ("drain", "w\n", None, "not the name of a worker"),
        ("drain", "w" * 301, None, "not the name of a worker"),
        ("drain", "w", 1.0, "drain has no value"),
    ],
)
def test_what_cannot_be_ordered(kind: OrderKind, target: str, value: float | None, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        give(Orders(), Order(kind, target, value), ME)


def test_orders_are_bounded() -> None:
    full = Orders(by_name={(one := Order("block", f"h{number}.example")).name: one for number in range(MOST)})
    with pytest.raises(BadInput, match="at most"):
        give(full, Order("block", "one.more.example"), ME)
    assert len(give(full, Order("block", "h1.example"), ME).by_name) == MOST
    assert len(give(full, Order("delay", "h1.example", 1.0), ME).by_name) == MOST + 1
    noted = give(Orders(), Order("pause"), By("w" * 999, 1.0, "y" * 999, "z" * 999))
    assert noted.by_name["pause"] == Order("pause", "", None, "w" * 200, 1.0, "y" * 200)
    assert (noted.changes[0].who, noted.changes[0].where) == ("w" * 200, "z" * 200)


def test_one_key_is_one_change() -> None:
    once = By("me", 1.0, key="k", asked=1)
    orders = give(Orders(), Order("pause"), once)
    assert give(orders, Order("pause"), once) == orders
    orders = take_back(orders, "pause", ME)
    assert give(orders, Order("pause"), once) == orders, "a late repetition does not pause again"
    with pytest.raises(KeyReused):
        give(orders, Order("block", "a.example"), once._replace(asked=2))
    with pytest.raises(KeyReused):
        take_back(orders, "pause", once._replace(asked=2))
    assert made_before(orders, ME) is None
    found = made_before(orders, once)
    assert found is not None
    assert (found.number, found.what) == (1, "pause")


@given(st.integers(0, 4 * REMEMBERED + 3))
def test_changes_are_put_aside_in_their_order(count: int) -> None:
    orders, away = Orders(), list[Change]()
    for number in range(count):
        orders, older = archived(record(orders, f"change {number}", ME))
        away += older
        assert len(orders.changes) <= 2 * REMEMBERED
    assert [one.number for one in (*away, *orders.changes)] == list(range(1, count + 1))
    assert len(orders.changes) >= min(count, REMEMBERED)


def test_an_order_that_does_not_stand_is_not_taken_back() -> None:
    orders = give(Orders(), Order("pause"), ME)
    assert take_back(orders, "block a.example", ME) == orders


@given(st.lists(GIVEN, max_size=8), st.integers(1, 3), st.sampled_from(["block a.example", "later x", "drain"]))
def test_they_are_listed_page_by_page(given_orders: list[Order], limit: int, after: str) -> None:
    orders = ordered(*given_orders)
    found: list[Order] = []
    while page := list(islice(listed(orders, found[-1].name if found else ""), limit)):
        found += page
    assert found == list(listed(orders))
    rest = list(listed(orders, after))
    assert rest == found[len(found) - len(rest) :]


@given(GIVEN)
def test_what_can_be_given_is_checked(order: Order) -> None:
    check(order)
