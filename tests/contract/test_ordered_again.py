"""What a person orders anew is asked for once at least, whatever was known; budgets count pages, over restarts."""

import contextlib
import http.server
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from gregor.worker.commands import cli
from tests.serving import running


class Site(http.server.BaseHTTPRequestHandler):
    """Twenty pages in a row that say something else at each visit; robots.txt as the test has it."""

    robots: ClassVar[bytes] = b""
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        Site.asked.append(self.path)
        name = self.path.strip("/")
        found = self.path == "/robots.txt" or (name.isdigit() and int(name) < 20)
        body = (
            f"<title>{name}</title><p>{len(Site.asked)} times of {name}<a href=/{int(name or 0) + 1}>n</a>"
            if name.isdigit()
            else ""
        )
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
            self.end_headers()
            self.wfile.write(Site.robots if self.path == "/robots.txt" else body.encode())

    def log_message(self, *_: object) -> None:
        return


class There:
    """A crawl of the site, and whether the site is there."""

    def __init__(self, folder: Path, port: int, captured: pytest.CaptureFixture[bytes]) -> None:
        self._hosts, self._port, self._captured = folder / "hosts", port, captured
        self._flags = ["--data", str(folder / "data"), "--host-table", str(self._hosts), "--delay", "0"]
        self._flags += ["--set", "delay_factor=0"]
        self.flags = self._flags[2:]
        self.come()

    def come(self) -> None:
        self._hosts.write_text(f"www.test 127.0.0.1:{self._port}\n")

    def go(self) -> None:
        self._hosts.write_text("www.test 127.0.0.1:9\n")

    def said(self, *words: str, code: int = 0) -> str:
        said, ended = self._ended(*words)
        assert ended == code, said
        return said

    def crawl(self, *words: str) -> dict[str, Any]:
        """The report; a crawl that has fetched nothing has failed."""
        said, ended = self._ended("crawl", "--json", *self._flags[2:], *words)
        report = msgspec.json.decode(said, type=dict[str, Any])
        nothing = report["states"] and "fetched" not in report["states"]
        assert ended == (1 if nothing else 0), said
        return report

    def _ended(self, *words: str) -> tuple[str, int]:
        self._captured.readouterr()
        code = cli.main([words[0], *self._flags[:2], *words[1:]])
        return self._captured.readouterr().out.decode(), code


@pytest.fixture
def there(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Iterator[There]:
    Site.robots, Site.asked[:] = b"", []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server, running(server):
        yield There(tmp_path, server.server_port, capsysbinary)


GIVES_UP = ("--set", "retries=0")
"""The host's own back-off, minutes long, is left as it is."""


def test_a_retry_right_after_the_cause_was_mended_asks(there: There) -> None:
    there.go()
    seeds = [f"http://www.test/{number}" for number in range(3, 9)]
    assert there.crawl(*seeds, *GIVES_UP, "--max-depth", "0")["states"] == {"dead": 6}
    there.come()
    there.said("deadletters", "--retry")
    assert there.crawl(*GIVES_UP, "--max-depth", "0")["states"] == {"fetched": 6}
    assert there.said("deadletters") == "nothing was given up\n"


def test_a_retry_of_a_host_that_is_still_dead_asks_once(there: There) -> None:
    there.go()
    seeds = [f"http://www.test/{number}" for number in range(3, 9)]
    assert there.crawl(*seeds, *GIVES_UP, "--max-depth", "0")["states"] == {"dead": 6}
    there.said("deadletters", "--retry")
    report = there.crawl(*GIVES_UP, "--max-depth", "0")
    assert report["states"] == {"dead": 6}
    assert report["errors"].get("robots", 0) + report["errors"].get("connect", 0) <= 2, report["errors"]
    there.come()
    there.said("deadletters", "--retry")
    assert there.crawl(*GIVES_UP, "--max-depth", "0")["states"] == {"fetched": 6}


def test_a_recrawl_after_robots_txt_was_changed_reads_it_anew(there: There) -> None:
    Site.robots = b"User-agent: *\nDisallow: /5\n"
    assert there.crawl("http://www.test/5")["states"] == {"denied": 1}
    there.said("recrawl", "http://www.test/5")
    assert there.crawl("--max-depth", "0")["states"] == {"denied": 1}
    assert Site.asked.count("/robots.txt") == 2  # once anew, and then it is what it is
    Site.robots = b""
    there.said("recrawl", "http://www.test/5")
    assert there.crawl("--max-depth", "0")["states"] == {"fetched": 1}
    assert Site.asked.count("/5") == 1


def test_a_crawl_with_nothing_left_names_what_brings_the_rest_back(there: There) -> None:
    Site.robots = b"User-agent: *\nDisallow: /5\n"
    seeds = ["http://www.test/5", "http://other.test/"]
    for words in ([*seeds, *GIVES_UP], [], ["http://www.test/5"]):
        said = there.said("crawl", *there.flags, *words, code=1)
        assert "1 URL given up: `gregor deadletters`" in said
        assert "1 URL denied: `gregor pages --state denied`" in said and "gregor recrawl" in said


def test_a_visit_of_a_page_that_counts_already_is_not_denied_by_its_hosts_budget(there: There) -> None:
    budget = ("--set", "max_pages_per_host=5")
    there.crawl("http://www.test/0", *budget)
    there.said("recrawl", "http://www.test/2")
    assert there.crawl(*budget)["states"] == {"fetched": 1}


def test_versions_of_a_page_are_one_page_of_a_budget(there: There) -> None:
    first = there.crawl("http://www.test/0", "--max-pages", "5")
    assert first["total_pages_200"] == 5
    there.said("recrawl", *(f"http://www.test/{number}" for number in range(4)))
    second = there.crawl("--max-pages", "100")  # four versions more, and all twenty pages
    assert (second["total_pages_200"], second["pages_200"], second["reason"]) == (20, 19, "finished")
    there.said("recrawl", "http://www.test/0")
    third = there.crawl("--max-pages", "21")
    assert (third["total_pages_200"], third["pages_200"]) == (20, 1)
    fourth = there.crawl("--max-pages", "20", "http://www.test/0")
    assert (fourth["total_pages_200"], fourth["pages"]) == (20, 0)


def test_versions_of_a_page_are_one_page_of_a_hosts_budget(there: There) -> None:
    budget = ("--set", "max_pages_per_host=5")
    assert there.crawl("http://www.test/0", *budget)["states"] == {"fetched": 5, "denied": 1}
    budget = ("--set", "max_pages_per_host=7")
    there.said("recrawl", *(f"http://www.test/{number}" for number in range(6)))
    report = there.crawl(*budget)
    assert report["total_pages_200"] == 7, report
