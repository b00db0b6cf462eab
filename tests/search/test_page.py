"""The search page as browsers and programs meet it."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import requests

from gregor.worker.commands.cli import main
from tests.operation.browser import browser, needs_chromium
from tests.search.stored import crawl, link, page, store

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x00&amp;"
PAGES = (
    page(
        "http://a.example.org/", "A fox jumps. The fox sleeps.", 1, link("http://b.example.org/", "b"), title="Fox one"
    ),
    page("http://a.example.org/2", "Another fox here.", 1, title="Fox two"),
    page("http://a.example.org/3", "A third fox there.", 1, title="Fox three"),
    page("http://b.example.org/", f"evil fox {EVIL}", 1, title=f"{EVIL} fox", language="en"),
    page("http://c.example.org/", "fox kept private", 1, title="Closed", directives=("noarchive",)),
    page("http://d.example.org/", "ثعلب سريع fox", 1, title="ثعلب", language="ar"),
    *(
        page(f"http://h{number}.example.org/", f"many {number} words", 1, title=f"Many {number}")
        for number in range(25)
    ),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an index."""
    folder = tmp_path_factory.mktemp("page") / "d"

    async def fill() -> None:
        async with crawl(folder) as engine:
            await store(engine, *PAGES)

    asyncio.run(fill())
    assert main(["index", "--once", "--data", str(folder)]) == 0
    assert main(["rank", "--data", str(folder), "--top", "0"]) == 0
    return folder


@pytest.fixture(scope="module")
def url(data: Path) -> Iterator[str]:
    """Where the page is served."""
    line = [sys.executable, "-m", "gregor", "search", "--serve", "127.0.0.1:0", "--data", str(data)]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    served = re.search(r"http://\S+", process.stderr.readline())
    assert served is not None
    yield served[0].rstrip("/")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0


def asked(url: str, path: str = "/", **query: Any) -> requests.Response:
    return requests.get(f"{url}{path}", params=query, timeout=30)


def found(url: str, q: str, **more: Any) -> dict[str, Any]:
    answer = asked(url, "/search.json", q=q, **more)
    assert answer.status_code == 200
    said: dict[str, Any] = answer.json()
    return said


def test_how_long_queries_take_is_served(url: str) -> None:
    found(url, "fox")
    found(url, "nothinglikethis")
    text = requests.get(f"{url}/metrics", timeout=30).text
    counted = dict(re.findall(r'^gregor_search_answers_total\{.*what="(\w+)".*\} (\d)', text, re.MULTILINE))
    assert int(counted["hits"]) >= 1 and int(counted["none"]) >= 1 and counted["partial"] == "0"
    assert re.search(r"^gregor_search_seconds_count.* [1-9]", text, re.MULTILINE)


def test_a_page_of_results_needs_no_script_and_has_its_policy(url: str) -> None:
    answer = asked(url, q="fox")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "script-src 'none'" in policy and "form-action 'self'" in policy and "<script" not in answer.text
    assert '<label for="q">' in answer.text and 'value="fox"' in answer.text and "<mark>fox</mark>" in answer.text
    assert "document" in answer.text and asked(url).status_code == 200


@pytest.mark.parametrize("path", ["/", "/search.rss", "/text", "/why"])
def test_what_strangers_wrote_stays_text(url: str, path: str) -> None:
    (hit,) = (one for one in found(url, "evil fox")["hits"] if one["host"] == "b.example.org")
    answer = asked(url, path, q=f"evil fox {EVIL}", **({"id": hit["id"]} if path in ("/text", "/why") else {}))
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text and "<img" not in answer.text and "alert(1)" in answer.text
    assert not set("\u202e\x00") & set(answer.text)


def test_programs_get_json_and_rss(url: str) -> None:
    said = found(url, "fox before:never")
    assert said["understood"] == "fox" and "before: wants a date" in said["hints"][0]
    assert said["total"] == 6 and said["hits"][0]["snippet"]
    feed = ElementTree.fromstring(asked(url, "/search.rss", q="fox").content)
    assert len(feed.findall("channel/item")) == len(said["hits"]) and feed.find("channel/item/pubDate") is not None
    described = ElementTree.fromstring(asked(url, "/opensearch.xml").content)
    templates = [one.attrib["template"] for one in described if one.tag.endswith("Url")]
    for template in templates:
        assert requests.get(template.replace("{searchTerms}", "fox%20%22x"), timeout=30).status_code == 200


def test_what_is_found_is_counted_and_each_value_leads_to_fewer(url: str) -> None:
    facets = {facet["name"]: facet["values"] for facet in found(url, "fox")["facets"]}
    assert facets["host"][0] == {
        "value": "a.example.org",
        "count": 3,
        "query": "host:a.example.org fox",
        "chosen": False,
    }
    assert {each["value"]: each["count"] for each in facets["lang"]} == {"en": 1, "ar": 1}
    for each in (each for values in facets.values() for each in values):
        assert found(url, each["query"])["total"] == each["count"]
    chosen = found(url, "fox host:a.example.org")["facets"][0]["values"]
    assert chosen == [{"value": "a.example.org", "count": 3, "query": "fox", "chosen": True}]
    shown = asked(url, "/", q="fox", order="newest").text
    assert "?q=host%3Aa.example.org+fox&amp;order=newest" in shown and 'aria-labelledby="narrow"' in shown


