"""`gregor recrawl`: URLs that are named or chosen get another visit, and what changed can be told apart afterwards."""

import pytest

from tests.endtoend.site import Here, Web


@pytest.fixture(autouse=True)
def crawled(web: Web, here: Here) -> None:
    web.page("a.test/", '<a href="/1">x</a><a href="/2">x</a><a href="/gone">x</a>', ETag='"one"')
    web.page("a.test/1", "first", ETag='"one"')
    web.page("a.test/2", "second", ETag='"one"')
    here.report("http://a.test/", *web.flags)
    web.paths()


def chosen(web: Web, here: Here, *words: str) -> list[str]:
    said = here.said("recrawl", *words, "--dry-run", *web.flags[:2])
    return sorted(line.removeprefix("http://") for line in said.splitlines())


def test_what_is_chosen(web: Web, here: Here) -> None:
    every = ["a.test/", "a.test/1", "a.test/2", "a.test/gone"]
    assert chosen(web, here, "--all") == every
    assert chosen(web, here, "--host", "a.test") == every
    assert chosen(web, here, "--host", "b.test") == []
    assert chosen(web, here, "--state", "gone") == ["a.test/gone"]
    assert chosen(web, here, "--pattern", "*/[12]") == []
    assert chosen(web, here, "--pattern", "re:/[12]$") == ["a.test/1", "a.test/2"]
    assert chosen(web, here, "--pattern", "*/1") == ["a.test/1"]
    assert chosen(web, here, "--all", "--older-than", "1h") == []
    assert chosen(web, here, "--older-than", "0s") == every
    assert chosen(web, here, "--older-than", "2000-01-01") == []
    assert chosen(web, here, "--state", "fetched", "--pattern", "*/2") == ["a.test/2"]
    assert "4 URLs would be visited again" in (here.said("recrawl", "--all", "--dry-run", *web.flags[:2]), here.err)[1]
    assert here.report(*web.flags)["requests"] == 0, "a dry run asks for nothing"


def test_named_in_a_file_and_on_standard_input(web: Web, here: Here) -> None:
    file = web.folder / "urls.txt"
    file.write_text("# changed\nhttp://a.test/1\n")
    here.said("recrawl", "--urls", str(file), *web.flags[:2])
    here.said("recrawl", "http://a.test/", "-", *web.flags[:2], stdin=b"http://a.test/2\n")
    here.report(*web.flags)
    assert sorted(web.paths()) == ["a.test/", "a.test/1", "a.test/2"]
    here.said("recrawl", "--urls", "-", *web.flags[:2], stdin=b"http://a.test/none\n", code=1)
    assert "http://a.test/none has no record" in here.err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "say which URLs"),
        (["--older-than", "soon"], "--older-than wants an age such as 12h"),
        (["--pattern", "re:("], "RE2"),
        (["--pattern", "x"], "must start with"),
        (["--host", "a b"], "is no host"),
        (["nothing"], "not an http(s) URL"),
        (["--urls", "/nowhere"], "cannot read"),
    ],
)
def test_wrong_input(words: list[str], part: str, web: Web, here: Here) -> None:
    assert part in here.said("recrawl", *words, *web.flags[:2], code=2)


def test_crawl_again_what_changed_is_one_command(web: Web, here: Here) -> None:
    web.page("a.test/1", "first, but otherwise", ETag='"two"')
    here.said("recrawl", "--all", "--now", *web.flags[:2])
    assert sorted(web.paths()) == ["a.test/", "a.test/1", "a.test/2", "a.test/gone"]
