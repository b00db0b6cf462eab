"""The sequences that broke other designs, each scripted with the production runtime. Numbers are those of the protocol.

Where the moment of a fault matters, it is tried at one call after the other: the window of a sequence is among them.
"""

from typing import Any

import pytest

from tests.simulation.check_requests import polite
from tests.simulation.faults import Fault
from tests.simulation.resources import Redirect, Resource, Status, Vanishing
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import HOST, OTHER, chain, crawl, flaky, page, requests, row, site, star
from tests.simulation.web import FOREVER, RobotsPhase, Web

CALLS = range(1, 7)
DEAD = "dead.site.example"
STOPPED = 15.0
"""Seconds beyond a session's time-out."""


def test_1_a_retry_is_added_to_a_bucket_that_is_being_read() -> None:
    many = {f"f{number}": flaky(500, 500, 500) for number in range(4)}
    sites = [site(star(3, **many) | {"/far": page("far")}), site(star(0, **many), OTHER)]
    sites[0].resources["/p0"] = page("bridge", f"http://{OTHER}/")
    run = crawl(sites, bucket_width=10.0, retry_pause=0.5, delay=0.2, partitions=1)
    assert all(row(run, f"/f{number}", host).visits == 4 for number in range(4) for host in (HOST, OTHER))


@pytest.mark.parametrize("n", [1, 2])
def test_1_a_retry_is_written_when_its_bucket_was_read_long_ago(n: int) -> None:
    retried = star(2, f0=flaky(500, 500), f1=flaky(500))
    crawl([site(retried)], Fault("cut", "store", "put_entries", n, seconds=20.0), partitions=1)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_2_a_bucket_is_read_and_the_worker_dies(n: int) -> None:
    run = crawl(
        [site(star(2, f0=flaky(500, 500), f1=flaky(500)))],
        Fault("die", "store", "read_bucket", n, "after"),
        Fault("die", "store", "drop_bucket", n, "before"),
    )
    assert row(run, "/f0").state == row(run, "/f1").state == "fetched"


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("op", ["put_entries", "put_host", "put_rows"])
def test_3_a_retry_is_written_and_the_worker_dies_before_its_record_is_finished(op: str, n: int) -> None:
    run = crawl([site(star(2, busy=flaky(503, 503, 503, after=40.0)))], Fault("die", "store", op, n, "after"))
    assert len(requests(run, "/busy")) <= 5


def test_4_a_revisit_is_made_though_its_url_was_seen() -> None:
    run = crawl([site(star(2))], revisit=20.0, max_time=150.0)
    assert len(requests(run, "/p0")) >= 3
    assert row(run, "/p0").visits >= 3


@pytest.mark.parametrize("n", CALLS)
@pytest.mark.parametrize("kind", ["fail", "pause", "lost", "cut"])
def test_5_a_link_whose_publish_failed_is_not_taken_for_sent(kind: Any, n: int) -> None:
    crawl([site(chain(8))], Fault(kind, "log", "publish", n, seconds=STOPPED))


@pytest.mark.parametrize("n", CALLS)
def test_6_the_seen_set_forgets_finished_urls(n: int) -> None:
    ring: dict[str, Resource] = {f"/r{k}": page(f"r{k}x", *(f"/r{j}" for j in range(6) if j != k)) for k in range(6)}
    run = crawl([site({"/": page("first", "/r0"), **ring})], Fault("forget", "seen", "seen", n, seconds=1000.0),
                recently_sent=0)  # fmt: skip
    assert all(len(requests(run, f"/r{number}")) == 1 for number in range(6))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_7_two_records_of_one_url_and_a_worker_that_commits_its_old_view(n: int) -> None:
    twice: dict[str, Resource] = {
        "/a": page("a", "/x", "/y"), "/b": page("b", "/y", "/x"), "/x": page("x"), "/y": page("y"),
    }  # fmt: skip
    crawl(
        [site({"/": page("first", "/a", "/b"), **twice})],
        Fault("pause", "log", "commit", n, seconds=STOPPED, worker="a"),
        Fault("forget", "coordinator", "acquire", 3, seconds=1000.0),
        Fault("die", "coordinator", "ping", n + 6, worker="a"),
        workers=2,
        recently_sent=0,
        partitions=1,
    )


