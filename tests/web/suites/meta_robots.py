"""meta robots and X-Robots-Tag."""

import datetime

from selectolax.lexbor import LexborHTMLParser

from gregor.worker.robots.meta import Directives, meta_robots, names
from tests.web.suites import Line, Suite, Verdict, equal

_NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC).timestamp()


def _directives(case: Line) -> Directives:
    tree = LexborHTMLParser(case.get("html", ""))
    entries = [
        (element.attributes["name"] or "", element.attributes.get("content") or "")
        for element in tree.css("meta[name]")
    ]
    return meta_robots(entries, case.get("x_robots_tag", ()), case["user_agent"], _NOW)


def _restrictions(case: Line) -> Verdict:
    """``none`` stands for two others, ``all`` for nothing; what the source does not state is not judged."""
    found = _directives(case)
    seen = {name: getattr(found, name) for name in ("noindex", "nofollow") if name in case}
    if any(seen[name] != case[name] for name in seen):
        return equal(seen, {name: case[name] for name in seen})
    if "directives" not in case:
        return Verdict(True, "")
    return equal(set(names(found)), set(case["directives"]) - {"all", "none"})


def _ai_use(case: Line) -> Verdict:
    found = _directives(case)
    return equal(not (found.noai or found.noimageai), case["ai_use_allowed"])


def _unavailable_after(case: Line) -> Verdict:
    return equal(_directives(case).unavailable_after, datetime.datetime.fromisoformat(case["utc"]).timestamp())


SUITES = [
    Suite("meta_robots/directives", "meta_robots/directives.jsonl", "30-line reference 50 of 50", _restrictions),
    Suite("meta_robots/unavailable_after", "meta_robots/unavailable_after.jsonl", "", _unavailable_after),
    Suite("meta_robots/noai", "meta_robots/noai.jsonl", "", _ai_use),
]
