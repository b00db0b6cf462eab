"""Orders: given twice is given once, taken back is gone, and a domain covers what is below it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.borders import Note, Orders
from gregor.worker.errors import BadInput
from gregor.worker.orders import MOST, Order, Standing, give, host_of, listed, name_of, take_back

HOSTS = st.sampled_from(["a.example", "b.example:8080", "*.example", "*.a.example", "c.test"])
GIVEN = st.one_of(
    st.just(Order("pause", who="me", at=1.0, why="why")),
    st.builds(Order, st.just("block"), HOSTS),
    st.builds(Order, st.just("delay"), HOSTS, st.floats(0.0, 86400.0), st.text(max_size=200), st.just(2.0)),
)  # fmt: skip


@given(st.lists(GIVEN))
def test_what_stands_is_what_was_given_last(given_orders: list[Order]) -> None:
    orders = Orders()
    expected: dict[str, Order] = {}
    for order in given_orders:
        orders = give(give(orders, order), order)
        kept = expected.get(name_of(order.kind, order.host))
        noted = order if order.at or kept is None else kept
        expected[name_of(order.kind, order.host)] = Order(
            order.kind, order.host, order.seconds, noted.who, noted.at, noted.why
        )
    assert {name_of(one.kind, one.host): one for one in listed(orders)} == expected
    for order in given_orders:
        orders = take_back(orders, order.kind, order.host)
    assert orders == Orders()


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.ORG", "example.org"),
        ("https://www.example.org/a?b", "www.example.org"),
        ("bücher.example:8080", "xn--bcher-kva.example:8080"),
        ("*.example.org", "*.example.org"),
        ("[::1]:81", "[::1]:81"),
        ("example.org:80", "example.org"),
    ],
)
def test_a_host_is_written_as_the_crawl_writes_it(text: str, host: str) -> None:
    assert host_of(text) == host


NO_HOSTS = ["", "*.", "a b", "a/b", "user@host.example", "*.a.example:80808", "*.a.example:8080", "*.http://a.example"]
NO_HOSTS += ["a\n.example", "ftp://a.example", "\x1b[31m", "a?b", "\ud800"]


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


@pytest.mark.parametrize("seconds", [None, -1.0, 86401.0, float("nan"), float("inf")])
def test_a_delay_has_bounds(seconds: float | None) -> None:
    with pytest.raises(BadInput, match="a delay is"):
        give(Orders(), Order("delay", "a.example", seconds))


def test_orders_are_bounded() -> None:
    full = Orders(blocked_hosts=tuple(f"h{number}.example" for number in range(MOST)))
    with pytest.raises(BadInput, match="at most"):
        give(full, Order("block", "one.more.example"))
    assert give(full, Order("block", "h1.example")) == Orders(blocked_hosts=tuple(sorted(full.blocked_hosts)))
    noted = give(Orders(), Order("pause", who="w" * 999, at=1.0, why="y" * 999))
    assert noted.notes == {"pause": Note("w" * 200, 1.0, "y" * 200)}


def test_a_domain_covers_what_is_below_it() -> None:
    standing = Standing()
    orders = Orders(blocked_hosts=("*.b.example", "a.example:81"), delays={"c.example": 3.0, "*.example": 2.0})
    blocked = {host for host in ("b.example", "x.y.b.example:8080", "a.example", "a.example:81", "ab.example")
               if standing.blocks(orders, host)}  # fmt: skip
    assert blocked == {"b.example", "x.y.b.example:8080", "a.example:81"}
    assert [standing.delay(orders, host) for host in ("c.example", "d.example", "example", "d.test")] == [3, 2, 2, 0]
    assert not standing.blocks(Orders(), "b.example")
    assert standing.delay(Orders(delays={"c.example": 3.0}), "d.example") == 0.0