@pytest.mark.parametrize("n", [1, 2])
def test_8_an_entry_follows_a_ticket_that_moves_to_the_calendar_itself(n: int) -> None:
    run = crawl(
        [site(star(1, busy=flaky(503, 503, 503, after=8.0)))],
        Fault("die", "store", "put_entries", n, "after"),
        Fault("die", "store", "put_entries", n + 1, "after"),
    )
    assert row(run, "/busy").state == "fetched"


@pytest.mark.parametrize("n", range(1, 6))
def test_9_a_late_row_does_not_overwrite_a_newer_one(n: int) -> None:
    run = crawl(
        [site(star(1, f=flaky(500, 500)))],
        Fault("late", "store", "put_rows", n, seconds=60.0),
        Fault("die", "store", "put_rows", n + 1),
    )
    assert row(run, "/f").state == "fetched"


@pytest.mark.parametrize("n", range(1, 6))
def test_10_a_ticket_is_there_before_its_predecessors_row(n: int) -> None:
    run = crawl(
        [site(star(1, f=flaky(500, 500)))],
        Fault("late", "store", "put_rows", n, seconds=25.0),
        Fault("pause", "store", "put_rows", n + 1, seconds=STOPPED),
        workers=2,
    )
    assert row(run, "/f").state == "fetched"


