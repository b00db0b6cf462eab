"""What was refused comes back when pages like it bring something new: whole if it was honest, little of it if not."""

from urllib.parse import urlsplit

import msgspec
import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.links.endless_hosts import DOMAINS, OF_A_DOMAIN, OF_A_PARTITION, RefusedNames
from gregor.worker.links.refusals import BACK_AT_ONCE, KEPT, KEPT_OCTETS, MOST_NEEDED, OF_A_SHAPE, SHELVES, RefusedUrls
from gregor.worker.links.traps import Traps
from gregor.worker.web.urls import Urls
from tests.unit.trap_sites import Answer, crawl


def filled(count: int, most: int = 10_000) -> RefusedUrls:
    refusals = RefusedUrls(most)
    for number in range(count):
        refusals.add("a.test", "/N", f"http://a.test/{number}")
    return refusals


def back(refusals: RefusedUrls, key: str = "", *, fresh: bool = True, shape: str = "/N") -> list[str]:
    refusals.brought("a.test", [shape], key, fresh)
    keys = refusals.returning("a.test")
    refusals.came_back("a.test", keys)
    return keys


def test_eight_come_back_for_something_new_and_eight_more_for_each_of_them_that_is_new() -> None:
    refusals = filled(30)
    assert back(refusals, fresh=False) == []
    assert back(refusals, shape="/other/N") == []
    first = back(refusals)
    assert first == [f"http://a.test/{29 - number}" for number in range(BACK_AT_ONCE)], "the least deep first"
    assert refusals.returning("a.test") == [], "each comes back once"
    for key in first[:7]:
        assert back(refusals, key, fresh=False) == []
    assert back(refusals) == [], "in vain they come more seldom"
    assert len(back(refusals, first[7])) == BACK_AT_ONCE
    assert len(back(refusals)) == BACK_AT_ONCE
    assert len(back(refusals)) == 6, "all are back"


def test_what_comes_back_is_kept_until_it_was_asked_for() -> None:
    refusals, later = filled(3), RefusedUrls()
    refusals.brought("a.test", ["/N"], "", True)
    keys = refusals.returning("a.test")
    assert keys == refusals.returning("a.test"), "who lost the lease asks for it later"
    later.recall("a.test", refusals.kept("a.test"))
    assert sorted(back(later)) == sorted(keys), "or the next owner"
    refusals.came_back("a.test", keys)
    assert refusals.returning("a.test") == []
    assert refusals.kept("a.test") == ()


def name(number: int) -> Ticket:
    return Ticket(f"http://x{number}.park.test/", f"http://x{number}.park.test/", f"x{number}.park.test")


def names_back(names: RefusedNames, host: str, *, copied: bool = False) -> list[str]:
    names.met(host, copied)
    links = names.returning(host)
    assert links == names.returning(host), "until they are followed"
    names.came_back(host, links)
    return [link.host for link in links]


def test_names_below_a_domain_come_back_when_one_of_them_brings_something_new() -> None:
    names = RefusedNames()
    assert [names.add(name(number)) for number in (*range(30), 0)] == [True] * 30 + [False]
    assert names_back(names, "y.park.test", copied=True) == []
    assert names_back(names, "y.other.test") == []
    first = names_back(names, "y.park.test")
    assert first == [f"x{29 - number}.park.test" for number in range(BACK_AT_ONCE)]
    for host in first[:3]:
        assert names_back(names, host, copied=True) == []
    assert names_back(names, "z.park.test") == [], "in vain they come more seldom"
    assert len(names_back(names, first[3])) == BACK_AT_ONCE
    assert "x0.park.test" not in names_back(names, "x0.park.test"), "it was met otherwise"


def test_refused_names_are_kept_with_the_partition_of_the_page_that_has_the_link() -> None:
    names, later = RefusedNames(lambda host: int(host[1:2] or 0)), RefusedNames()
    for number in range(40):
        names.add(msgspec.structs.replace(name(number), via=f"http://x{number % 2}.park.test/"))
    assert [link.host for link in names.kept(1)] == [f"x{number}.park.test" for number in range(1, 40, 2)]
    assert len(names.kept(0)) == 20
    assert names.kept(2) == ()
    names.met("x39.park.test", True)
    assert names.kept(1)[-1].host == "x37.park.test", "what was met otherwise is none any more"
    names.met("y.park.test", False)
    names.add(msgspec.structs.replace(name(40), via="http://x0.park.test/"))  # so that both are put together anew
    names.add(msgspec.structs.replace(name(41), via="http://x1.park.test/"))
    back = names.returning("y.park.test")
    assert back
    assert set(back) <= {*names.kept(0), *names.kept(1)}, "until it is followed"
    names.came_back("y.park.test", back)
    assert set(back).isdisjoint({*names.kept(0), *names.kept(1)})
    later.recall(names.kept(1))
    assert set(names_back(later, "z.park.test")) <= {link.host for link in names.kept(1)}
    assert later.kept(0)


@pytest.mark.parametrize("longer", [0, 2000])
def test_of_a_partition_few_names_are_kept_the_latest(longer: int) -> None:
    names = RefusedNames()
    for number in range(2 * OF_A_PARTITION):
        names.add(msgspec.structs.replace(name(number), via="http://a.park.test/" + longer * "x"))
    kept = names.kept(0)
    assert len(kept) == (OF_A_PARTITION if not longer else 7)
    assert kept[-1] == msgspec.structs.replace(name(2 * OF_A_PARTITION - 1), via="http://a.park.test/" + longer * "x")


