"""What pages show is fetched with them, where that is asked for: an archived site replays whole."""

import http.client
import signal
import time
from pathlib import Path

import msgspec

from gregor import open as open_crawl
from tests.endtoend.site import Here, Web
from tests.endtoend.test_kill_and_resume import PATIENCE, gregor
from tests.web import warc_server

SHOWN = {
    "a.test/site.css": "@import 'more.css'; body { background: url(back.png) }",
    "a.test/more.css": "@font-face { src: url('//cdn.test/font.woff2') }",
    "a.test/back.png": "back",
    "cdn.test/font.woff2": "font",
    "a.test/small.png": "small",
    "a.test/large.png": "large",
    "cdn.test/app.js": "run()",
    "a.test/inline.png": "inline",
    "a.test/part.png": "part",
    "a.test/drawn.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "cdn.test/moved.png": "moved",
    "a.test/film.mp4": "film",
    "a.test/poster.png": "poster",
}
TYPES = {"css": "text/css", "js": "text/javascript", "png": "image/png", "svg": "image/svg+xml"}
PAGE = """<!doctype html><title>page</title><link rel=stylesheet href=/site.css>
<style>p { background: url(inline.png) }</style><p style="background: url(part.png)">text
<img src=small.png srcset="large.png 2x"><script src=//cdn.test/app.js></script><svg><use href="drawn.svg#x"/></svg>
<img src=old.png><video src=film.mp4 poster=poster.png></video><object data=frame.html></object>
<img src=/hidden/x.png><img src=/missing.png><a href=//cdn.test/page>elsewhere</a><a href=second>on</a>"""


def _site(web: Web) -> None:
    web.page("a.test/", PAGE)
    web.page("a.test/robots.txt", "User-agent: *\nDisallow: /hidden/", Content_Type="text/plain")
    for place, body in SHOWN.items():
        web.page(place, body, Content_Type=TYPES.get(place.rpartition(".")[2], "application/octet-stream"))
    web.page("a.test/old.png", "", 302, Location="http://cdn.test/moved.png")
    web.page("a.test/frame.html", "<title>frame</title><a href=within>in the frame</a><img src=//cdn.test/no.png>")
    web.page("cdn.test/page", "a page of another host")
    web.page("a.test/second", "<title>second</title>no picture")


def _pages(web: Web) -> set[str]:
    with open_crawl(web.flags[1]) as crawl:
        assert len([*crawl.pages(requisites=True)]) > len([*crawl.pages()])
        return {page.url for page in crawl.pages()}


def test_an_archived_site_replays_whole(web: Web, here: Here, tmp_path: Path) -> None:
    _site(web)
    report = here.report("http://a.test/", *web.flags, "--set", "requisites=true", "--max-depth", "1")
    asked = web.paths()
    assert sorted(asked) == sorted({*asked})  # each once
    within = {*SHOWN, "a.test/", "a.test/second", "a.test/frame.html"}
    assert {*asked} == {*within, "a.test/old.png", "a.test/missing.png"}
    assert (report["total_pages_200"], report["requisites"]) == (2, len(SHOWN) + 1)
    assert report["unfetched"] == {"denied": 1}
    told = here.said("explain", "http://cdn.test/font.woff2", *web.flags[:2])
    assert "from http://a.test/more.css, as style" in told
    assert "a requisite of that page" in told
    listed = [msgspec.json.decode(line) for line in here.said("pages", "--json", *web.flags[:2]).splitlines()]
    assert {record["url"] for record in listed if not record["requisite"]} == {"http://a.test/", "http://a.test/second"}
    assert _pages(web) == {"http://a.test/", "http://a.test/second"}
    table = [msgspec.json.decode(line) for line in here.said("export", "jsonl", *web.flags[:2]).splitlines()]
    assert {record["url"] for record in table if not record["requisite"]} == _pages(web) and len(table) > 2
    rules = tmp_path / "rules.toml"
    rules.write_text('[[item]]\nname = "any"\n[item.fields]\ntitle = { css = "title" }\n')
    items = [
        msgspec.json.decode(line)["_url"]
        for line in here.said("extract", "--rules", str(rules), *web.flags[:2]).splitlines()
    ]
    assert {*items} == _pages(web)
    archive = tmp_path / "a.warc.gz"
    here.said("export", "warc", "-o", str(archive), *web.flags[:2])
    with warc_server.serving([archive], tmp_path) as replayed:
        for place in within:
            host, _, path = place.partition("/")
            connection = http.client.HTTPConnection("127.0.0.1", replayed.http, timeout=30)
            connection.request("GET", f"/{path}", headers={"Host": host})
            answer = connection.getresponse()
            assert (answer.status, answer.read().decode()) == (200, web.pages[place][2]), place
            connection.close()