@pytest.mark.parametrize(
    ("service", "op", "n"),
    [
        *(("store", "put_chunk", n) for n in (1, 2, 3)),
        *(("seen", "mark", n) for n in CALLS),
        ("store", "put_entries", 1),
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_11_an_overflow_is_cut_short(service: str, op: str, n: int, when: Any) -> None:
    run = crawl([site(star(14))], Fault("die", service, op, n, when), queue_size=2, queue_low=1, chunk_size=4)
    assert row(run, "/p13").state == "fetched"


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("seconds", [25.0, 45.0])
@pytest.mark.parametrize("op", ["put_entries", "put_chunk"])
def test_what_an_earlier_owner_wrote_comes_after_the_takeover(op: str, seconds: float, n: int) -> None:
    """It failed for its writer, who died before he could repeat it; whoever comes after has read what was there."""
    crawl(
        [site(star(30, f0=flaky(500, 500, 500), f1=flaky(500, 500, 500, 500)))],
        Fault("late", "store", op, n, seconds=seconds),
        Fault("die", "store", op, n + 1),
        queue_size=2,
        queue_low=1,
        chunk_size=4,
        partitions=1,
    )


@pytest.mark.parametrize("n", CALLS)
@pytest.mark.parametrize(("service", "op", "when"), [("log", "publish", "before"), ("store", "put_page", "after")])
def test_12_a_page_is_stored_and_gone_before_its_links_are_published(service: str, op: str, when: Any, n: int) -> None:
    vanishing = {f"v{number}": Vanishing(page(f"v{number}x", f"/w{number}")) for number in range(4)}
    resources = star(0, **vanishing) | {f"/w{number}": page(f"w{number}x") for number in range(4)}
    run = scripted(Web([site(resources)]), [Fault("die", service, op, n, when)])()
    stored = [number for number in range(4) if run.world.store.newest_page(f"http://{HOST}/v{number}") is not None]
    assert len(stored) >= 3  # one may have been in flight, unstored, and is gone at the second request
    assert all(row(run, f"/v{number}").state == row(run, f"/w{number}").state == "fetched" for number in stored)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("service", "op"), [("seen", "claim"), ("store", "put_page"), ("seen", "content")])
def test_13_a_content_is_claimed_around_a_crash(service: str, op: str, when: Any, n: int) -> None:
    same = page("same", "/")
    run = crawl([site(star(1, a=same, b=same, c=same))], Fault("die", service, op, n, when))
    store = run.world.store
    for path in ("/a", "/b", "/c"):
        stored = store.newest_page(f"http://{HOST}{path}")
        assert stored is not None
        if stored.state == "duplicate":
            assert store.newest_page(stored.duplicate_of) is not None


def test_14_a_url_first_met_where_it_may_not_be_followed() -> None:
    deep: dict[str, Resource] = {
        "/": page("first", "/a", f"http://{OTHER}/"),
        "/a": page("a", "/b"),
        "/b": page("b", "/x"),  # one link too deep
        "/x": page("x"),
        "/r1": Redirect(302, "/r2"),
        "/r2": Redirect(302, "/y"),  # one hop too far
        "/y": page("y"),
    }
    deep["/"] = page("first", "/a", "/r1", f"http://{OTHER}/")
    slow = site({"/": page("slow", f"http://{HOST}/x", f"http://{HOST}/y")}, OTHER, robots=(RobotsPhase(30.0, 503),))
    run = crawl([site(deep), slow], max_depth=2, max_redirects=1)
    assert row(run, "/x").depth == 2
    assert row(run, "/y").state == "fetched"


def test_a_page_first_met_on_a_longer_way_is_followed_from_its_shorter_way_too() -> None:
    """With the shorter way found later: by a slow page, of another host, after the long one was settled."""
    web: dict[str, Resource] = {
        "/": page("first", "/a", f"http://{OTHER}/"),
        "/a": page("a", "/b"),
        "/b": page("b", "/moved"),
        "/moved": Redirect(302, "/x"),  # at depth 3 on this way, at 2 by the slow host
        "/x": page("x", "/y"),
        "/y": page("y", "/z"),  # one link too deep on the long way
        "/z": page("z", "/end"),
        "/end": page("end"),
    }
    slow = site({"/": page("slow", f"http://{HOST}/moved")}, OTHER, robots=(RobotsPhase(30.0, 503),))
    run = crawl([site(web), slow], max_depth=4)
    assert [row(run, path).depth for path in ("/a", "/b", "/moved", "/x", "/y", "/z")] == [1, 2, 2, 2, 3, 4]
    assert all(len(requests(run, path)) == 1 for path in web if path != "/end"), "nothing is fetched again for that"
    assert not requests(run, "/end")


def test_15_a_slow_host_does_not_hold_up_its_partition() -> None:
    paths = [(f"http://{OTHER}/p{number}", f"/p{number}") for number in range(40)]
    resources = star(40)
    resources["/"] = page("first", *(link for both in paths for link in both))
    slow = site({f"/p{number}": page(f"slow{number}x") for number in range(40)}, OTHER, crawl_delay=50.0)
    run = crawl([site(resources), slow], partitions=1, window=16, queue_size=64, delay=0.5)
    assert max(exchange.start for exchange in run.web.log if exchange.host == HOST) < 80.0
    assert len(requests(run, "/p39", OTHER)) == 1


def test_16_an_overflow_has_no_appointment_at_a_slow_delay() -> None:
    host = site(star(40), slow_until=60.0, slowness=5.0)
    run = crawl([host], queue_size=2, queue_low=1, delay_factor=8.0, delay=0.5, retry_pause=1.0)
    assert run.ended < 60.0 + 45.0 + 40 * 1.2 + 20.0


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("kind", ["die", "pause"])
def test_17_a_takeover_keeps_what_a_host_asked_for(kind: Any, n: int) -> None:
    slow = site(star(3), OTHER, crawl_delay=20.0)
    busy = site(star(3, busy=flaky(429, after=50.0)) | {"/": page("first", f"http://{OTHER}/", "/busy", "/p0", "/p1")})
    crawl([busy, slow], Fault(kind, "web", "fetch", n, "after", seconds=STOPPED), workers=2)


@pytest.mark.parametrize("n", range(3, 7))
def test_17_a_takeover_keeps_the_last_good_robots_txt(n: int) -> None:
    host = site(star(8, secret=page("secret")), disallowed=("/secret",))
    host.robots = (RobotsPhase(6.0, host.robots_file()), RobotsPhase(FOREVER, 500))
    run = crawl([host], Fault("die", "web", "fetch", n), robots_ttl=5.0)
    assert row(run, "/secret").state == "denied"


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
@pytest.mark.parametrize("n", [1, 2])
def test_18_the_wall_clock_jumps(n: int, seconds: float) -> None:
    run = crawl(
        [site(star(3, busy=flaky(503, 503, after=30.0)))],
        Fault("jump", "store", "put_entries", n, seconds=seconds),
        Fault("jump", "web", "fetch", n, seconds=seconds),
    )
    assert row(run, "/busy").visits == 3


@pytest.mark.parametrize("n", CALLS)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("seconds", [9.0, STOPPED, 60.0])
def test_19_a_worker_is_stopped_around_its_request(seconds: float, when: Any, n: int) -> None:
    crawl([site(star(6))], Fault("pause", "web", "fetch", n, when, seconds=seconds), workers=2)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_19_a_session_is_replaced_inside_the_process(n: int) -> None:
    run = crawl([site(star(30))], Fault("cut", "coordinator", "ping", n, seconds=25.0, way="requests"))
    assert len({change.epoch for change in run.world.zookeeper.history if change.gained}) > 1


@pytest.mark.parametrize("n", range(1, 12))
@pytest.mark.parametrize("kind", ["fail", "lost", "late"])
def test_19_a_lease_comes_back_and_its_release_goes_wrong(kind: Any, n: int) -> None:
    crawl(
        [site(star(8, busy=flaky(503, 503, after=20.0)))],
        Fault("pause", "web", "fetch", n, "after", seconds=9.0),
        Fault(kind, "coordinator", "release", 1, seconds=3.0),
        partitions=1,
    )


@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("kind", ["lost", "late"])
@pytest.mark.parametrize("op", ["acquire", "release"])
def test_19_an_answer_about_a_partition_is_lost_while_owners_change(op: str, kind: Any, n: int) -> None:
    """Whoever owns it without knowing lets it go, also when it should be another's by now."""
    crawl([site(star(8))], Fault("start", "coordinator", "ping", 1), Fault(kind, "coordinator", op, n, seconds=4.0))


def test_19_what_was_asked_of_zookeeper_arrives_after_the_session() -> None:
    """The worker is dead by then: nothing is done, and nobody hears of it."""
    late, die = Fault("late", "coordinator", "acquire", 1, seconds=20.0), Fault("die", "seen", "content", 1, "after")
    run = crawl([site(star(40))], late, die)
    assert run.ended > 20.0


@pytest.mark.parametrize("answer", [503, 429, 500, None])
def test_20_a_robots_txt_that_is_unreachable_for_a_while_denies_nothing(answer: int | None) -> None:
    run = crawl([site(star(5), robots=(RobotsPhase(100.0, answer),))])
    assert row(run, "/p4").state == "fetched"


@pytest.mark.parametrize("location", [f"http://{HOST}/elsewhere.txt", f"http://{OTHER}/robots.txt", f"http://{DEAD}/"])
def test_20_a_robots_txt_that_leads_to_one_that_is_unreachable_for_ever_ends(location: str) -> None:
    here = site(star(2, **{"elsewhere.txt": Status(500)}), robots=(RobotsPhase(FOREVER, location),))
    there = site({"/": page("there")}, OTHER, robots=(RobotsPhase(FOREVER, 500),))
    dead = site({}, DEAD)
    dead.dead_until = FOREVER
    run = scripted(Web([here, there, dead]), [], settings=config())()
    assert run.finished
    assert not [*run.failures, *polite(run)]
    assert row(run, "/").state == "dead"
    assert not requests(run, "/")
    assert len(requests(run, "/robots.txt")) == 6, "as often as one that does not answer itself"


@pytest.mark.parametrize("later", [None, 500])
def test_20_a_delay_longer_than_the_life_of_a_robots_txt_keeps_nobody_from_its_pages(later: int | None) -> None:
    host = site(star(2))
    host.robots = (RobotsPhase(15.0, host.robots_file()), RobotsPhase(FOREVER, later)) if later else ()
    run = scripted(Web([host]), [], settings=config(delay=10.0, robots_ttl=5.0, retry_pause=5.0))()
    assert run.finished
    assert not [*run.failures, *polite(run)]
    assert {row(run, path).state for path in ("/", "/p0", "/p1")} == {"fetched"}
    assert len(requests(run, "/robots.txt")) == 3, "each page is asked for by a file that was fetched for it"


def test_20_the_answer_of_another_host_holds_for_the_page_that_waits_for_it() -> None:
    here = site(star(2), robots=(RobotsPhase(FOREVER, f"http://{OTHER}/robots.txt"),))
    run = scripted(Web([here, site({}, OTHER)]), [], settings=config(delay=10.0, robots_ttl=5.0))()
    assert run.finished
    assert not [*run.failures, *polite(run)]
    assert {row(run, path).state for path in ("/", "/p0", "/p1")} == {"fetched"}
    assert len(requests(run, "/robots.txt")) == len(requests(run, "/robots.txt", OTHER)) == 3


@pytest.mark.parametrize("n", range(1, 5))
@pytest.mark.parametrize("kind", ["late", "lost", "fail"])
def test_21_records_are_deleted_and_a_late_commit_sets_the_watermark_back(kind: Any, n: int) -> None:
    crawl(
        [site(chain(12))],
        Fault(kind, "log", "commit", n, seconds=9.0),
        Fault("die", "log", "commit", n + 3, "after"),
        Fault("die", "log", "read", 30),
    )
