"""The page for webmasters says what the settings say, as text."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gregor.worker.api.console import policy, response
from gregor.worker.commands import cli
from gregor.worker.config.check import check
from gregor.worker.config.settings import Config, ConfigError, HostOverride, replace
from gregor.worker.operate.about import contact, page
from gregor.worker.robots import file as robots_file

AGENT = "libra/2.1 (+https://library.example/bot)"


def text_of(**settings: Any) -> str:
    body = LexborHTMLParser(page(Config(**settings))).body
    assert body is not None
    return " ".join(body.text().split())


def test_it_tells_who_why_how_and_how_to_be_left_alone() -> None:
    text = text_of(
        user_agent=AGENT,
        about_operator="The Library",
        about_purpose="To keep what is read.\n\nFor ever.",
        about_addresses=("192.0.2.0/24", "2001:db8::1"),
        delay=2.5,
        max_crawl_delay=120.0,
    )
    for told in (
        "About libra, a web crawler",
        "The Library",
        "To keep what is read. For ever.",
        "at least 2.5 seconds between",
        "Crawl-delay up to 2 minutes",
        AGENT,
        "192.0.2.0/24 2001:db8::1",
        "User-agent: libra Disallow: /",
        "https://library.example/bot",
    ):
        assert told in text
    assert "other delays" not in text


def test_the_lines_that_it_names_keep_the_crawler_away() -> None:
    codes = [node.text() for node in LexborHTMLParser(page(Config(user_agent=AGENT))).css("pre")]
    lines = next(code for code in codes if "Disallow" in code)
    assert not robots_file.parse(lines.encode(), AGENT).decide("https://a.example/").allowed
    assert robots_file.parse(lines.encode(), "other/1.0").decide("https://a.example/").allowed
    slower = next(code for code in codes if "Crawl-delay" in code)
    assert robots_file.parse(slower.encode(), AGENT).crawl_delay == 30.0


def test_it_promises_nothing_that_the_settings_do_not_keep() -> None:
    text = text_of(robots="ignore", nofollow=False, delay_factor=0.0, hosts=(HostOverride(host="a.b", delay=0.1),))
    assert "does not read robots.txt" in text
    assert "other delays hold for single hosts" in text
    for missing in ("Disallow", "Crawl-delay", "nofollow", "0 times"):
        assert missing not in text


@pytest.mark.parametrize(
    ("settings", "where", "link"),
    [
        ({"about_contact": "bot@a.example"}, "bot@a.example", "mailto:bot@a.example"),
        ({"about_contact": "https://a.example/?x=1&y"}, "https://a.example/?x=1&y", "https://a.example/?x=1&y"),
        ({"about_contact": "javascript:alert(1)"}, "javascript:alert(1)", None),
        ({"user_agent": "a/1 (crawl@a.example)"}, "crawl@a.example", "mailto:crawl@a.example"),
        ({"user_agent": "a/1 (+http://a.example/bot; x)"}, "http://a.example/bot", "http://a.example/bot"),
        ({"user_agent": "a/1"}, "", None),
    ],
)
def test_the_contact_is_a_link_where_it_can_be_one(settings: dict[str, Any], where: str, link: str | None) -> None:
    config = Config(**settings)
    assert contact(config) == where
    links = [node.attributes["href"] for node in LexborHTMLParser(page(config)).css("a")]
    assert links == ([link] if link else [])


@given(st.text(), st.text(), st.text(max_size=50))
def test_settings_are_shown_as_text(operator: str, purpose: str, reached: str) -> None:
    config = Config(about_operator=operator, about_purpose=purpose, about_contact=f'{reached}"><script>x</script>')
    tree = LexborHTMLParser(page(config))
    assert not tree.css("script")
    assert {node.tag for node in tree.css("body *")} <= {"h1", "h2", "p", "ul", "li", "pre", "code", "a"}


def test_it_needs_nothing_from_anywhere() -> None:
    answer = response(page(Config()))
    rules = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'none'; style-src 'sha256-" in rules
    assert rules == policy(bytes(answer.body).decode())
    assert not LexborHTMLParser(page(Config())).css("link, img, script, iframe")


@pytest.mark.parametrize(
    "settings",
    [{"about_path": "/metrics"}, {"about_path": "/api/v1/status"}, {"about_addresses": ("nonsense\n",)}],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        check(replace(Config(), **settings))


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bot.html"
    assert cli.main(["about", "--set", "about_operator=The <Library>", "-o", str(file)]) == 0
    assert "The &lt;Library&gt;" in file.read_text()
    told = capsys.readouterr()
    assert "about_purpose is not set" in told.err
    assert "about_operator" not in told.err
    assert cli.main(["about"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")
