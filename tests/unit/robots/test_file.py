"""robots.txt: groups, rules, what a file is read as, what an answer means."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gregor.worker.robots import lines as robots_lines
from gregor.worker.robots.answers import Came, Elsewhere, NoFile, RobotsAnswer, Unreachable, meaning
from gregor.worker.robots.file import (
    ALLOW_ALL,
    DISALLOW_ALL,
    MAX_BYTES,
    Decision,
    RequestRate,
    is_product_token,
    parse,
    product_token,
    time_to_live,
    usable_last_good,
)

FILE = "http://example.com/robots.txt"


def allowed(rules: str, path: str, agent: str = "gregor") -> bool:
    return parse(rules.encode(), agent).decide(f"http://example.com{path}").allowed


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("Disallow: /", "/", False),
        ("Disallow:", "/a", True),
        ("Disallow: /a", "/ab", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /A", "/a", True),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /a\nDisallow: /a", "/a", True),
        ("Disallow: /\nAllow: /$", "/", True),
        ("Disallow: /*.gif$", "/x/y.gif", False),
        ("Disallow: /*.gif$", "/x/y.gif?z", True),
        ("Disallow: /a*b*b$", "/ab", True),
        ("Disallow: /a*b*b$", "/abb", False),
        ("Disallow: *.pdf", "/x.pdf", False),
        ("Disallow: *", "/", False),
        ("Disallow: $", "/", True),
        ("Disallow: a", "/a", True),
        ("Allow: /\nDisallow: /*", "/", False),
        ("Disallow: /a$b", "/a$b", False),
        ("Disallow: /a%24", "/a$", False),
        ("Disallow: /a%2A", "/a*", False),
        ("Disallow: /a%2A", "/ab", True),
        ("Disallow: /%7ejoe", "/~joe", False),
        ("Disallow: /a%2fb", "/a/b", True),
        ("Disallow: /a%2fb", "/a%2Fb", False),
        ("Disallow: /ä", "/%c3%a4", False),
        ("Disallow: /%c3%a4", "/ä", False),
        ("Disallow: /a b", "/a%20b", False),
        ("Disallow: /x?y=", "/x?y=1", False),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /\nAllow: /d/index.html", "/d/", True),
        ("Disallow: /\nAllow: /d/index.html", "/d/x", False),
    ],
)
def test_rules(rules: str, path: str, expected: bool) -> None:
    assert allowed(f"User-agent: *\n{rules}\n", path) == expected


def test_the_decision_names_its_line() -> None:
    file = parse(b"# hello\r\n\r\nUser-agent: *\r\n  Disallow: /a*c # why\r\nAllow: /\r\n", "gregor")
    assert file.decide("http://example.com/abc") == Decision(False, 4, "Disallow: /a*c # why")
    assert file.decide("http://example.com/") == Decision(True, 5, "Allow: /")
    assert file.decide("http://example.com/robots.txt") == Decision(True, 0, "")


@pytest.mark.parametrize(
    ("line", "agent", "ours"),
    [
        ("gregor", "gregor", True),
        ("GREGOR", "gregor", True),
        ("gregor/2.0", "gregor", True),
        ("gregor bot", "Gregor", True),
        ("other, gregor", "gregor", True),
        ("greg", "gregor", False),
        ("gregor-images", "gregor", False),
        ("gregor", "gregor-images", False),
        ("greg*", "gregor", False),
        ("gregor*", "gregor", True),
        ("gregor*", "gregor-images", False),
        ("g*g*r", "gregor", False),
        ("other gregor", "gregor", False),
        ("anyone but gregor", "gregor", False),
        ("other gregor/2.0", "gregor", False),
        ("crawler", "gregor/1.0 crawler", False),
        ("gregor", "gregor/1.0 crawler", True),
        ("other; gregor", "gregor", False),
        ("OTHER,GREGOR/1.0", "gregor", True),
        ("g*x", "gregor", False),
        ("crawler7", "crawler7", True),
        ("bücherwurm", "Bücherwurm", True),
        ("gregor", "Mozilla/5.0 (compatible; gregor/1.0; +https://bot.example)", True),
        ("two words", "Two Words", True),
        ("bot", "gregor/1.0 (a friendly bot; +https://bot.example)", False),
        ("mozilla", "Mozilla/5.0 (compatible; gregor/1.0)", False),
    ],
)
def test_the_group_of_an_agent(line: str, agent: str, ours: bool) -> None:
    rules = f"User-agent: *\nDisallow: /everyone\n\nUser-agent: {line}\nDisallow: /ours\n"
    assert allowed(rules, "/ours", agent) == (not ours)
    assert allowed(rules, "/everyone", agent) == ours


@pytest.mark.parametrize("line", ["greg*", "g*r", "other gregor", "crawler", "Mozilla (compatible; gregor)"])
def test_what_may_mean_us_holds_where_nothing_else_does(line: str) -> None:
    agent = "gregor/1.0 crawler"
    assert not allowed(f"User-agent: {line}\nDisallow: /ours\n", "/ours", agent)
    assert allowed(f"User-agent: {line}\nDisallow: /ours\nUser-agent: *\nDisallow: /all\n", "/ours", agent)
    named = f"User-agent: {line}\nDisallow: /ours\nUser-agent: gregor\nDisallow: /named\n"
    assert (allowed(named, "/ours", agent), allowed(named, "/named", agent)) == (True, False)


def test_groups_of_one_agent_are_one_and_other_records_do_not_end_a_group() -> None:
    rules = """
        User-agent: a
        Sitemap: /s
        Crawl-delay: 3
        Unknown: x

        User-agent: gregor
        Disallow: /one
        User-agent: b
        Disallow: /b
        User-agent: gregor
        Crawl-delay: 7
        Disallow: /two
    """
    assert [allowed(rules, path) for path in ("/one", "/two", "/b")] == [False, False, True]
    assert allowed(rules, "/one", "a") is False
    assert parse(rules.encode(), "a").crawl_delay == 3.0
    assert parse(rules.encode(), "gregor").crawl_delay == 7.0
    assert parse(rules.encode(), "c").crawl_delay is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1.5", 1.5),
        ("0", 0.0),
        ("99999999999", 99_999_999_999.0),
        (".5", 0.5),
        ("-1", None),
        ("1e9", None),
        ("inf", None),
        ("10s", 10.0),
        ("2 s", 2.0),
        ("2 sec.", 2.0),
        ("5.5", 5.5),
        ("3600.5", 3600.5),
        ("1,5", 1.5),
        ("2 minutes", 120.0),
        ("1 h", 3600.0),
        ("500 ms", 500.0),
        ("5-10", 10.0),
        ("1 - 2 m", 120.0),
        ('"5"', 5.0),
        ("+5", 5.0),
        ("5;", 5.0),
        ("= '2 s'", 2.0),
        ('"-1"', None),
        ("wait 10 seconds between requests", 10.0),
        ("one request in 2 minutes, please", 120.0),
        ("1 h 30 min", 5400.0),
        ("at most 3 requests", None),
        ("10a", None),
        ("1.2.1", None),
        ("ten", None),
        ("", None),
    ],
)
def test_crawl_delay(value: str, expected: float | None) -> None:
    assert parse(f"User-agent: *\nCrawl-delay: {value}".encode(), "gregor").crawl_delay == expected


def test_byte_order_marks_hide_no_first_line() -> None:
    for marks in (1, 2, 3):
        file = b"\xef\xbb\xbf" * marks + b"User-agent: *\nDisallow: /x\n"
        assert not parse(file, "gregor").decide("https://example.com/x").allowed


def test_a_delay_before_every_group_is_the_default() -> None:
    file = b"Crawl-delay: 5\nUser-agent: gregor\nCrawl-delay: 1\nUser-agent: *\nDisallow: /x\n"
    assert parse(file, "gregor").crawl_delay == 1.0
    assert parse(file, "other").crawl_delay == 5.0


def test_request_rate() -> None:
    file = b"User-agent: *\nRequest-rate: 10/5m 0600-0845\nUser-agent: gregor\nRequest-rate: 0/0\n"
    assert parse(file, "other").request_rate == RequestRate(10, 300, "0600", "0845")
    assert parse(file, "gregor").request_rate is None


def test_a_request_rate_is_a_pace() -> None:
    assert parse(b"User-agent: *\nRequest-rate: 1/10\n", "gregor").pace == 10.0
    assert parse(b"User-agent: *\nRequest-rate: 10/5m 0600-0845\nCrawl-delay: 2", "gregor").pace == 30.0
    assert parse(b"User-agent: *\nRequest-rate: 10/5\nCrawl-delay: 2", "gregor").pace == 2.0
    assert parse(b"User-agent: *\nDisallow:", "gregor").pace is None


@pytest.mark.parametrize(
    "file",
    [
        b"\xff\xfeuser-agent: *\ndisallow: /x",
        b"\xfe\xffuser-agent: *\ndisallow: /x",
        b"\xff\xfe" + "User-agent: *\nDisallow: /x\n".encode("utf-16-be"),
        b"\xff\xfe\0user-agent: *\ndisallow: /x",
        "User-agent: *\nDisallow: /x\n".encode("utf-16-le"),
        "User-agent: *\nDisallow: /x\n".encode("utf-16-be"),
        b"\xef\xbb\xbfuser-agent: *\ndisallow: /x",
        b"\xefuser-agent: *\ndisallow: /x",
        b"\xff\xfe" + "User-agent: *\r\nDisallow: /x\r\n".encode("utf-16-le"),
        b"User-agent: *\rDisallow: /x\r",
        b"User agent *\nDisallow /x\n",
        b"USERAGENT:*\nDissalow:/x",
        b"<html><body>\nUser-agent: *<br>\nDisallow: /x<br>\n",
        b" User-agent\t:\t* # all\n\0\0Disallow : /x\0\n",
        b"User-agent: *\nDisallow: /\xff\nDisallow: /x",
    ],
)
def test_what_is_meant_is_read(file: bytes) -> None:
    robots_ = parse(file, "gregor")
    assert not robots_.decide("http://example.com/x").allowed
    assert robots_.decide("http://example.com/y").allowed


def test_prose_is_no_rule() -> None:
    assert allowed("User-agent: *\nDisallow robots to see this\nallow me to explain\nDisallow", "/robots")


def test_octets_that_are_not_utf_8_are_compared_as_octets() -> None:
    assert not parse(b"User-agent: *\nDisallow: /\xe4", "gregor").decide("http://example.com/%E4").allowed


def test_sitemaps_are_absolute_and_each_comes_once() -> None:
    file = (
        b"Sitemap: /a\nUser-agent: *\nSite-map: HTTPS://Example.com/b#x\nsitemap: /a\nSitemap: ftp://x/\nsitemap: c\n"
    )
    assert parse(file, "gregor", FILE).sitemaps == ("http://example.com/a", "https://example.com/b")
    assert parse(file, "gregor").sitemaps == ("https://example.com/b",)


def test_500_kib_are_read_and_a_cut_line_is_not() -> None:
    head = b"User-agent: *\nDisallow: /a\n#"
    tail = b"\nDisallow: /bcd\n"
    fits = head + b"x" * (MAX_BYTES - len(head) - len(tail)) + tail
    assert not parse(fits, "gregor").decide("http://example.com/bcd").allowed
    whole, cut = parse(b"\n" + fits, "gregor"), parse(b"\n\n\n" + fits, "gregor")
    paths = ("/a", "/b", "/bcd")
    assert [whole.decide(f"http://example.com{path}").allowed for path in paths] == [False, True, False]
    assert [cut.decide(f"http://example.com{path}").allowed for path in paths] == [False, True, True]


def test_constants() -> None:
    assert ALLOW_ALL.decide("http://example.com/x") == Decision(True, 0, "")
    assert DISALLOW_ALL.decide("http://example.com/x") == Decision(False, 0, "")
    assert DISALLOW_ALL.decide("http://example.com/robots.txt").allowed
    assert 0 < ALLOW_ALL.size < 1000


HOSTILE = {
    "empty lines": b"\n" * MAX_BYTES,
    "carriage returns": b"\r" * MAX_BYTES,
    "short lines": b"a\n" * (MAX_BYTES // 2),
    "words": b"a b c d\n" * (MAX_BYTES // 8),
    "agents": b"User-agent: gregor\n" * (MAX_BYTES // 19),
    "agent patterns": b"User-agent: *a*a*a*a*b\n" * (MAX_BYTES // 23),
    "names on one line": b"User-agent: " + b"a " * (MAX_BYTES // 2 - 6),
    "rules": b"User-agent: *\n" + b"".join(b"Allow:/%x\n" % n for n in range(45_000)),
    "patterns": b"User-agent: *\n" + b"".join(b"Allow:/*%x\n" % n for n in range(40_000)),
    "stars": b"User-agent: *\nDisallow: /" + b"*a" * 8000 + b"b\n",
    "anchored stars": b"User-agent: *\n" + (b"Disallow: /" + b"*a" * 5000 + b"b$\n") * 50,
    "near matches": b"User-agent: *\n" + (b"Disallow: /*" + b"a" * 500 + b"b\n") * 990,
    "mark-up": b"<" * MAX_BYTES,
    "sitemaps": b"Sitemap:/a\n" * (MAX_BYTES // 11),
    "octets": b"User-agent: *\nDisallow: /" + b"\xff" * MAX_BYTES,
}


@pytest.mark.parametrize("file", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_costs_little(file: bytes) -> None:
    started = time.process_time()
    file_ = parse(file + b"\n" + file, "gregor")
    parsed = time.process_time()
    file_.decide("http://example.com/" + "a" * 4000)
    decided = time.process_time()
    assert parsed - started < 3.0
    assert decided - parsed < 2.0
    assert file_.size < 100 * MAX_BYTES


PIECE = st.sampled_from(
    [
        "User-agent:",
        "gregor",
        "*",
        "\n",
        "\r\n",
        "Disallow:",
        "Allow: /",
        "$",
        "%",
        "%4",
        "%41",
        "#",
        ":",
        "/a",
        "é",
        " ",
    ]
)


@given(st.binary(max_size=200) | st.lists(PIECE, max_size=40).map(lambda p: "".join(p).encode()), st.text(), st.text())
@example(b"\xff\xfea", "", "")
@example(b"Disallow: *\nUser-agent: *\nAllow: *$", "*", "\ud800")
def test_nothing_raises(file: bytes, agent: str, href: str) -> None:
    found = parse(file, agent, FILE)
    decision = found.decide(href)
    assert decision.line == 0 or decision.rule
    assert found.decide("http://example.com/robots.txt").allowed
    assert all(url.startswith(("http://", "https://")) for url in found.sitemaps)
    assert all(line[0] == number for number, line in enumerate(robots_lines.lines(file), 1))
    product_token(agent)


def matches(pattern: str, path: str) -> bool:
    """The definition, by trying everything."""
    if not pattern:
        return True
    if pattern == "$":
        return not path
    if pattern[0] == "*":
        return any(matches(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return path[:1] == pattern[0] and matches(pattern[1:], path[1:])


@settings(max_examples=300)
@given(st.text("ab*", max_size=8), st.sampled_from(["", "$"]), st.text("ab", max_size=10))
def test_a_pattern_matches_as_defined(pattern: str, end: str, path: str) -> None:
    file = f"User-agent: *\nDisallow: /{pattern}{end}".encode()
    assert parse(file, "gregor").decide(f"http://x/{path}").allowed != matches(pattern + end, path)


@given(st.lists(st.tuples(st.booleans(), st.text("ab*$", max_size=5)), max_size=8), st.text("ab", max_size=6))
def test_the_longest_rule_decides_and_allow_wins_a_tie(rules: list[tuple[bool, str]], path: str) -> None:
    lines = [("Allow: /" if allow else "Disallow: /") + value for allow, value in rules]
    single = [parse(f"User-agent: *\n{line}".encode(), "gregor").decide(f"http://x/{path}").line for line in lines]
    hits = [
        (len(value) + 2 * value[:-1].count("$"), allow)
        for (allow, value), line in zip(rules, single, strict=True)
        if line
    ]
    whole = parse("\n".join(["User-agent: *", *lines]).encode(), "gregor").decide(f"http://x/{path}")
    assert whole.allowed == (max(hits)[1] if hits else True)


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("gregor/1.0 (+https://bot.example)", "gregor"),
        ("Gregor-Bot", "Gregor-Bot"),
        ("Mozilla/5.0 (compatible; Gregor/1.0; +https://bot.example)", "Gregor"),
        ("", ""),
        ("ツ", ""),
    ],
)
def test_product_token(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token
    assert is_product_token(token) == bool(token)


@pytest.mark.parametrize(
    ("status", "location", "hops", "expected"),
    [
        (301, "/b/robots.txt", 0, Elsewhere("http://example.com/b/robots.txt", 1)),
        (302, "https://www.example.com/robots.txt", 4, Elsewhere("https://www.example.com/robots.txt", 5)),
        (302, "https://www.example.com/robots.txt", 5, NoFile(302)),
        (301, None, 0, NoFile(301)),
        (301, "ftp://example.com/", 0, NoFile(301)),
        (304, None, 0, Unreachable("status 304", 304)),
        (404, None, 0, NoFile(404)),
        (403, None, 3, NoFile(403)),
        (429, None, 0, Unreachable("status 429", 429)),
        (503, None, 0, Unreachable("status 503", 503)),
        (777, None, 0, Unreachable("status 777", 777)),
    ],
)
def test_answers(status: int, location: str | None, hops: int, expected: RobotsAnswer) -> None:
    headers = {} if location is None else {"location": location}
    assert meaning(status, headers, FILE, hops) == expected


def test_an_answer_with_the_file() -> None:
    assert meaning(200, {}, FILE) == Came(200)
    rules = parse(b"User-agent: *\nDisallow: /x\nSitemap: /s", "gregor", FILE)
    assert rules.sitemaps == ("http://example.com/s",)


def test_time_to_live_is_bounded() -> None:
    assert time_to_live({}, 0.0) == 86_400.0
    assert time_to_live({"cache-control": "max-age=999999"}, 0.0) == 86_400.0
    assert time_to_live({"cache-control": "no-store"}, 0.0, minimum=60.0) == 60.0
    assert time_to_live({"cache-control": "max-age=600"}, 0.0) == 600.0
    assert time_to_live({}, 0.0, default=30.0) == 30.0


def test_the_last_good_copy_ages() -> None:
    assert usable_last_good(0.0, 29 * 86_400.0)
    assert not usable_last_good(0.0, 31 * 86_400.0)
    assert usable_last_good(0.0, 10.0, longest=10.0)
    assert not usable_last_good(0.0, 10.1, longest=10.0)