def test_memory_for_names_is_bounded() -> None:
    names = RefusedNames()
    for domain in range(2 * DOMAINS):
        for number in range(OF_A_DOMAIN + 50):
            host = f"x{number}.d{domain}.test"
            names.add(Ticket(f"http://{host}/", f"http://{host}/", host))
    assert len(names) <= DOMAINS * OF_A_DOMAIN
    assert names_back(names, f"new.d{2 * DOMAINS - 1}.test")[0] == f"x{OF_A_DOMAIN + 49}.d{2 * DOMAINS - 1}.test"


def test_names_behind_a_wall_are_all_fetched_once_it_is_gone() -> None:
    """All names answer alike and each leads to the next two, until one that another site names says something new."""
    gone = False

    def site(url: str) -> Answer:
        nonlocal gone
        host = urlsplit(url).hostname or ""
        if host == "start.test":
            return "start", ["http://x0.trap.test/"]
        if host == "other.test":
            return "another site", ["http://new.trap.test/"]
        gone = gone or host == "new.trap.test"
        number = int(host.split(".")[0].removeprefix("x")) if host != "new.trap.test" else 0
        text = f"honest {number}" if gone else "Welcome"
        links = [f"http://x{2 * number + step}.trap.test/" for step in (1, 2) if number < 60]
        return text, [*links, "http://other.test/"] if number == 58 else links

    crawled = crawl(site, "http://start.test/", 3000)
    assert crawled.refused["endless hosts"] > 0
    assert {f"http://x{number}.trap.test/" for number in range(121)} <= set(crawled.pages)


def test_in_vain_they_come_ever_more_seldom_and_never_end() -> None:
    refusals, waited, counts = filled(400), 0, []
    for _ in range(600):
        waited += 1
        if keys := back(refusals):
            counts.append(waited)
            waited = 0
        for key in keys:
            assert back(refusals, key, fresh=False) == []
    assert counts[0] == 1
    assert set(counts[1:]) == {MOST_NEEDED}


def test_memory_is_bounded_and_the_last_refused_stay() -> None:
    refusals = filled(3 * OF_A_SHAPE)
    assert len(refusals) == OF_A_SHAPE
    assert back(refusals)[0] == f"http://a.test/{3 * OF_A_SHAPE - 1}"
    for host in range(100):
        for number in range(100):
            refusals.add(f"h{host}.test", f"/{number}", f"http://h{host}.test/{number}")
    assert len(refusals) <= 10_000
    assert len(refusals.kept("h99.test")) == SHELVES
    for length in (10, 1000):
        for number in range(300):
            refusals.add(f"l{length}.test", "/N", f"{number:0{length}}")
    assert len(refusals.kept("l10.test")) == KEPT
    assert 10_000 <= sum(len(key) for _, key in refusals.kept("l1000.test")) <= KEPT_OCTETS
    assert refusals.kept("l1000.test")[-1][1] == f"{299:01000}"


def test_a_later_owner_brings_back_what_an_earlier_one_refused() -> None:
    urls, first, later = Urls(), Traps(), Traps()
    pages = [urls.parse(f"http://a.test/cal?m={number}") for number in range(64)]
    for number, page in enumerate(pages[:60]):
        assert page is not None
        first.learn(page, text=f"No events {number}", via=f"http://a.test/cal?m={number - 1}")
    refused, event = pages[60], pages[63]
    assert refused is not None and event is not None
    first.changes("a.test")
    first.set_aside(Ticket(refused.href, refused.key, "a.test", depth=9, via="http://a.test/cal?m=59", link="a"))
    learnt = first.changes("a.test")
    assert learnt is not None
    later.recall("a.test", learnt)
    later.learn(event, text="A concert!")
    assert later.returning("a.test") == [refused.key]


@pytest.mark.parametrize(("share", "most_left"), [(100, 0), (30, 0), (0, 1000)])
def test_pages_behind_a_wall_are_all_fetched_once_it_is_gone(share: int, most_left: int) -> None:
    """Every page says the same and leads on, until another host's last page leads to one that says something new; then
    so many of a hundred do. Else no more than trials come back."""
    gone = False

    def site(url: str) -> Answer:
        nonlocal gone
        parts = urlsplit(url)
        if parts.hostname == "b.test":
            return "another host", ["http://a.test/p/1000000007/0"]
        number = int(parts.path.split("/")[2] if parts.path != "/" else 0)
        gone = gone or number == 1000000007
        if not number:
            return "start", ["/p/1/0", "http://b.test/"]
        if gone and (number == 1000000007 or number % 100 < share):
            return f"honest {chr(97 + number % 26) * (1 + number % 700)}", []
        return "the same", [f"/p/{number * 10 + step}/{step}" for step in range(1, 8)] if not gone else []

    crawled = crawl(site, "http://a.test/", 3000)
    refused = sum(crawled.refused.values())
    assert refused > 50
    assert refused - crawled.returned <= most_left
    if not share:
        assert crawled.returned == 8


def test_of_hosts_of_which_nothing_is_aside_nothing_is_remembered() -> None:
    refused = RefusedUrls()
    for number in range(100):
        host = f"h{number}.test"
        refused.add(host, "shape", f"http://{host}/1")
        refused.brought(host, ["shape"], f"http://{host}/new", fresh=True)
        assert refused.returning(host) == [f"http://{host}/1"]
        refused.came_back(host, [f"http://{host}/1"])
        refused.brought(host, ["shape"], f"http://{host}/1", fresh=False)
    assert len(refused) == len(refused._hosts) == 0
