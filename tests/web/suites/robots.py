"""robots.txt: matching, lines, sitemaps, pace, statuses and limits, and decisions on real files."""

import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from gregor.worker.robots import answers
from gregor.worker.robots import file as robots_file
from gregor.worker.robots import lines as robots_lines
from gregor.worker.robots import match as robots_match
from gregor.worker.web.urls import Urls, robots_url
from tests.web.suites import Line, Suite, Verdict, equal, lines, octets

_FURTHER_WORDS = frozenset({"27a4b318dc5a", "ba7d0295949c", "52cc017db84f", "638ebdbec5f1"})
"""Cases in which the second word of a User-agent line names a crawler, though others are named for everyone: by RFC
9309 section 2.2.1 it does not."""
_ORIGIN = "http://example.com/robots.txt"


@lru_cache(maxsize=64)
def _parsed(body: bytes, agent: str) -> robots_file.Robots:
    return robots_file.parse(body, agent, _ORIGIN)


def _decision(case: Line) -> Verdict:
    decision = _parsed(octets(case, "robots_txt"), case["user_agent"]).decide(case["url"])
    return Verdict(decision.allowed == case["allowed"], f"expected allowed={case['allowed']}, got {decision}")


def _crawl_delay(case: Line) -> Verdict:
    return equal(_parsed(octets(case, "robots_txt"), case["user_agent"]).crawl_delay, case["crawl_delay"])


def _request_rate(case: Line) -> Verdict:
    rate = _parsed(octets(case, "robots_txt"), case["user_agent"]).request_rate
    expected = case["request_rate"]
    if rate is None or expected is None:
        return equal(rate, expected)
    times = [expected[name] and "".join(filter(str.isdigit, str(expected[name])))[:4] for name in ("start", "end")]
    return equal(rate, robots_file.RequestRate(expected["requests"], expected["seconds"], *times))


def _sitemaps(case: Line) -> Verdict:
    base = case["robots_url"]
    found = list(robots_file.parse(octets(case, "robots_txt"), "examplebot", base).sitemaps)
    if "sitemaps_raw" in case:
        urls = Urls()
        return equal(found, [url.href for raw in case["sitemaps_raw"] if (url := urls.resolve(raw, base))])
    if "sitemaps" in case:
        return equal(found, case["sitemaps"])
    expected = {int(index): url for index, url in case.get("items", {}).items()}
    seen = len(found), {index: found[index] for index in expected if index < len(found)}
    return equal(seen, (case["count"], expected))


def _outcome(status: int, headers: dict[str, str] | None = None, hops: int = 0) -> str:
    match answers.meaning(status, headers or {}, _ORIGIN, hops):
        case answers.Came():
            return "parse"
        case answers.NoFile():
            return "allow_all"
        case answers.Unreachable():
            return "disallow_all"
        case answers.Elsewhere(location, _):
            return location


def _status(case: Line) -> Verdict:
    return equal(_outcome(case["status"]), case["outcome"])


def _redirects(case: Line) -> Verdict:
    """Plays a chain of redirects: given as answers, or as so many hops (a loop is a file that names itself)."""
    hops = case.get("redirect_hops", 0)
    steps = case.get("chain", ["302 /robots.txt"] * (50 if isinstance(hops, str) else hops) + ["200"])
    url, taken = _ORIGIN, 0
    for step in steps:
        status, _, location = step.removesuffix(" (relative Location)").partition(" ")
        headers = {"location": location} if location else {}
        answer = answers.meaning(int(status), headers, url, taken)
        if not isinstance(answer, answers.Elsewhere):
            return equal("parse" if isinstance(answer, answers.Came) else "allow_all", case["outcome"])
        url, taken = answer.location, answer.hops
    return Verdict(False, f"still redirected after {taken} hops")


def _robots_url(case: Line) -> Verdict:
    url = Urls().parse(case["url"])
    return equal(url and robots_url(url), case["robots_url"])


def _product_token(case: Line) -> Verdict:
    return equal(robots_file.is_product_token(case["token"]), case["valid"])


