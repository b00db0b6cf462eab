"""Filters and scorers: what they say of links and pages, and that what they cannot do costs their word alone."""

import asyncio
import textwrap
from pathlib import Path
from typing import Any

import pytest

from gregor.processing import Drop, Filter, FoundLink, PageFilter, Scorer
from gregor.worker.base.errors import BadInput
from gregor.worker.extract import plugins
from gregor.worker.extract.crawled import Extraction
from gregor.worker.extract.judges import Judges
from gregor.worker.extract.links import LinkRule
from gregor.worker.fetch.outcomes import Denied, Fetched
from gregor.worker.links.tickets import of_stored
from tests.unit.test_examine import URLS, examiner, response, ticket, url

START = url("http://host/")
HTML = b'<title>t</title><a href="/good">one</a><a href="/bad">two</a><a href="/odd">three</a><a href="http://o/">o</a>'
SITEMAP = (
    b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
    b"<url><loc>http://host/good</loc></url><url><loc>http://host/bad</loc></url></urlset>"
)


class Bad:
    def follow(self, link: FoundLink) -> bool:
        if "odd" in link.url:
            raise KeyError(link.url)
        return "bad" not in link.url


class Reasons:
    def follow(self, link: FoundLink) -> bool:
        if link.text == "one":
            raise Drop("nothing\nnew")
        return True


class ByWord:
    def score(self, link: FoundLink) -> Any:
        return {"one": 1, "two": 0.6, "three": "no number"}.get(link.text)


class Half:
    def score(self, link: FoundLink) -> float | None:
        return 0.5


class Long:
    def keep(self, document: object, extract: Any) -> bool:
        if extract.title == "breaks":
            raise ValueError
        if extract.title == "t":
            raise Drop("too short")
        return bool(extract.title != "none")


def extraction(**judges: Any) -> Extraction:
    return Extraction(judges=Judges(**judges))


def test_they_are_what_their_methods_say() -> None:
    assert isinstance(Bad(), Filter) and isinstance(ByWord(), Scorer) and isinstance(Long(), PageFilter)
    assert not isinstance(Bad(), Scorer | PageFilter)


def test_a_filter_turns_links_down_and_what_it_fails_on_is_followed_and_counted() -> None:
    reads = examiner(extraction=extraction(filters={"Bad": Bad(), "Reasons": Reasons()}))
    content = reads.examine(ticket(START), START, response(HTML))
    assert [(link.url, link.fate) for link in content.page.links] == [
        ("http://host/good", "filter Reasons: nothing\\nnew"),
        ("http://host/bad", "filter Bad"),
        ("http://host/odd", "sent"),
        ("http://o/", "scope: scope host"),
    ]
    assert [sent.href for sent in content.tickets] == ["http://host/odd"]
    lines = list(reads._stats.extracted.lines(iter(())))
    assert lines == ["filter Bad: it failed: KeyError: on 1 page, as at http://host/"]


@pytest.mark.parametrize(
    ("scorers", "priorities"),
    [
        ({"ByWord": ByWord()}, [(1, "scorer ByWord: 1.00"), (2, "scorer ByWord: 0.60"), (0, ""), (0, "")]),
        (
            {"ByWord": ByWord(), "Half": Half()},
            [(1, "scorer ByWord, Half: 0.75"), (2, "scorer ByWord, Half: 0.55"), (2, "scorer Half: 0.50"), (0, "")],
        ),
    ],
)
def test_scores_pick_the_front_queue(scorers: dict[str, Any], priorities: list[tuple[int, str]]) -> None:
    reads = examiner(extraction=extraction(scorers=scorers))
    content = reads.examine(ticket(START), START, response(HTML))
    assert [(link.priority, link.by) for link in content.page.links] == priorities
    assert [sent.priority for sent in content.tickets] == [priority or 2 for priority, _ in priorities[:3]]
    again = of_stored(content.page, ticket(START), URLS.parse, 1000.0)
    assert again == content.tickets, "after a crash the same tickets come of the stored page"
    (line,) = reads._stats.extracted.lines(iter(()))
    assert line == "scorer ByWord: it failed: ValueError: on 1 page, as at http://host/"


@pytest.mark.parametrize(("score", "queue"), [(9, 1), (0.75, 1), (0.5, 2), (0.25, 3), (0, 4), (-1, 4), (True, 1)])
def test_a_score_beyond_its_bounds_is_the_nearest_within(score: Any, queue: int) -> None:
    class Same:
        def score(self, link: FoundLink) -> float | None:
            return score  # type: ignore[no-any-return]

    content = examiner(extraction=extraction(scorers={"Same": Same()})).examine(ticket(START), START, response(HTML))
    assert {sent.priority for sent in content.tickets} == {queue}


