"""Health: kept for each service by each of its calls."""

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.borders.errors import Unavailable
from gregor.worker.observe.health import FORGOTTEN, BorderHealth

AWAY, FULL = Unavailable("Redis", "no answer"), Unavailable("Redis", "no memory", "full")


def test_a_success_of_another_service_changes_nothing() -> None:
    health = BorderHealth()
    assert health.failed(("coordinator", "join"), Unavailable("ZooKeeper", "gone"), 0.0)
    for at in range(100):
        assert health.succeeded(("store", "rows"), float(at)) == []
        assert health.succeeded(("log", "ends"), float(at)) == []
    assert health.text() == "ZooKeeper is away"
    assert health.succeeded(("coordinator", "join"), 100.0) == ["ZooKeeper"]
    assert not health.wrong


def test_what_only_reads_says_nothing_of_what_writes() -> None:
    health = BorderHealth()
    assert health.failed(("seen", "mark"), FULL, 0.0)
    assert not health.failed(("seen", "mark"), FULL, 5.0)
    assert health.succeeded(("seen", "seen"), 5.1) == []
    assert health.text() == "Redis is full"
    assert health.succeeded(("seen", "mark"), 6.0) == ["Redis"]


def test_a_call_that_began_before_another_failed_says_nothing_of_what_came_after() -> None:
    health = BorderHealth()
    assert health.failed(("store", "put_rows"), AWAY, 5.0)
    assert health.succeeded(("store", "put_rows"), 4.9) == []
    assert health.text() == "Redis is away"
    assert health.succeeded(("store", "put_rows"), 5.1) == ["Redis"]


def test_a_change_of_condition_is_news() -> None:
    health = BorderHealth()
    assert health.failed(("seen", "mark"), FULL, 0.0)
    assert health.failed(("seen", "seen"), AWAY, 1.0)
    assert health.text() == "Redis is away"
    assert health.succeeded(("seen", "seen"), 2.0) == []
    assert health.text() == "Redis is full"


def test_a_call_that_nobody_makes_again_is_forgotten_once_its_border_answers() -> None:
    health = BorderHealth()
    health.failed(("coordinator", "acquire"), Unavailable("ZooKeeper", "gone"), 0.0)
    assert health.succeeded(("store", "rows"), FORGOTTEN + 1) == []
    assert health.succeeded(("coordinator", "put_status"), FORGOTTEN - 1) == []
    assert health.succeeded(("coordinator", "put_status"), FORGOTTEN + 1) == ["ZooKeeper"]


BORDERS = {"seen": "Redis", "store": "Cassandra", "log": "Kafka", "coordinator": "ZooKeeper"}


@given(st.lists(st.tuples(st.sampled_from(sorted(BORDERS)), st.sampled_from(["read", "write"]), st.booleans())))
def test_a_service_is_wrong_while_the_last_of_any_of_its_calls_failed(calls: list[tuple[str, str, bool]]) -> None:
    health, last = BorderHealth(), dict[tuple[str, str], bool]()
    for at, (border, method, comes_through) in enumerate(calls):
        last[border, method] = comes_through
        time = at / 1000  # far below what is forgotten
        if comes_through:
            health.succeeded((border, method), time)
        else:
            health.failed((border, method), Unavailable(BORDERS[border], "gone"), time)
    assert set(health.conditions()) == {BORDERS[border] for (border, _), well in last.items() if not well}
