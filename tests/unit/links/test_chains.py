"""How far pages in vain lead on, and names below one domain."""

from gregor.worker.links.chains import Chains
from gregor.worker.links.endless_hosts import EndlessHosts


def test_a_line_grows_by_its_steps_and_a_list_does_not() -> None:
    chains = Chains()
    assert [chains.add(f"row {n}", f"row {n - 1}", 1) for n in range(5)] == [1, 2, 3, 4, 5]
    assert [chains.add(f"item {n}", "list", 1) for n in range(5)] == [1] * 5
    assert chains.add("beside", "row 4", 0) == 5
    assert chains.add("twice", "row 4", 2) == 7
    assert "row 4" in chains
    assert "list" not in chains


def test_lines_are_bounded_and_what_was_forgotten_begins_anew() -> None:
    chains = Chains(64)
    assert max(chains.add(f"row {n}", f"row {n - 1}", 2) for n in range(1000)) == 255
    assert "row 0" not in chains
    assert chains.add("late", "row 0", 1) == 1
    assert sum(f"row {n}" in chains for n in range(1000)) <= 64


def test_forty_names_with_the_content_of_others_spend_their_domain_and_a_new_one_opens_it() -> None:
    domains = EndlessHosts(2)
    for number in range(39):
        domains.learn(f"a{number}.park.test", True)
    assert not domains.spent("b.park.test")
    domains.learn("c.park.test", True)
    assert domains.spent("b.park.test")
    assert not domains.spent("b.other.test")
    domains.learn("d.park.test", False)
    assert not domains.spent("b.park.test")
    for host in ("a.test", "1.2.3.4", "x.y.test", "x.z.test"):
        domains.learn(host, True)
    assert len(domains) == 2
