"""Settings belong to the crawl: its folder keeps them, and what changes is named and takes effect on what is known."""

from pathlib import Path

import msgspec
import pytest

from tests.endtoend.site import Here, Web


def links(*paths: str) -> str:
    return "".join(f'<a href="{path}">x</a>' for path in paths)


@pytest.fixture(autouse=True)
def two_hosts(web: Web) -> None:
    web.page("a.test/", links("/1", "/2.pdf", "http://b.test/", "http://b.test/only"))
    for place in ("a.test/1", "a.test/2.pdf", "a.test/deep", "a.test/deeper", "b.test/", "b.test/only"):
        web.page(place, f"<p>{place}")
    web.page("a.test/1", links("/deep"))
    web.page("a.test/deep", links("/deeper"))


def where(web: Web) -> list[str]:
    return web.flags[:2]


def test_a_resume_without_flags_has_the_settings_of_the_crawl(web: Web, here: Here) -> None:
    here.report("http://a.test/", *web.flags, "--exclude", "*.pdf", "--max-pages", "1", "--delay", "0.01")
    here.report(*where(web), "--max-pages", "none")
    assert web.paths() == ["a.test/", "a.test/1", "a.test/deep", "a.test/deeper"]
    said = next(line for line in here.err.splitlines() if "going on with the settings of this crawl" in line)
    assert 'exclude ["*.pdf"]' in said
    assert "delay 0.01" in said
    assert "settings of this crawl change: max_pages was 1, now none" in here.err
    shown = msgspec.json.decode(here.said("config", "show", "--json", *where(web)))
    assert shown["exclude"] == {"value": ["*.pdf"], "source": "kept with the crawl"}
    assert shown["max_pages"]["value"] is None


def test_a_changed_setting_is_named_and_kept(web: Web, here: Here, tmp_path: Path) -> None:
    here.report("http://a.test/", *web.flags, "--max-pages", "1", "--delay", "0.02")
    config = tmp_path / "crawl.toml"
    config.write_text('delay = 0.01\nscope = "any"\n')
    here.report(*where(web), "--config", str(config), "--max-pages", "2")
    assert "delay was 0.02, now 0.01" in here.err
    assert "scope was host, now any" in here.err
    assert "max_pages was 1, now 2" in here.err
    here.report(*where(web), "--max-pages", "3")
    assert "max_pages was 2, now 3" in here.err
    assert "delay was" not in here.err
    assert "delay 0.01" in here.err


def test_what_may_be_a_secret_is_not_kept(web: Web, here: Here) -> None:
    secret = ["--set", 'headers={X-Api-Key = "open-sesame", Accept-Language = "nl"}']
    here.report("http://a.test/", *web.flags, *secret, "--max-pages", "1")
    folder = Path(where(web)[1])
    assert not any(
        b"open-sesame" in file.read_bytes() for file in folder.glob("crawl.db*") if "wal" not in file.name
    ) or (b"X-Api-Key: open-sesame" in (folder / "crawl.db").read_bytes()), "only the head of a request may hold it"
    line = here.said("crawl", *where(web), code=2)
    assert "headers" in line
    assert "give it again" in line
    here.report(*where(web), *secret, "--max-pages", "2")
    here.report(*where(web), "--set", "headers={}", "--max-pages", "3")
    here.report(*where(web), "--max-pages", "none")


def test_harmless_headers_and_hosts_are_kept(web: Web, here: Here) -> None:
    plain = ["--set", 'headers={Accept-Language = "nl"}', "--set", 'hosts=[{host = "a.test", delay = 0.03}]']
    here.report("http://a.test/", *web.flags, *plain, "--max-pages", "1")
    web.asked.clear()
    here.report(*where(web), "--max-pages", "none")
    assert web.asked
    assert all(headers["Accept-Language"] == "nl" for _, headers in web.asked)


@pytest.mark.parametrize(
    ("first", "then", "more"),
    [
        ((), ("--scope", "any"), ["b.test/", "b.test/only"]),
        (("--exclude", "*.pdf"), ("--set", "exclude=[]"), ["a.test/2.pdf"]),
        (("--max-depth", "1"), ("--max-depth", "2"), ["a.test/deep"]),
        (("--max-depth", "1"), ("--max-depth", "none"), ["a.test/deep", "a.test/deeper"]),
        (("--set", "max_pages_per_host=2"), ("--set", "max_pages_per_host=9"), ["a.test/2.pdf", "a.test/deep"]),
        (("--include", "*a.test/*[!x]", "--include", "*/1"), ("--set", "include=[]"), ["a.test/2.pdf", "a.test/deep"]),
    ],
)
def test_a_finished_crawl_that_is_widened_goes_on(
    first: tuple[str, ...], then: tuple[str, ...], more: list[str], web: Web, here: Here
) -> None:
    assert here.report("http://a.test/", *web.flags, *first)["reason"] == "finished"
    web.paths()
    assert here.report("http://a.test/", *where(web), *then)["reason"] == "finished"
    asked = sorted(web.paths())
    assert asked[: len(more)] == more or set(more) <= set(asked)
    assert here.report("http://a.test/", *where(web))["requests"] == 0, "once"


def test_a_finished_crawl_with_revisits_goes_on(web: Web, here: Here) -> None:
    assert here.report("http://a.test/", *web.flags)["reason"] == "finished"
    first = sorted(web.paths())
    again = here.report(*where(web), "--set", "revisit=0.5", "--max-time", "4")
    assert again["reason"] == "budget"
    assert set(web.paths()) == set(first)


def test_a_redirect_out_of_the_scope_is_followed_once_it_is_wider(web: Web, here: Here) -> None:
    web.page("c.test/", status=301, Location="http://www.c.test/")
    web.page("www.c.test/", "<p>there")
    here.report("http://c.test/", *web.flags, code=1)
    web.paths()
    here.report(*where(web), "--scope", "any")
    assert web.paths() == ["www.c.test/"]
