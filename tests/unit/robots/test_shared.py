"""One answer for all who asked for the same file before it came."""

from gregor.schemas.messages import Ticket
from gregor.worker.links import tickets
from gregor.worker.robots.answers import Came
from gregor.worker.robots.shared import KEPT, KEPT_BYTES, Reply, SharedAnswers
from gregor.worker.web.urls import Urls

URLS = Urls()


def asking(path: str = "/robots.txt", at: float = 10.0, hops: int = 1) -> Ticket:
    url = URLS.parse(f"http://hub.example{path}")
    assert url is not None
    return tickets.of_robots(url, "http://a.example", hops, at)


def test_an_answer_is_for_those_who_asked_before_it_came() -> None:
    shared, reply = SharedAnswers(), Reply(Came(200, b"x"))
    assert shared.since(asking()) is None
    shared.keep(asking(), reply, 20.0)
    heard = shared.since(asking(at=20.0))
    assert heard is not None
    assert (heard.result, heard.at) == (reply, 20.0)
    assert shared.since(asking(at=20.1)) is None, "older than the question"
    assert shared.since(asking("/other")) is None
    assert shared.since(asking(hops=2)) is None, "it may have come too far"


def test_what_is_kept_is_bounded_by_number_and_by_bytes() -> None:
    shared = SharedAnswers()
    for number in range(KEPT + 1):
        shared.keep(asking(f"/{number}"), Reply(Came(200)), 20.0)
    assert [shared.since(asking(f"/{number}")) is None for number in (0, 1)] == [True, False]
    half = Reply(Came(200, b"x" * (KEPT_BYTES // 2)))
    for at in (21.0, 22.0, 23.0):  # in each other's place
        shared.keep(asking("/1"), half, at)
    shared.keep(asking("/2"), half, 24.0)
    assert shared.since(asking("/1")) is not None
    shared.keep(asking("/3"), half, 25.0)
    assert [shared.since(asking(path)) is None for path in ("/1", "/2", "/3")] == [True, False, False]
