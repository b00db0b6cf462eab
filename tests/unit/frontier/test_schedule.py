"""The schedule against a plain list: who is due first, one entry a host, nothing before its time."""

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.frontier.host import Host
from gregor.worker.frontier.schedule import EACH, STALE, HostSchedule, Schedule


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


def host(name: str, *, begun: bool) -> Host:
    made = Host(name, 0)
    if begun:
        made.last_start = 1.0
    return made


def test_hosts_that_were_begun_go_before_fresh_ones_that_wait_longer_but_not_for_ever() -> None:
    schedule = HostSchedule(lambda: 0.0, lambda: None)
    for number in range(10):
        schedule.put(host(f"fresh{number}", begun=False), 0.0)
        schedule.put(host(f"begun{number}", begun=True), 1.0)
    assert schedule.next_due() == 0.0
    early = schedule.take(0.5)
    assert early is not None
    assert early.name == "fresh0", "nothing else is due"
    names = [taken.name for _ in range(2 * EACH) if (taken := schedule.take(2.0)) is not None]
    assert [name for name in names if name.startswith("fresh")] == ["fresh1", "fresh2"]
    assert len(schedule) == 20 - 1 - 2 * EACH
    assert {near.name[:5] for near in schedule.near(2)} == {"fresh", "begun"}


def test_a_host_that_was_begun_meanwhile_has_one_entry() -> None:
    schedule = HostSchedule(lambda: 0.0, lambda: None)
    same = host("h", begun=False)
    schedule.put(same, 0.0)
    same.last_start = 1.0
    schedule.put(same, 5.0)
    assert (len(schedule), schedule.take(4.0), schedule.take(5.0), schedule.take(9.0)) == (1, None, same, None)


def test_of_the_hosts_that_are_due_the_best_goes_first_and_none_waits_for_ever() -> None:
    schedule = HostSchedule(lambda: 0.0, lambda: None)
    hosts = [Host(f"h{number}", 0) for number in range(12)]
    worths = {host.name: float(number) for number, host in enumerate(hosts)}
    schedule.worth = lambda host: worths[host.name]
    for host in hosts:
        schedule.put(host, 1.0)
    assert schedule.take(0.5) is None and schedule.next_due() == 1.0
    schedule.put(hosts[11], 9.0)  # it is not due
    taken = []
    for _ in range(8):
        assert schedule.next_due() is not None
        best = schedule.take(2.0)
        assert best is not None
        taken.append(best.name)
    assert [name for turn, name in enumerate(taken) if (turn + 2) % EACH] == ["h10", "h9", "h8", "h7", "h6", "h5"]
    assert [name for turn, name in enumerate(taken) if not (turn + 2) % EACH] == ["h0", "h1"]
    schedule.remove(hosts[4])
    last = [schedule.take(2.0) for _ in range(3)]
    assert [left and left.name for left in last] == ["h3", "h2", None]
    assert len(schedule) == 1 and schedule.next_due() == 9.0


def by_worth(worths: dict[str, float], hosts: list[Host]) -> HostSchedule:
    schedule = HostSchedule(lambda: 2.0, lambda: None)
    schedule.worth = lambda host: worths[host.name]
    for host in hosts:
        schedule.put(host, 1.0)
    return schedule


def test_what_no_longer_holds_behind_the_best_hosts_is_cleared_away() -> None:
    hosts = [Host(f"h{number}", 0) for number in range(8)]
    schedule = by_worth({host.name: float(number) for number, host in enumerate(hosts)}, hosts)
    for _ in range(20 * STALE):
        host = schedule.take(2.0)
        assert host is not None
        schedule.put(host, 1.0)
    assert len(schedule) == len(hosts)
    assert len(schedule.near(10**9)) == len(hosts)
    assert len(schedule._ready) <= STALE + 4 * len(hosts)


def test_a_host_whose_entry_is_renewed_keeps_its_place_among_those_that_wait() -> None:
    hosts = [Host(f"h{number}", 0) for number in range(40)]
    worths = {host.name: float(number) for number, host in enumerate(hosts)}
    schedule = by_worth(worths, hosts)
    taken = []
    for _ in range(EACH):
        best = schedule.take(2.0)
        assert best is not None
        taken.append(best.name)
        schedule.put(hosts[0], 1.5)
    assert taken[-1] == "h0", "it waits longest, whatever is found for it meanwhile"


def test_a_host_for_which_something_better_is_found_goes_first_at_once() -> None:
    hosts = [Host(f"h{number}", 0) for number in range(4)]
    worths = {host.name: float(number) for number, host in enumerate(hosts)}
    schedule = by_worth(worths, hosts)
    assert schedule.take(2.0) is hosts[3]
    worths["h0"] = 9.0
    schedule.put(hosts[0], 1.0)
    assert schedule.take(2.0) is hosts[0]


def test_a_host_that_is_put_off_is_not_taken_for_having_waited_longest() -> None:
    hosts = [Host(f"h{number}", 0) for number in range(12)]
    schedule = by_worth({host.name: float(number) for number, host in enumerate(hosts)}, hosts)
    assert schedule.take(2.0) is hosts[11]
    schedule.put(hosts[0], 9.0)
    taken = [schedule.take(2.0) for _ in range(11)]
    assert hosts[0] not in taken and taken[-1] is None
    assert schedule.next_due() == 9.0
