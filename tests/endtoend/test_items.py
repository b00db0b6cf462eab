"""Items while crawling: what a revisit says of them, what goes with a page, which links are weighed, and drift."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from gregor.worker.compose import stored_findings
from gregor.worker.compose.findings import Finding
from gregor.worker.config.settings import Config
from tests.endtoend.site import Here, Web
from tests.endtoend.test_folder_console import Ask, shown

RULES = """
[[item]]
name = "job"
match = "http://a.test/jobs"
each = "li"
id = "n"
[item.fields]
n = { css = "::attr(id)", required = true }
title = { css = "b" }
[[item]]
name = "page"
match = "http://a.test/*"
[item.fields]
title = { css = "h1", required = true }
[[links]]
name = "no filters"
select = "nav"
follow = false
"""


@pytest.fixture
def flags(web: Web) -> list[str]:
    (web.folder / "rules.toml").write_text(RULES)
    return [*web.flags, "--rules", str(web.folder / "rules.toml")]


def jobs(*lines: tuple[int, str]) -> str:
    return "<h1>Jobs</h1>" + "".join(f"<li id={number}><b>{title}</b>" for number, title in lines)


def items(web: Web, here: Here, rule: str) -> list[Any]:
    lines = here.said("export", "jsonl", "items", *web.flags[:2]).splitlines()
    told = [each for each in map(json.loads, lines) if each["rule"] == rule]
    return sorted([each["fields"]["title"], each["change"], *each["changed_fields"]] for each in told)


def test_what_a_revisit_says_and_what_becomes_of_items(web: Web, here: Here, flags: list[str]) -> None:
    nav = "<nav><a href=/never>f</a></nav>"
    web.page("a.test/", f"<h1>First</h1><a href=/jobs>j</a><a href=/b>b</a>{nav}", ETag='"one"')
    web.page("a.test/jobs", jobs((1, "one"), (2, "two"), (3, "three")))
    web.page("a.test/b", "<h1>B</h1>")
    report = here.report("http://a.test/", *flags)
    assert report["items"] == {"job": 3, "page": 3} and not report["items_lost"] and not report["drift"]
    assert items(web, here, "job") == [["one", "new"], ["three", "new"], ["two", "new"]]
    assert "a.test/never" not in web.paths()
    assert "links: no filters" in here.said("explain", "http://a.test/never", *web.flags[:2])

    web.page("a.test/jobs", jobs((4, "four"), (2, "TWO"), (1, "one")))
    web.page("a.test/b", status=410)
    here.said("recrawl", "--all", *web.flags[:2])
    assert here.report(*web.flags)["items"] == {"job": 3, "page": 1}, "the rules are kept with the crawl"
    assert items(web, here, "job") == [
        ["TWO", "changed", "title"],
        ["four", "new"],
        ["one", "unchanged"],
        ["three", "gone"],
    ]
    assert items(web, here, "page") == [["B", "gone"], ["First", "unchanged"], ["Jobs", "unchanged"]]

    web.page("a.test/jobs", "<h2>moved</h2>")
    here.said("recrawl", "http://a.test/jobs", *web.flags[:2])
    lost = here.report(*web.flags)["items_lost"]
    assert lost == ["page: title is missing: 1 item lost, as at http://a.test/jobs"]
    assert items(web, here, "page")[1:] == [["First", "unchanged"], ["Jobs", "lost"]]
    assert items(web, here, "job") == [["TWO", "gone"], ["four", "gone"], ["one", "gone"]]

    here.said("optout", "a.test", *web.flags[:2])
    assert items(web, here, "page") == []


def test_items_of_stored_pages_are_made_anew_and_put_into_the_store(web: Web, here: Here, flags: list[str]) -> None:
    web.page("a.test/jobs", jobs((1, "one"), (2, "two")))
    here.report("http://a.test/jobs", *web.flags)
    assert items(web, here, "job") == []
    web.paths()
    for words in ([], ["--processes", "2"]):
        assert here.said("extract", *flags[-2:], "--store", *words, *web.flags[:2]) == ""
        assert "3 items of 1 page" in here.err
        assert items(web, here, "job") == [["one", "new"], ["two", "new"]]
    assert items(web, here, "page") == [["Jobs", "new"]]
    other = web.folder / "other.toml"
    other.write_text(
        '[[item]]\nname = "job"\neach = "li"\nid = "n"\n[item.fields]\nn = "::attr(id)"\ntitle = {constant = "x"}'
    )
    here.said("extract", "--rules", str(other), "--store", *web.flags[:2])
    assert items(web, here, "job") == [["x", "new"], ["x", "new"]] and items(web, here, "page") == [["Jobs", "new"]]
    assert "--output" in here.said("extract", *flags[-2:], "--store", "-o", "x", *web.flags[:2], code=2)
    assert "no rules are given" in here.said("extract", *web.flags[:2], code=2)
    assert not web.paths(), "nothing is fetched"


def documented(folder: Path, page_name: str = "plugins.md") -> None:
    """The plug-ins of a page of the docs, each in the file that its first line names."""
    page = (Path(__file__).parents[2] / "docs" / page_name).read_text()
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", page, re.DOTALL):
        (folder / name).write_text(code)


def test_the_plug_ins_of_the_docs_judge_links_pages_and_items(
    web: Web, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(web.folder)
    documented(web.folder)
    words = "one two three four five six seven eight nine ten"
    links = "<a href=/short>s</a><a href=/x?print=1>p</a><a href=/offer>An offer</a>"
    web.page("a.test/", f"<p>{words}</p>{links}")
    web.page("a.test/short", "<a href=/list.csv>list</a>")
    web.page("a.test/offer", f"offer {words}")
    web.page("a.test/list.csv", "sku,price\n1,5\n2,0\n", **{"Content-Type": "text/csv"})  # type: ignore[arg-type]
    judges = ("filters.py:NoPrintViews", "filters.py:LongPages", "scorers.py:Offers")
    plugins = [word for name in (*judges, "tables.py:PriceLists", "checks.py:Prices") for word in ("--plugin", name)]
    pages = (web.folder / "filters.py").read_text()
    (web.folder / "filters.py").write_text(pages.replace("if len(", 'if document.content_type == "text/html" and len('))
    report = here.report("http://a.test/", *web.flags, *plugins)
    assert sorted(web.paths()) == ["a.test/", "a.test/list.csv", "a.test/offer", "a.test/short"]
    assert report["items"] == {"price list": 1}
    assert report["items_lost"] == [
        "price list: dropped by Prices: no price: 1 item lost, as at http://a.test/list.csv"
    ]

    def explained(path: str) -> str:
        return here.said("explain", f"http://a.test/{path}", *web.flags[:2])

    assert "denied (denied 200, filter LongPages: fewer than ten words)" in explained("short")
    assert "filter NoPrintViews" in explained("x?print=1")
    assert "front queue 1 by scorer Offers: 1.00" in explained("offer")
    assert "front queue" not in explained("list.csv")

    assert "made with plugins" in here.said("recrawl", "--all", "--now", *web.flags[:2], code=2)
    assert "there is no file none.py" in here.said(
        "recrawl", "--all", "--now", *web.flags[:2], "--plugin", "none.py:X", code=2
    )
    assert here.report(*web.flags, *plugins)["requests"] == 0, "nothing was asked for"
    here.said("recrawl", "http://a.test/list.csv", "--now", *web.flags[:2], *plugins)
    assert web.paths() == ["a.test/list.csv"]


@pytest.mark.parametrize(("kept", "code"), [("Two", 0), ("none", 1)])
def test_a_seed_that_is_not_kept_is_no_failure_where_it_leads_to_a_page_that_is(
    kept: str, code: int, web: Web, here: Here
) -> None:
    judge = web.folder / "judge.py"
    judge.write_text(
        f"class Titled:\n    def keep(self, document, extract):\n        return extract.title == {kept!r}\n"
    )
    web.page("a.test/", "<title>One</title><a href=/two>two</a>")
    web.page("a.test/two", "<title>Two</title>")
    report = here.report("http://a.test/", *web.flags, "--plugin", f"{judge}:Titled", code=code)
    assert report["requests"] == 3 and sorted(web.paths()) == ["a.test/", "a.test/two"]
    assert report["pages"] == (code == 0)


def found_by_doctor(web: Web, rules: str) -> list[Finding]:
    async def found() -> list[Finding]:
        config = Config(data=str(web.folder / "data"), rules=(rules,))
        return [finding async for finding in stored_findings.examine(config) if finding.what == "items"]

    return asyncio.run(found())


def test_a_site_that_changes_its_layout_is_told_of_for_as_long_as_it_lasts(
    web: Web, here: Here, flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is visited every few days; the third visit finds another layout, the last one has another rule."""
    places, now = [f"a.test/{number}" for number in range(30)], time.time

    def visited(day: int, element: str, *words: str) -> list[str]:
        monkeypatch.setattr(time, "time", lambda: now() + day * 86400)
        for number, place in enumerate(places):
            web.page(place, f"<{element}>Page {number} of its own</{element}><a href=/{number + 1}>next</a>")
        if day:
            here.said("recrawl", "--state", "fetched", *web.flags[:2])
        drift = here.report(*words, *web.flags)["drift"]
        assert isinstance(drift, list)
        return drift

    def warned() -> list[str]:
        told = [finding.text for finding in found_by_doctor(web, flags[-1]) if finding.level == "warn"]
        assert all(text.endswith("then `gregor extract --store`") for text in told)
        return [text.partition("; mend")[0] for text in told]

    assert not visited(0, "h1", "http://a.test/0", *flags[-2:]) and not visited(2, "h1") and not warned()
    for day in (4, 9, 14, 19):
        (drift,) = visited(day, "h2")
        assert drift.startswith("page: title is missing on ") and "before that on 0%: has the site changed?" in drift
        assert drift.count("http://a.test/") == 3
        assert warned() == [drift]

    async def shows(ask: Ask) -> None:
        (away,) = (await ask("GET", "status")).json()["now"]["drift"]
        assert (away["rule"], away["field"], away["text"]) == ("page", "title", drift) and len(away["examples"]) == 3

    asyncio.run(shown(web.folder / "data", shows))
    (web.folder / "rules.toml").write_text(RULES.replace('"page"', '"other"'))
    assert not visited(21, "h2") and not warned(), "there is no such rule any more"