def test_a_requisite_to_which_a_link_is_found_later_becomes_a_page(web: Web, here: Here) -> None:
    _site(web)
    web.page("a.test/second", "<a href=frame.html>the frame itself</a><a href=old.png>a picture</a>")
    web.page("a.test/within", "<title>within</title>")
    web.page("cdn.test/no.png", "now", Content_Type="image/png")
    report = here.report("http://a.test/", *web.flags, "--set", "requisites=true")
    asked = web.paths()
    assert asked.count("a.test/frame.html") == 1
    assert asked.count("a.test/within") == 1
    assert "cdn.test/no.png" in asked  # what the frame shows, as it is a page
    assert asked.count("a.test/old.png") == 2  # where it leads was judged as a requisite: once more, as a page
    assert report["total_pages_200"] == 4  # with second, frame.html and within
    places = ("", "second", "frame.html", "within")
    assert _pages(web) == {f"http://a.test/{place}" for place in places}
    assert here.report("http://a.test/", *web.flags, "--set", "requisites=true")["total_pages_200"] == 4
    assert web.paths() == []


def test_without_being_asked_for_they_are_left_out_and_budgets_bound_them(web: Web, here: Here) -> None:
    _site(web)
    here.report("http://a.test/", *web.flags)
    assert sorted(web.paths()) == ["a.test/", "a.test/second"]
    other = [*web.flags, "--data", str(web.folder / "other"), "--max-depth", "0", "--set", "requisites=true"]
    here.report("http://a.test/", *other, "--set", "max_requisites=1", "--set", "requisites_scope=scope")
    assert sorted(web.paths()) == ["a.test/", "a.test/more.css", "a.test/site.css"]


def _counts(here: Here, web: Web) -> dict[str, int]:
    told = msgspec.json.decode(here.said("status", "--json", *web.flags[:2]))
    return {name: told.get(name, 0) for name in ("pages", "pages_200", "requisites")}


def test_pages_are_counted_right_after_a_kill_and_after_an_optout(web: Web, here: Here) -> None:
    shown = 30
    web.page("a.test/", "<title>page</title>" + "".join(f"<img src=//cdn.test/{n}.png>" for n in range(shown)))
    for number in range(shown):
        web.page(f"cdn.test/{number}.png", f"picture {number}", Content_Type="image/png")
    words = ["http://a.test/", *web.flags, "--set", "requisites=true", "--set", "delay=0.02"]
    with gregor("crawl", *words) as process:
        deadline = time.monotonic() + PATIENCE
        while len(web.asked) < shown // 2:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    counts = _counts(here, web)
    assert (counts["pages"], counts["pages_200"]) == (1, 1)
    assert counts["requisites"] >= shown // 4
    assert here.report(*words)["total_pages_200"] == 1
    assert _counts(here, web) == {"pages": 1, "pages_200": 1, "requisites": shown}
    here.said("check", "--mend", *web.flags[:2])  # a mark of what was seen may be lost by a kill: no URL is
    here.said("optout", "cdn.test", *web.flags[:2], "--wait", "0")
    assert _counts(here, web) == {"pages": 1, "pages_200": 1, "requisites": 0}
    here.said("check", *web.flags[:2])