def test_two_of_a_host_unless_all_are_asked_for(url: str) -> None:
    hits = found(url, "fox")["hits"]
    of_host = [one for one in hits if one["host"] == "a.example.org"]
    assert len(of_host) == 2 and sum(one["more_of_host"] for one in of_host) == 1
    assert len(found(url, "fox", all=1)["hits"]) == 6 and len(found(url, "fox host:a.example.org")["hits"]) == 3


def test_pages_of_results_are_one_list_while_the_crawl_goes_on(url: str, data: Path) -> None:
    first = found(url, "many words")
    assert len(first["hits"]) == 10 and first["more"]

    async def more() -> None:
        async with crawl(data) as engine:
            await store(engine, *(page(f"http://n{n}.example.org/", f"many many words {n}") for n in range(9)))

    asyncio.run(more())
    assert main(["index", "--once", "--data", str(data)]) == 0
    rest = [found(url, "many words", page=number, at=first["position"]) for number in (2, 3)]
    urls = [one["url"] for said in (first, *rest) for one in said["hits"]]
    assert len(urls) == len(set(urls)) == 25 and not any("//n" in one for one in urls) and not rest[1]["more"]


def test_the_stored_text_is_framed_and_one_that_is_not_to_be_kept_is_not_shown(url: str) -> None:
    by_host = {one["host"]: one["id"] for one in found(url, "fox", all=1)["hits"]}
    shown = asked(url, "/text", id=by_host["d.example.org"])
    assert "as it was fetched on 2001-09-09" in shown.text and '<pre dir="auto">ثعلب' in shown.text
    closed = asked(url, "/text", id=by_host["c.example.org"])
    assert "asks that no copy" in closed.text and "private" not in closed.text
    assert asked(url, "/text", id="position").status_code == asked(url, "/why", id="nothing").status_code == 404


def test_why_a_hit_is_here_adds_up_to_its_score(url: str) -> None:
    for one in found(url, "b fox", all=1)["hits"]:
        told = asked(url, "/why", id=one["id"], q="b fox").text
        rows = re.findall(r"<td>(-?[0-9.]+)</td></tr>", told)
        assert "In the crawl" in told and f"gregor explain {one['url']}" in told
        assert sum(map(float, rows)) == pytest.approx(one["score"], abs=0.02)
    ranked = next(one for one in found(url, "evil fox")["hits"] if one["host"] == "b.example.org")
    assert ranked["rank"] == 1.0 and "(rank)" in asked(url, "/why", id=ranked["id"], q="evil fox").text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/?page=0", 400),
        ("/?page=x", 400),
        ("/?q=a&q=b", 400),
        ("/?unknown=1", 400),
        ("/text", 400),
        ("/nothing", 404),
        ("/?page=1000&q=fox", 200),
        ("/?q=%ff%00", 200),
        ("/?q=" + "%22" * 2000, 200),
    ],
)
def test_bad_input_is_told(url: str, path: str, status: int) -> None:
    answer = requests.get(f"{url}{path}", timeout=30)
    assert answer.status_code == status
    assert status == 200 or answer.headers["content-type"] == "application/problem+json"


def test_only_this_machine_is_answered_unless_it_is_public(url: str, data: Path, capsys: Any) -> None:
    assert requests.get(url, headers={"Host": "rebound.example"}, timeout=30).status_code == 401
    for words in (
        ["--serve", "0.0.0.0:0"],
        ["--serve", "nonsense"],
        ["--serve", "127.0.0.1:0", "fox"],
        [],
        ["--public", "x"],
    ):
        assert main(["search", "--data", str(data), *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), [(380, "light"), (1600, "dark")])
def test_in_a_browser_by_keyboard_alone(url: str, width: int, scheme: str) -> None:
    async def run() -> None:
        sizes = {"width": width, "height": 900}
        async with browser(viewport=sizes, color_scheme=scheme, java_script_enabled=False) as tab:
            await tab.goto(url)
            await tab.locator("input[name=q]:focus").wait_for()  # autofocus comes with a rendering, after the load
            await tab.keyboard.type("fox")
            await tab.keyboard.press("Enter")
            await tab.wait_for_url("**/?q=fox")
            assert await tab.locator("ol.hits li").count() >= 3
            box = await tab.locator("main").bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width
            assert await tab.get_by_role("search").count() == 1 and await tab.get_by_label("Search what").count() == 1
            await tab.get_by_role("link", name="Stored text").first.click()
            await tab.wait_for_url("**/text?**")
            assert await tab.locator("pre").count() == 1
        async with browser(viewport=sizes, color_scheme=scheme) as tab:
            await tab.goto(f"{url}/?q=fox")
            assert await tab.evaluate("document.documentElement.scrollWidth") <= width
            colours = json.loads(await tab.evaluate(_COLOURS))
            assert all(_contrast(*pair) >= 4.5 for pair in colours), colours

    asyncio.run(run())


_COLOURS = """JSON.stringify(['h2 a', '.url', 'mark', '.quiet', 'button', 'p'].map(name => {
  const seen = getComputedStyle(document.querySelector('main ' + name) || document.querySelector(name));
  const under = seen.backgroundColor === 'rgba(0, 0, 0, 0)' ? getComputedStyle(document.body) : seen;
  return [seen.color, under.backgroundColor];
}))"""


def _contrast(ink: str, paper: str) -> float:
    """The contrast ratio of two colours (WCAG 2.2)."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(ink), luminance(paper)))
    return (light + 0.05) / (dark + 0.05)
