"""What a URL shows by its own text: loops and heaps are refused, what sites mean is not."""

import gzip
import json

import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.links.rank import Rank
from gregor.worker.links.traps import Traps
from gregor.worker.links.url_loops import malformed
from gregor.worker.web.urls import Url, Urls
from tests.web.shared import SHARED

URLS = Urls()


def url(text: str) -> Url:
    parsed = URLS.parse(text)
    assert parsed is not None
    return parsed


def ticket(text: str) -> Ticket:
    target = url(text)
    return Ticket(target.href, target.key, target.host, 0, "new", 2, 3, 0, "http://a.test/", "a")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://a.test/area/sub/area/sub/area/sub/area/", "repeated path segments"),
        ("http://a.test/en/x/en/y/en/z/en/", "repeated path segments"),
        ("http://a.test/page/2/page/3/page/4/page/5", "repeated path segments"),
        ("http://a.test/" + "/".join(f"d{n}" for n in range(50)), "too many path segments"),
        ("http://a.test/?q=&q=&q=&q=", "repeated parameters"),
        ("http://a.test/?a=1;a=1;a=1;a=1", "repeated parameters"),
        ("http://a.test/?" + "&".join(f"id={n}" for n in range(20)), "repeated parameter names"),
        ("http://a.test/?" + "&".join(f"p{n}={n}" for n in range(60)), "too many parameters"),
        ("http://a.test/?next=%252525252Fa", "escapes of escapes"),
        ("http://" + "www." * 12 + "a.test/", "too many host labels"),
        ("http://a.test/" + "index.html" * 20, "repeated text"),
    ],
)
def test_loops_and_heaps_are_seen_in_the_url_itself(text: str, reason: str) -> None:
    assert malformed(url(text)) == reason


@pytest.mark.parametrize(
    "text",
    [
        "http://a.test/a/a/",
        "http://a.test/a/a/a",
        "http://a.test/2024/11/11/",
        "http://a.test/tiles/0/0/0/0/0/0/12.png",
        "http://a.test/11/11/11/11/",
        "http://a.test/?id=1&id=2&id=3&id=4&id=5&id=6",
        "http://a.test/?a=&b=&c=&d=&e=",
        "http://a.test/?next=%2525252Fa",
        "http://a.test/x?a=1&amp;b=2&amp;c=3&amp;d=4&amp;e=5",
        "http://a.test/x/" + "0" * 300,
        "http://192.0.2.1/a/b/c/d/e/f/g/",
        "http://[2001:db8::1]/",
    ],
)
def test_ordinary_urls_pass(text: str) -> None:
    assert malformed(url(text)) is None
    assert Traps().judge(ticket(text)).rank < Rank.SPENT


def test_recorded_urls_are_never_refused_for_their_text() -> None:
    index = SHARED / "realweb" / "index.jsonl.gz"
    if not index.is_file():
        pytest.skip(f"{index} is missing")
    with gzip.open(index, "rt", encoding="utf-8") as lines:
        found = [parsed for line in lines if (parsed := URLS.parse(json.loads(line)["url"]))]
    assert len(found) > 10_000
    assert [target.href for target in found if malformed(target)] == []
