"""The schedule against a plain list: who is due first, one entry a host, nothing before its time."""

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.frontier.schedule import Schedule


class Somebody:
    def __init__(self, name: int) -> None:
        self.name = name
        self.ticketed = 0


STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "take", "remove", "near"]), st.integers(0, 5), st.integers(0, 20)), max_size=60
)


@given(STEPS)
def test_it_does_as_a_sorted_list_would(steps: list[tuple[str, int, int]]) -> None:
    schedule: Schedule[Somebody] = Schedule()
    hosts = [Somebody(name) for name in range(6)]
    due: dict[int, tuple[int, int]] = {}  # by host: due time, order of arrival
    for arrival, (step, name, time) in enumerate(steps):
        match step:
            case "put":
                schedule.put(hosts[name], float(time))
                due[name] = (time, arrival)
            case "remove":
                schedule.remove(hosts[name])
                due.pop(name, None)
            case "near":
                assert {host.name for host in schedule.near(1000)} == due.keys()
                assert len(schedule.near(name)) <= name
            case "take":
                taken = schedule.take(float(time))
                first = min(due, key=lambda one: due[one], default=None)
                if first is None or due[first][0] > time:
                    assert taken is None
                else:
                    assert taken is hosts[first]
                    del due[first]
        assert len(schedule) == len(due)
        assert schedule.next_due() == min((at for at, _ in due.values()), default=None)
        assert {host.name for host in hosts if host.ticketed} == due.keys()


def test_a_host_that_is_visited_cannot_be_taken_again() -> None:
    schedule: Schedule[Somebody] = Schedule()
    host = Somebody(0)
    for due in (3.0, 1.0, 2.0):
        schedule.put(host, due)
    assert (schedule.take(1.5), schedule.take(2.0), schedule.take(1e9)) == (None, host, None)