def test_what_a_rule_says_of_a_link_goes_before_what_scorers_say() -> None:
    rule = LinkRule("mine", None, (), priority=3)
    what = Extraction(links=(rule,), judges=Judges(filters={"Bad": Bad()}, scorers={"ByWord": ByWord()}))
    content = examiner(extraction=what).examine(ticket(START), START, response(HTML))
    assert [(link.fate, link.priority, link.by) for link in content.page.links][:2] == [
        ("sent", 3, "links: mine"),
        ("filter Bad", 0, ""),
    ]


def test_links_that_are_too_deep_or_of_requisites_are_judged_for_when_they_are_followed() -> None:
    what = Extraction(
        links=(LinkRule("never", None, plugins_sources("a[href$=good]"), follow=False),),
        judges=Judges(filters={"Bad": Bad()}),
    )
    reads = examiner(extraction=what, max_depth=0)
    content = reads.examine(ticket(START), START, response(HTML))
    assert [link.fate for link in content.page.links][:3] == ["links: never", "filter Bad", "depth"]
    content.page.depth = 1
    assert [sent.href for sent in of_stored(content.page, ticket(START), URLS.parse, 1.0)] == ["http://host/odd"]


def plugins_sources(selector: str) -> Any:
    from gregor.worker.extract.selectors import CssSelector

    return (CssSelector(selector),)


def test_urls_of_sitemaps_and_targets_of_redirects_are_judged() -> None:
    scorer: Any = type("One", (), {"score": lambda self, link: 0.0 if link.kind == "url" else None})()
    reads = examiner(extraction=extraction(filters={"Bad": Bad()}, scorers={"One": scorer}), sitemaps=True)
    at = ticket(START, link="sitemap")
    content = reads.examine(at, START, response(SITEMAP, ("Content-Type", "application/xml")))
    assert [(link.fate, link.by) for link in content.page.links] == [("sent", "scorer One: 0.00"), ("filter Bad", "")]
    assert [(sent.href, sent.priority) for sent in content.tickets] == [("http://host/good", 4)]
    follow, link = reads.redirect(ticket(START), START, "/bad")
    assert follow == [] and link is not None and link.fate == "filter Bad"
    follow, link = reads.redirect(ticket(START), START, "/good")
    assert [sent.href for sent in follow] == ["http://host/good"]


@pytest.mark.parametrize(
    ("title", "rule"),
    [("t", "filter Long: too short"), ("none", "filter Long"), ("long", ""), ("breaks", "")],
)
def test_a_page_that_a_filter_refuses_is_not_kept_and_leads_on(title: str, rule: str) -> None:
    reads = examiner(extraction=extraction(page_filters={"Long": Long()}))
    answer = response(HTML.replace(b">t<", f">{title}<".encode()))
    examined = asyncio.run(reads.of(ticket(START), START, Fetched(answer)))
    assert len(examined.tickets) == 3
    assert (examined.page is None) is bool(rule)
    if rule:
        assert examined.outcome == Denied(rule, 200)
    lines = list(reads._stats.extracted.lines(iter(())))
    failure = "filter Long: it failed: ValueError: on 1 page, as at http://host/"
    assert lines == ([failure] if title == "breaks" else [])


def test_one_class_may_be_several_and_two_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        textwrap.dedent(
            """
            class Both:
                def follow(self, link): return True
                def score(self, link): return 1
                def keep(self, document, extract): return True
            class Named(Both):
                name = "Both"
            """
        )
    )
    both = f"{tmp_path}/mine.py:Both"
    judges = plugins.load([both], ()).judges
    assert [*judges.filters, *judges.page_filters, *judges.scorers] == ["Both"] * 3
    with pytest.raises(BadInput, match="there are two filters of the name 'Both'"):
        plugins.load([both, f"{tmp_path}/mine.py:Named"], ())


def test_entry_points_of_all_groups_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def none_of(group: str) -> list[Any]:
        asked.append(group)
        return []

    monkeypatch.setattr(plugins, "entry_points", none_of)
    plugins.load()
    assert asked == ["gregor.extractors", "gregor.pipelines", "gregor.filters", "gregor.scorers", "gregor.orderings"]
