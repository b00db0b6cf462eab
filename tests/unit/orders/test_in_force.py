"""What orders mean for a host: its own, those of its domains, those of the crawl."""

from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import Order, Orders
from tests.contract.world import ordered

HOSTS = ["c.example", "d.example", "x.d.example:8080", "example", "d.test"]


def in_force(orders: Orders) -> OrdersInForce:
    return OrdersInForce(lambda: orders)


def test_a_domain_covers_what_is_below_it() -> None:
    orders = ordered(Order("block", "*.b.example"), Order("block", "a.example:81"))
    blocked = {host for host in ("b.example", "x.y.b.example:8080", "a.example", "a.example:81", "ab.example")
               if in_force(orders).blocks(host)}  # fmt: skip
    assert blocked == {"b.example", "x.y.b.example:8080", "a.example:81"}
    assert not in_force(Orders()).blocks("b.example")


def test_the_longest_delay_holds() -> None:
    orders = ordered(Order("delay", "c.example", 3.0), Order("delay", "*.example", 2.0), Order("delay", "*", 1.0))
    assert [in_force(orders).delay(host) for host in HOSTS] == [3, 2, 2, 2, 1]
    orders = ordered(Order("delay", "c.example", 3.0), Order("rate", "c.example", 0.25), Order("rate", "d.test", 8.0))
    assert [in_force(orders).delay(host) for host in HOSTS] == [4, 0, 0, 0, 0.125]
    assert in_force(Orders()).delay("c.example") == 0.0


def test_the_nearest_priority_holds() -> None:
    given = {"*.example": 3, "*.d.example": 1, "c.example": 4}
    orders = ordered(*(Order("priority", target, rank) for target, rank in given.items()))
    assert [in_force(orders).priority(host) for host in HOSTS] == [4, 1, 1, 3, None]
    assert in_force(orders).table("priority")
    assert not in_force(Orders()).table("priority")


def test_a_budget_of_a_host_is_its_own_and_a_domains_is_shared() -> None:
    orders = ordered(Order("budget", "c.example", 7), Order("budget", "*.example", 5), Order("budget", "*", 3))
    assert [in_force(orders).budget(host) for host in HOSTS] == [7, None, None, None, None]
    assert in_force(orders).domain_budgets("c.example") == [("*.example", 5)]
    assert in_force(orders).domain_budgets("d.test") == []
    assert in_force(orders).crawl("budget") == 3
    assert in_force(Orders()).crawl("budget") is None


def test_what_hosts_share() -> None:
    orders = ordered(Order("rate", "c.example", 1.0), Order("rate", "*.example", 2.0), Order("rate", "*", 3.0))
    assert in_force(orders).shared("rate", "c.example") == [("*.example", 2.0), ("*", 3.0)]
    assert in_force(orders).shared("rate", "d.test") == [("*", 3.0)]
    assert in_force(orders).shared("concurrency", "c.example") == []
