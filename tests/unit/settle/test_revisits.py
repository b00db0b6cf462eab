"""When a page is visited again: bounds hold, observed changes and what sitemaps say move the interval the right way."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import Attempt, Page, Row, Ticket
from gregor.worker.config.check import check
from gregor.worker.config.settings import Config, ConfigError, replace
from gregor.worker.fetch.outcomes import Unchanged
from gregor.worker.frontier.tickets import is_stale
from gregor.worker.read.sitemaps.entries import CHANGE_FREQUENCIES, latest_change
from gregor.worker.settle.change_learning import ChangeLearning
from gregor.worker.settle.change_rate import ChangeRate
from gregor.worker.settle.revisits import Revisits, SitemapHint
from gregor.worker.settle.rows import settled_row
from gregor.worker.settle.verdicts import Policy, conclude, sitemap_news
from gregor.worker.settle.visited import Visited

NOW = 1_700_000_000.0
DAY = 86_400.0
HOURLY = Revisits(10 * DAY, 600.0, 400 * DAY, ChangeLearning(10 * DAY))
POLICY = Policy(retries=3, pause=1.0, longest=60.0, revisits=HOURLY, jitter=0.0)
TICKET = Ticket("http://h/", "http://h/", "h")

DATES = st.just(0.0) | st.floats(-1e9, 4e9)
SAID = st.builds(SitemapHint, DATES, st.sampled_from(["", *CHANGE_FREQUENCIES]))
FINDINGS = st.lists(st.tuples(st.floats(1.0, 1e7), st.booleans()), max_size=8)


def known_by(findings: list[tuple[float, bool]]) -> ChangeRate | None:
    known = None
    for after, changed in findings:
        known = (known or ChangeRate.expected(DAY)).visited(after, changed)
    return known


@st.composite
def revisits(draw: st.DrawFn) -> Revisits:
    shortest = draw(st.floats(1.0, 1e6))
    return Revisits(draw(st.floats(1.0, 1e7)), shortest, shortest * draw(st.floats(1.0, 1e4)))


def row(visited: float, due: float = 0.0, **fields: object) -> Row:
    attempts = (Attempt(visited, "fetched", 200),)
    return Row("http://h/", "http://h/", "h", 1, "fetched", "fetched", due=due, attempts=attempts, **fields)  # type: ignore[arg-type]


@given(revisits(), FINDINGS, SAID, st.floats(0.0, 3e9), st.floats(0.0, 0.1))
def test_every_interval_is_within_the_bounds(
    policy: Revisits, findings: list[tuple[float, bool]], said: SitemapHint, fetched: float, spread: float
) -> None:
    interval = policy.interval(known_by(findings), said, fetched, spread)
    assert policy.shortest <= interval <= policy.longest * (1.0 + 1e-9)


def test_what_does_not_change_is_visited_ever_more_rarely_and_what_does_more_often() -> None:
    rare, often, now = row(NOW), row(NOW), NOW
    intervals = dict[str, list[float]](rare=[], often=[])
    for _ in range(6):
        now += 10 * DAY
        for name, changed in (("rare", False), ("often", True)):
            known = rare if name == "rare" else often
            after = HOURLY.learn(known, SitemapHint(), changed, now)
            counts = {"changed": 1} if changed else {"unchanged": 1}
            renewed = row(now, rate=after.octets, **counts)
            intervals[name].append(HOURLY.interval(after, SitemapHint(), now))
            rare, often = (renewed, often) if name == "rare" else (rare, renewed)
    assert intervals["rare"] == sorted(intervals["rare"])
    assert intervals["rare"][-1] > 2 * intervals["often"][0]
    assert intervals["often"][0] < intervals["rare"][0]
    assert intervals["often"][-1] <= HOURLY.first, "though it may never be fresh, it leads to what is new"


def test_rows_of_before_are_read_by_their_counts() -> None:
    quiet = row(NOW, first_seen=NOW - 90 * DAY, unchanged=9)
    busy = row(NOW, first_seen=NOW - 90 * DAY, changed=5, unchanged=4)
    known = [HOURLY.known_of(msgspec.structs.replace(old, visits=10)) for old in (quiet, busy)]
    assert known[0] is not None
    assert known[1] is not None
    assert known[0].mean < known[1].mean
    assert HOURLY.known_of(row(NOW)) is None
    assert HOURLY.known_of(row(NOW, unchanged=1, rate=b"damaged")) is not None


def test_a_page_that_is_gone_is_looked_for_ever_more_rarely() -> None:
    waits = [HOURLY.gone_for(row(NOW, gone_since=NOW - age * DAY), NOW) for age in (1, 20, 40, 4000)]
    assert waits == [10 * DAY, 20 * DAY, 40 * DAY, 400 * DAY]


def test_words_that_are_wrong_as_a_rule_are_taken_for_hints_only() -> None:
    policy = Revisits(10 * DAY, 600.0, 400 * DAY, ChangeLearning(10 * DAY))
    told = row(NOW - DAY, NOW + 9 * DAY)
    assert policy.owed(told, SitemapHint(NOW - 10.0), NOW) == NOW
    for _ in range(30):
        policy.learning.learn(None, DAY, changed=False, words=1)
    due = policy.owed(told, SitemapHint(NOW - 10.0), NOW)
    assert due is None or due > NOW


@pytest.mark.parametrize(
    ("word", "interval"),
    [
        ("always", 600.0),
        ("hourly", 3600.0),
        ("daily", DAY),
        ("weekly", 7 * DAY),
        ("monthly", 30 * DAY),
        ("yearly", 365 * DAY),
        ("never", 400 * DAY),
        ("", 10 * DAY),
    ],
)
def test_the_stated_frequency_is_where_it_begins(word: str, interval: float) -> None:
    assert HOURLY.interval(None, SitemapHint(0.0, word), NOW) == interval


def test_what_changed_long_ago_is_less_urgent() -> None:
    intervals = [HOURLY.interval(None, SitemapHint(NOW - age * DAY), NOW) for age in (1, 100, 200, 1000, 100_000)]
    assert intervals == [10 * DAY, 10 * DAY, 20 * DAY, 100 * DAY, 400 * DAY]


@given(SAID, st.floats(0.0, 2 * NOW), st.just(0.0) | st.floats(0.0, 2 * NOW), revisits())
def test_what_is_heard_never_makes_a_visit_later_nor_too_early(
    said: SitemapHint, visited: float, due: float, policy: Revisits
) -> None:
    sooner = policy.owed(row(visited, due), said, NOW)
    if sooner is not None:
        assert sooner >= max(NOW, visited + policy.shortest)
        assert not due or sooner < due


@pytest.mark.parametrize(
    ("lastmod", "changefreq", "expected"),
    [
        (NOW - 10.0, "", NOW),  # it changed after our visit
        (NOW - 2 * DAY, "", None),  # before it
        (NOW + 30 * DAY, "", None),  # no date of a change
        (NOW - 2 * DAY, "daily", NOW),
        (NOW - 2 * DAY, "weekly", NOW + 6 * DAY),
        (NOW - 2 * DAY, "yearly", None),
        (0.0, "always", NOW),
    ],
)
def test_news_of_a_page_that_was_visited_a_day_ago(lastmod: float, changefreq: str, expected: float | None) -> None:
    assert HOURLY.owed(row(NOW - DAY, NOW + 9 * DAY), SitemapHint(lastmod, changefreq), NOW) == expected


def test_a_page_that_is_gone_is_not_looked_for_sooner_for_a_sitemap_that_lists_it_still() -> None:
    gone = msgspec.structs.replace(row(NOW - DAY, NOW + 9 * DAY, page=1), state="gone", gone_since=NOW - 9 * DAY)
    assert HOURLY.owed(gone, SitemapHint(NOW - 2 * DAY, "always"), NOW) is None
    assert HOURLY.owed(gone, SitemapHint(NOW - 10.0), NOW) == NOW


def test_a_change_is_not_looked_at_within_the_shortest_interval() -> None:
    assert HOURLY.owed(row(NOW - 60.0, NOW + DAY), SitemapHint(NOW - 1.0), NOW) == NOW + 540.0


def test_a_stale_ticket_with_news_makes_a_revisit_that_is_valid_and_its_row_remembers() -> None:
    known = row(NOW - DAY, NOW + 9 * DAY, page=1)
    ticket = Ticket("http://h/", "http://h/", "h", link="url", lastmod=NOW - 5.0, changefreq="daily")
    assert is_stale(ticket, known)
    news = sitemap_news(ticket, known, POLICY, NOW)
    assert news is not None
    remembered, again = news
    assert again is not None
    assert (again.kind, again.visit, again.lastmod, again.link) == ("revisit", 1, 0.0, "seed")
    assert not is_stale(again, remembered)
    assert (remembered.due, remembered.lastmod, remembered.changefreq) == (NOW, NOW - 5.0, "daily")
    assert sitemap_news(ticket, remembered, POLICY, NOW) is None, "the same news again is none"
    stored = Page("http://h/", "http://h/", "h", 1, "new", 200, NOW, etag="1")
    visited = Visited(again, remembered, Unchanged(), stored=stored)
    verdict = conclude(visited, POLICY, 0, NOW, random.Random(1))
    after = settled_row(visited, verdict, NOW, "w")
    assert (after.lastmod, after.changefreq) == (NOW - 5.0, "daily")
    assert after.due - NOW < HOURLY.first, "the next interval begins with what the sitemap said"
    assert HOURLY.known_of(after) == ChangeRate.read(after.rate)


@pytest.mark.parametrize("state", ["redirected", "denied", "dead", "refused", "waiting"])
def test_news_of_a_url_without_a_page_is_no_reason_to_ask(state: str) -> None:
    known = Row("http://h/", "http://h/", "h", 1, state, state, attempts=(Attempt(NOW - DAY, state),))  # type: ignore[arg-type]
    assert sitemap_news(Ticket("http://h/", "http://h/", "h", lastmod=NOW - 1.0), known, POLICY, NOW) is None


@pytest.mark.parametrize(("bounds", "wrong"), [((None, None), False), ((50.0, None), False), ((100.0, 50.0), True)])
def test_bounds_that_contradict_each_other_are_refused(bounds: tuple[float | None, float | None], wrong: bool) -> None:
    config = replace(Config(), revisit=100.0, revisit_min=bounds[0], revisit_max=bounds[1])
    if not wrong:
        check(config)
        return
    with pytest.raises(ConfigError, match="revisit_min"):
        check(config)


TODAY = NOW - NOW % DAY


@pytest.mark.parametrize(
    ("stated", "counts"),
    [
        (None, 0.0),
        (TODAY, TODAY),  # the day is not over
        (TODAY - DAY, TODAY),
        (TODAY - 9 * DAY, TODAY - 8 * DAY),
        (TODAY - DAY + 60.0, TODAY - DAY + 60.0),  # a time of day
        (TODAY + 9 * DAY, TODAY + 9 * DAY),
    ],
)
def test_a_mere_day_ends_with_its_last_moment(stated: float | None, counts: float) -> None:
    assert latest_change(stated, NOW) == counts
