"""What is kept of a robots.txt over many answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import RobotsRecord, decode, encode
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Response, Truncation
from gregor.worker.config.settings import Config
from gregor.worker.robots.answers import (
    NOT_WHOLE,
    Came,
    Elsewhere,
    NoFile,
    RobotsAnswer,
    Unreachable,
    meaning,
    of_response,
)
from gregor.worker.robots.copies import KEPT, KEPT_BYTES, copies, holds, in_force, recorded

ORIGIN, CONFIG = "http://a.example", Config()
DAY = 86400.0
BODY = b"User-agent: *"


def meant(status: int, body: bytes) -> Came | NoFile | Unreachable:
    """What an answer means; a status of 0 is none."""
    answer = meaning(status, {}, f"{ORIGIN}/robots.txt")
    assert not isinstance(answer, Elsewhere)
    return Came(status, body) if isinstance(answer, Came) else answer


def after(*answers: tuple[int, bytes]) -> RobotsRecord:
    """The record after answers that came a day apart."""
    record: RobotsRecord | None = None
    for day, (status, body) in enumerate(answers, 1):
        record = recorded(ORIGIN, meant(status, body), {}, record, day * DAY, CONFIG)
    assert record is not None
    return decode(encode(record), RobotsRecord)


def test_answers_in_a_row_that_mean_the_same_are_one_copy() -> None:
    record = after((200, b"a"), (200, b"a"), (503, b""), (200, b"b"), (404, b""), (410, b"x"), (200, b"a"))
    told = [(one.since / DAY, one.until / DAY, one.text) for one in copies(record)]
    assert told == [(1, 3, b"a"), (4, 4, b"b"), (5, 6, b""), (7, 7, b"a")]
    assert {one.agent for one in copies(record)} == {CONFIG.user_agent}


def test_without_a_good_copy_an_unreachable_file_allows_nothing() -> None:
    assert [one.text for one in copies(after((503, b""), (0, b""), (200, b"a")))] == [None, b"a"]
    record = after((200, b"a"), (503, b""))
    assert in_force(record, 3 * DAY) == b"a"
    assert in_force(record, 40 * DAY) is None


@pytest.mark.parametrize(("stated", "life"), [("max-age=100", 100.0), ("max-age=86400", 500.0), ("max-age=0", 60.0)])
def test_a_file_holds_as_long_as_it_says_within_bounds(stated: str, life: float) -> None:
    config = Config(robots_ttl=500.0)
    for answer in (Came(200, BODY), NoFile(404)):
        record = recorded(ORIGIN, answer, {"cache-control": stated}, None, DAY, config)
        assert record.expires == DAY + life


def test_another_agent_asks_anew() -> None:
    record = after((200, b"a"))
    assert holds(record, CONFIG.user_agent, DAY + 1)
    assert not holds(record, "other/1.0", DAY + 1)
    assert not holds(record, CONFIG.user_agent, 3 * DAY)


def test_a_record_of_an_older_version_is_its_only_copy() -> None:
    old = RobotsRecord(ORIGIN, "parsed", 5.0, 9.0, b"a", 200)
    assert [(one.since, one.until, one.text) for one in copies(old)] == [(5.0, 5.0, b"a")]
    assert holds(old, "anyone", 6.0)


@given(st.lists(st.integers(0, 200_000), max_size=40))
def test_history_is_bounded_and_its_newest_part_is_kept(sizes: list[int]) -> None:
    answers = [(200, bytes([number + 1]) * size) for number, size in enumerate([*sizes, 1])]
    kept = copies(after(*answers))
    assert len(kept) <= KEPT + 1
    assert sum(len(one.text or b"") for one in kept[:-1]) <= KEPT_BYTES
    texts: list[bytes] = []
    for _, body in answers:
        texts += [body] if not texts or texts[-1] != body else []
    assert [one.text for one in kept] == texts[-len(kept) :]


@pytest.mark.parametrize(
    ("status", "truncated", "counts"),
    [
        (200, None, Came(200, BODY)),
        (200, "size", Came(200, BODY)),
        (200, "cut", NOT_WHOLE),
        (200, "time", NOT_WHOLE),
        (200, "length", NOT_WHOLE),
        (206, None, Came(206, BODY)),
        (206, "length", NOT_WHOLE),
        (404, "cut", NoFile(404)),
        (503, None, Unreachable("status 503", 503)),
    ],
)
def test_a_file_that_is_not_whole_is_none(status: int, truncated: Truncation | None, counts: RobotsAnswer) -> None:
    body = SpooledBody(cap=100)
    body.write(BODY)
    response = Response(status, "", [], "HTTP/1.1", body, None, b"", b"", "", 0.0, 0.0, truncated)
    assert of_response(response, {}, f"{ORIGIN}/robots.txt", 0, 5) == counts