def test_a_policy_of_the_docs_orders_what_is_fetched_and_costs_its_word_alone(
    web: Web, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(web.folder)
    documented(web.folder, "ordering.md")
    web.page("a.test/", "<a href=/a>old</a><a href=/b>of 2025</a><a href=/c>of 2026</a>")
    for name in "abc":
        web.page(f"a.test/{name}", f"page {name}")
    flags = [*web.flags, "--plugin", "order.py:Recent", "--set", "ordering=recent"]
    assert here.report("http://a.test/", *flags)["pages"] == 4
    assert web.paths()[:2] == ["a.test/", "a.test/c"]
    said = here.said("explain", "http://a.test/c", *web.flags[:2])
    assert "worth 3.01 as recent reckons: 3.01 by the link that it was found by" in said
    code = (web.folder / "order.py").read_text().replace("return 2.0 * (", 'return float("nan") * (')
    (web.folder / "order.py").write_text(code)
    web.page("b.test/", "<a href=/d>d</a>")
    web.page("b.test/d", "d")
    report = here.report("http://b.test/", *flags)
    assert report["pages"] == 2
    assert "ordering recent: it gave no finite number" in str(report["items_lost"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rules", "none.toml"], "cannot read none.toml"),
        (["--rules", "bad.toml"], "bad.toml, line 2: 'nam' means nothing here (did you mean name?)"),
        (["--rules", "twice.toml"], "twice.toml, line 6: there is a rule 'x' already"),
        (["--plugin", "none.py:X"], "there is no file none.py"),
        (["--plugin", "broken.py:X"], "broken.py:X, line 1 cannot be loaded: ZeroDivisionError"),
        (["--set", "ordering=rank"], "ordering 'rank' is no policy; there are depth, opic"),
        (["--plugin", "taxed.py:T", "--set", "ordering=T"], "plug-in T: tax wants a number from 0 to less than 1"),
    ],
)
def test_what_cannot_be_used_is_one_line_before_anything_is_fetched(
    words: list[str], said: str, web: Web, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(web.folder)
    Path("bad.toml").write_text('[[item]]\nnam = "x"\n')
    rule = '[[item]]\nname = "x"\nfields = {a = "h1"}\n'
    Path("twice.toml").write_text(f"{rule}\n{rule}")
    Path("broken.py").write_text("x = 1 / 0\n")
    Path("taxed.py").write_text("class T:\n    tax = 2\n    def worth(self, link, page): return 1.0\n")
    assert said in here.said("crawl", "http://a.test/", *web.flags, *words, code=2)
    assert not web.paths() and not (web.folder / "data").exists()