def _path(case: Line) -> Verdict:
    if "url" in case:
        return equal(robots_match.request_path(case["url"]), case["path"])
    return equal(robots_match.normal(case["rule_path"]), case["normalised"])


def _line_parsing(case: Line) -> Verdict:
    """The published file names kinds and counts; a file that ends with a line end has one more, empty line."""
    parsed = list(robots_lines.lines(octets(case, "robots_txt")))
    kinds: list[str] = [line[1] for line in parsed]
    directives = [line for line in parsed if line[1] not in ("unknown", "unused", "comment", "empty")]
    seen = {
        "directives": len(directives),
        "valid_directives": len(directives),
        "unknown": kinds.count("unknown"),
        "last_directive_line": directives[-1][0] if directives else 0,
        "lines": len(parsed),
        "line_kinds": kinds,
    }
    asked = {name: case[name] for name in seen if name in case}
    return equal({name: seen[name] for name in asked}, asked)


def _limits(case: Line) -> Verdict:
    body = _built(case["build"]).encode()
    longest = case.get("max_ms", 1000) / 1000
    started = time.process_time()
    expected = case["expect"] if isinstance(case["expect"], list) else []
    decisions = [
        robots_file.parse(body, each["user_agent"]).decide(each["url"]).allowed == each["allowed"] for each in expected
    ]
    if "url_build" in case:
        each = case["url_build"]
        decisions.append(robots_file.parse(body, "anybot").decide(_built(each)).allowed == each["allowed"])
    if not decisions:
        decisions.append(robots_file.parse(body, "anybot").decide("http://example.com/a").allowed)
    spent = time.process_time() - started
    return Verdict(all(decisions) and spent < longest, f"decisions right: {decisions}, {spent:.3f} s of {longest} s")


def _built(recipe: Line) -> str:
    return str(recipe["prefix"] + recipe["filler"] * recipe["filler_count"] + recipe["suffix"])


def _corpus(file: Path) -> Iterator[Line]:
    """The probes, each with the file of its host."""
    for case in lines(file):
        yield {"id": f"{case['file']} {case['user_agent']} {case['url']}", **case, "folder": file.parent / "files"}


@lru_cache(maxsize=8)
def _corpus_file(path: Path) -> bytes:
    return path.read_bytes()


def _consensus(case: Line) -> Verdict:
    rules = _parsed(_corpus_file(case["folder"] / case["file"]), case["user_agent"])
    decision = rules.decide(case["url"])
    return Verdict(decision.allowed == case["allowed"], f"expected allowed={case['allowed']}, got {decision}")


SUITES = [
    Suite("robots/matching", "robots/matching.jsonl", "protego 1312 of 1338, robotspy 1276", _decision),
    Suite(
        "robots/lenient",
        "robots/lenient.jsonl",
        "protego 26 of 44, gpyrobotstxt 22",
        _decision,
        counts=lambda case: case["id"] not in _FURTHER_WORDS,
    ),
    Suite("robots/full_user_agent", "robots/full_user_agent.jsonl", "protego 86 of 87, stdlib 85", _decision),
    Suite("robots/crawl_delay", "robots/crawl_delay.jsonl", "", _crawl_delay),
    Suite("robots/request_rate", "robots/request_rate.jsonl", "", _request_rate),
    Suite("robots/sitemap_lines", "robots/sitemap_lines.jsonl", "", _sitemaps),
    Suite("robots/http_status", "robots/http_status.jsonl", "", _status),
    Suite("robots/redirects", "robots/redirects.jsonl", "", _redirects),
    Suite("robots/robots_url", "robots/robots_url.jsonl", "", _robots_url),
    Suite("robots/product_token", "robots/product_token.jsonl", "", _product_token),
    Suite("robots/path_extraction", "robots/path_extraction.jsonl", "", _path),
    Suite("robots/line_parsing", "robots/line_parsing.jsonl", "", _line_parsing),
    Suite("robots/limits", "robots/limits.jsonl", "", _limits),
    Suite(
        "robots_corpus/consensus",
        "robots_corpus/consensus.jsonl",
        "by construction protego 3401 of 3401",
        _consensus,
        cases=_corpus,
    ),
]
