"""What is told of pages that were visited more than once: the newest state, older documents, what changed since."""

import base64
import time

import msgspec
import pytest

from tests.endtoend.site import Here, Web


@pytest.fixture(autouse=True)
def twice(web: Web, here: Here) -> None:
    """Four pages at first; then one has changed, one is gone, one is new."""
    web.page("a.test/", '<html lang="de-CH"><a href="/same">x</a><a href="/changes">x</a><a href="/goes">x</a>')
    web.page("a.test/same", "always so", ETag='"one"')
    web.page("a.test/changes", "<title>first</title>as it was at first")
    web.page("a.test/goes", "<title>there</title>it was there")
    here.report("http://a.test/", *web.flags)
    time.sleep(0.2)
    web.page("a.test/changes", '<title>second</title>otherwise <a href="/new">x</a>')
    web.page("a.test/goes", "", 410)
    web.page("a.test/new", "it is new")
    here.said("recrawl", "--all", "--now", *web.flags[:2])


def exported(web: Web, here: Here, *words: str) -> dict[str, dict[str, object]]:
    lines = here.said("export", "jsonl", *words, *web.flags[:2]).splitlines()
    records = [msgspec.json.decode(line) for line in lines]
    return {record["url"].removeprefix("http://a.test/"): record for record in records}


def listed(web: Web, here: Here, *words: str) -> list[str]:
    lines = here.said("pages", "--json", *words, *web.flags[:2]).splitlines()
    return sorted(msgspec.json.decode(line)["url"].removeprefix("http://a.test/") for line in lines)


def test_a_page_that_is_gone_is_exported_as_gone(web: Web, here: Here) -> None:
    found = exported(web, here)
    gone = found["goes"]
    assert (gone["state"], gone["status"], gone["outcome"]) == ("gone", 410, "status 410")
    assert (gone["document_status"], gone["version"], gone["title"]) == (200, 1, "there")
    assert str(gone["checked_at"]) > str(gone["fetched_at"])
    same = found["same"]
    assert (same["state"], same["version"], same["outcome"]) == ("fetched", 1, "unchanged")
    assert str(same["checked_at"]) > str(same["fetched_at"])
    assert found[""]["language"] == "de-CH"


def test_what_changed(web: Web, here: Here) -> None:
    assert listed(web, here, "--changed") == ["changes", "goes"]
    assert sorted(exported(web, here, "--changed")) == ["changes", "goes"]
    assert sorted(exported(web, here, "--changed", "--state", "gone")) == ["goes"]
    assert listed(web, here, "--since", "1h") == ["", "changes", "goes", "new", "same"]
    assert listed(web, here, "--since", "2000-01-01", "--host", "a.test", "--changed") == []  # new since then
    assert listed(web, here, "--since", "2100-01-01") == []
    assert listed(web, here, "--host", "b.test") == []
    assert exported(web, here, "--host", "b.test") == {}
    assert listed(web, here, "--language", "de") == [""]
    assert listed(web, here, "--language", "d") == []


def test_bodies_and_headers(web: Web, here: Here) -> None:
    record = exported(web, here, "--bodies", "--headers")["changes"]
    assert base64.b64decode(str(record["body"])).startswith(b"<title>second")
    assert "HTTP/1.0 200 OK" in str(record["response_headers"])
    assert "GET /changes HTTP/1.1" in str(record["request_headers"])
    assert "for jsonl" in here.said("export", "warc", "--bodies", "-o", "x", *web.flags[:2], code=2)


def test_an_older_version_is_shown(web: Web, here: Here) -> None:
    url, data = "http://a.test/changes", web.flags[:2]
    assert "versions           1, 2: --version N shows one" in here.said("show", url, *data)
    assert "as it was at first" in here.said("show", url, "--text", "--version", "1", *data)
    assert "otherwise" in here.said("show", url, "--text", *data)
    here.said("show", url, "--text", "--version", "7", *data, code=1)
    assert "there are 1, 2" in here.err
    here.said("show", "http://a.test/goes", "--text", *data, code=1)
    assert "its state is gone" in here.err
    assert "it was there" in here.said("show", "http://a.test/goes", "--text", "--version", "1", *data)


def test_the_list_says_when_a_page_was_last_checked(web: Web, here: Here) -> None:
    lines = here.said("pages", *web.flags[:2]).splitlines()
    assert lines[0].split() == ["STATE", "STATUS", "DEPTH", "BYTES", "CHECKED", "URL"]
    assert all(line.split()[-2].endswith("Z") for line in lines[1:])
