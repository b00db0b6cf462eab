"""The benchmark web: the same numbers give the same bytes, every page is reached, and it is served as written."""

import http.client
import json
import shutil
from hashlib import sha256
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.web import corpus, static_server

SHAPE = corpus.Shape(hosts=5, pages=120, seed=7)


def test_equal_shapes_give_equal_bytes() -> None:
    assert list(corpus.pages(SHAPE)) == list(corpus.pages(SHAPE))
    assert list(corpus.pages(SHAPE)) != list(corpus.pages(corpus.Shape(hosts=5, pages=120, seed=8)))


def test_pages_have_the_promised_size_and_links_and_are_all_reached() -> None:
    made = {page.url: page for page in corpus.pages(SHAPE)}
    assert len(made) == SHAPE.pages
    linked = {}
    for url, page in made.items():
        assert corpus.MIN_BYTES <= len(page.html) <= corpus.MAX_BYTES + 20_000
        anchors = LexborHTMLParser(page.html.decode()).css("a[href]")
        linked[url] = {urljoin(url, anchor.attributes["href"] or "") for anchor in anchors}
        assert len(linked[url]) == page.links == len(anchors)
        assert linked[url] <= made.keys()
    reached, waiting = set(), [f"http://{corpus.host_name(host)}/" for host in range(SHAPE.hosts)]
    while waiting:
        url = waiting.pop()
        if url not in reached:
            reached.add(url)
            waiting += linked[url]
    assert reached == made.keys()


@pytest.mark.parametrize("nginx", [False, True])
def test_it_is_served_as_written(nginx: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if nginx and shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    if not nginx:
        monkeypatch.setenv("PATH", "")
    links = corpus.write(tmp_path, SHAPE)
    assert corpus.write(tmp_path, SHAPE) == links
    truth = json.loads((tmp_path / "truth.json").read_text())
    with static_server.serving(tmp_path, tmp_path) as web:
        assert web.server == ("nginx" if nginx else "asyncio")
        assert len(web.host_table.read_text().splitlines()) == SHAPE.hosts
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=10)
        for url, page in truth["pages"].items():
            parts = urlsplit(url)
            connection.request("GET", parts.path, headers={"Host": parts.netloc})
            answer = connection.getresponse()
            assert (answer.status, sha256(answer.read()).hexdigest()) == (200, page["sha256"])
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        for target, status in (("/robots.txt", 200), ("/nothing", 404), ("/../truth.json", 404)):
            connection.request("GET", target, headers={"Host": corpus.host_name(0)})
            answer = connection.getresponse()
            answer.read()
            assert answer.status in (status, 400), target
        connection.close()
