"""Why a URL is fetched or not: by the same rules as those of the crawl."""

import pytest

from gregor.schemas.messages import RobotsRecord
from gregor.worker.commands.explain import lines_of
from gregor.worker.config.settings import Config
from gregor.worker.inspect.explain import Explanation, judge_robots
from gregor.worker.links.rank import ENDLESS_HOSTS, MEANINGS, NOTHING_NEW
from gregor.worker.robots.copies import in_force
from gregor.worker.web.urls import Urls

DAY, GOOD = 86_400.0, b"User-agent: *\nDisallow: /private"


@pytest.mark.parametrize(
    ("days", "path", "allows"),
    [(29.0, "/", True), (29.0, "/private", False), (30.5, "/", False), (30.5, "/private", False), (-1.0, "/", False)],
)
def test_an_old_copy_of_a_robots_txt_that_is_unreachable_counts_as_long_as_in_the_crawl(
    days: float, path: str, allows: bool
) -> None:
    url = Urls().parse(f"http://a.example{path}")
    assert url is not None
    now = 100 * DAY
    record = RobotsRecord(url.origin, "unreachable", now, now + 60.0, b"", 503, GOOD, now - days * DAY)
    view = judge_robots(record, url, Config(), now)
    assert view is not None
    assert view.allows == allows
    assert ("unreachable" in view.rule) == (in_force(record, now) is None) == (not 0.0 <= days <= 30.0)


@pytest.mark.parametrize(
    ("rule", "met", "command"), [(NOTHING_NEW, "a", "gregor recrawl"), (ENDLESS_HOSTS, None, "gregor seed")]
)
def test_what_a_trap_rule_means_is_said_with_the_command_that_lifts_it(
    rule: str, met: str | None, command: str
) -> None:
    url = "http://a.example/p/9"
    denied = Explanation(
        url=url, key=url, host="a.example", state="denied", rule=f"trap: {rule}", discovered_as=met, depth=3
    )
    said = "\n".join(lines_of(denied))
    assert MEANINGS[rule] in said
    assert command in said


@pytest.mark.parametrize(
    ("of_link", "said"),
    [
        (None, "worth 0.5 as opic reckons"),
        (0.5, "worth 0.5 as opic reckons: 0.5 by the link that it was found by"),
        (0.2, "worth 0.5 as opic reckons: 0.2 by the link that it was found by, +0.3 by further links and by waiting"),
    ],
)
def test_where_a_worth_came_from_is_said(of_link: float | None, said: str) -> None:
    found = Explanation(url="http://a/", key="http://a/", host="a", worth=0.5, worth_by="opic", worth_of_link=of_link)
    assert f"  {said}" in lines_of(found)
