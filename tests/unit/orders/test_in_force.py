"""What orders mean for a host: its own, those of its domains, those of the crawl."""

from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import Order, Orders
from tests.contract.world import ordered

HOSTS = ["c.example", "d.example", "x.d.example:8080", "example", "d.test"]


def test_a_domain_covers_what_is_below_it() -> None:
    standing = OrdersInForce()
    orders = ordered(Order("block", "*.b.example"), Order("block", "a.example:81"))
    blocked = {host for host in ("b.example", "x.y.b.example:8080", "a.example", "a.example:81", "ab.example")
               if standing.blocks(orders, host)}  # fmt: skip
    assert blocked == {"b.example", "x.y.b.example:8080", "a.example:81"}
    assert not standing.blocks(Orders(), "b.example")


def test_the_longest_delay_holds() -> None:
    standing = OrdersInForce()
    orders = ordered(Order("delay", "c.example", 3.0), Order("delay", "*.example", 2.0), Order("delay", "*", 1.0))
    assert [standing.delay(orders, host) for host in HOSTS] == [3, 2, 2, 2, 1]
    orders = ordered(Order("delay", "c.example", 3.0), Order("rate", "c.example", 0.25), Order("rate", "d.test", 8.0))
    assert [standing.delay(orders, host) for host in HOSTS] == [4, 0, 0, 0, 0.125]
    assert standing.delay(Orders(), "c.example") == 0.0


def test_the_nearest_priority_holds() -> None:
    standing = OrdersInForce()
    given = {"*.example": 3, "*.d.example": 1, "c.example": 4}
    orders = ordered(*(Order("priority", target, rank) for target, rank in given.items()))
    assert [standing.priority(orders, host) for host in HOSTS] == [4, 1, 1, 3, None]
    assert standing.table(orders, "priority")
    assert not standing.table(Orders(), "priority")


def test_a_budget_of_a_host_is_its_own_and_a_domains_is_shared() -> None:
    standing = OrdersInForce()
    orders = ordered(Order("budget", "c.example", 7), Order("budget", "*.example", 5), Order("budget", "*", 3))
    assert [standing.budget(orders, host) for host in HOSTS] == [7, None, None, None, None]
    assert standing.domain_budgets(orders, "c.example") == [("*.example", 5)]
    assert standing.domain_budgets(orders, "d.test") == []
    assert standing.crawl(orders, "budget") == 3
    assert standing.crawl(Orders(), "budget") is None


def test_what_hosts_share() -> None:
    standing = OrdersInForce()
    orders = ordered(Order("rate", "c.example", 1.0), Order("rate", "*.example", 2.0), Order("rate", "*", 3.0))
    assert standing.shared(orders, "rate", "c.example") == [("*.example", 2.0), ("*", 3.0)]
    assert standing.shared(orders, "rate", "d.test") == [("*", 3.0)]
    assert standing.shared(orders, "concurrency", "c.example") == []
