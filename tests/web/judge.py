"""Judges the assertions of a reported case (cases/README.md, "check") by what the players and the crawler recorded."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import webencodings

from tests.web.crawler import Ended, bare
from tests.web.player import Request, Sent

SHOWN = 12
TOLERANCE_SECONDS = 0.05
STORED = ("fetched", "duplicate")

Pattern = str | dict[str, str]
Verdict = str | None
"""What was seen instead of what was expected; None if the assertion holds."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that a run left: `record` is asked for what the crawler says of a URL, {} if it knows nothing."""

    requests: list[Request]
    ends: list[Sent]
    ended: Ended
    record: Callable[[str], dict[str, Any]]

    def asked(self, pattern: Pattern) -> list[Request]:
        return [request for request in self.requests if _is(pattern, request.address)]


def judge(assertion: dict[str, Any], seen: Seen) -> Verdict:
    """Judges one assertion. Raises KeyError for a kind that is not known."""
    ((kind, value),) = assertion.items()
    return JUDGES[kind](value, seen)


def _is(pattern: Pattern, address: str) -> bool:
    """Whether HOST/TARGET is the URL, or the pattern is found in it."""
    if isinstance(pattern, dict):
        return re.search(pattern["re"], address) is not None
    authority, slash, rest = pattern.partition("://")[2].partition("/")
    return address == bare(authority) + slash + rest


def _is_host(pattern: Pattern, host: str) -> bool:
    return re.search(pattern["re"], host) is not None if isinstance(pattern, dict) else host == bare(pattern)


def _listed(requests: list[Request]) -> str:
    more = f" … ({len(requests)} in all)" if len(requests) > SHOWN else ""
    return "requests: " + (", ".join(request.address for request in requests[:SHOWN]) or "none") + more


def _requested(value: list[Pattern], seen: Seen) -> Verdict:
    missing = [pattern for pattern in value if not seen.asked(pattern)]
    return f"not asked: {missing}; {_listed(seen.requests)}" if missing else None


def _not_requested(value: list[Pattern], seen: Seen) -> Verdict:
    asked = [request for pattern in value for request in seen.asked(pattern)]
    return _listed(asked) if asked else None


def _max_requests(value: dict[str, Any], seen: Seen) -> Verdict:
    if "host" in value:
        found = [request for request in seen.requests if _is_host(value["host"], request.host)]
    else:
        found = seen.asked(value["url"])
    return _listed(found) if len(found) > value["n"] else None


def _min_gap(value: dict[str, Any], seen: Seen) -> Verdict:
    found = [
        request
        for request in seen.requests
        if _is_host(value["host"], request.host) and request.target != "/robots.txt"
    ]
    gaps = [(later.at - earlier.at, later.address) for earlier, later in pairwise(found)]
    near = [f"{gap:.3f} s before {address}" for gap, address in gaps if gap < value["s"] - TOLERANCE_SECONDS]
    return f"gaps: {', '.join(near[:SHOWN])}" if near else None


def _order(value: list[Pattern], seen: Seen) -> Verdict:
    first, second = (seen.asked(pattern) for pattern in value)
    return None if first and second and first[0].at < second[0].at else _listed(first[:1] + second[:1])


def _stored(value: dict[str, Any], seen: Seen) -> Verdict:
    record = seen.record(value["url"])
    if record.get("state") not in STORED:
        return f"state {record.get('state')}; {_listed(seen.asked(value['url']))}"
    if record.get("duplicate_of"):
        original = seen.record(record["duplicate_of"])
        record = original | {name: field for name, field in record.items() if field not in (None, "", [])}
    wrong = [
        f"{name}: {_short(record, name)}"
        for name, wanted in value.items()
        if name != "url" and not FIELDS[name](wanted, record)
    ]
    return "; ".join(wrong) or None


def _short(record: dict[str, Any], name: str) -> str:
    shown = "links" if name.startswith("links_") else "text" if name.startswith("text_") else name
    shown = "sha256" if name == "body_sha256" else shown
    content = record.get(shown)
    if shown == "links":
        content = [link["url"] for link in content or []]
    return f"{shown} is {str(content)[:400]!r}"


def _same_url(wanted: str, record: dict[str, Any]) -> bool:
    return urlsplit(str(record.get("duplicate_of") or "")) == urlsplit(wanted)


def _encoding(label: str) -> str:
    known = webencodings.lookup(label)
    return known.name if known else label.lower()


FIELDS: dict[str, Callable[[Any, dict[str, Any]], bool]] = {
    "status": lambda wanted, record: bool(record.get("status") == wanted),
    "title": lambda wanted, record: " ".join((record.get("title") or "").split()) == " ".join(wanted.split()),
    "charset": lambda wanted, record: _encoding(record.get("charset") or "") == _encoding(wanted),
    "text_contains": lambda wanted, record: wanted in (record.get("text") or ""),
    "text_lacks": lambda wanted, record: wanted not in (record.get("text") or ""),
    "links_include": lambda wanted, record: set(wanted) <= {link["url"] for link in record.get("links") or []},
    "links_exclude": lambda wanted, record: not set(wanted) & {link["url"] for link in record.get("links") or []},
    "body_sha256": lambda wanted, record: bool(record.get("sha256") == wanted),
    "duplicate_of": _same_url,
    "truncated": lambda wanted, record: bool(record.get("truncated")) == wanted,
}
"""How the fields of `stored` agree with the crawler's record."""


def _not_stored(value: list[str], seen: Seen) -> Verdict:
    kept = [url for url in value if seen.record(url).get("state") in STORED]
    return f"stored: {', '.join(kept)}" if kept else None


def _state(value: dict[str, Any], seen: Seen) -> Verdict:
    state = seen.record(value["url"]).get("state")
    return None if state in value["in"] else f"state {state}"


def _sent_header(value: dict[str, Any], seen: Seen) -> Verdict:
    name = value["name"].lower()
    sent = [text for request in seen.asked(value["url"]) for key, text in request.headers if key.lower() == name]
    if "lacks" in value:
        holds = not any(value["lacks"] in text for text in sent)
    elif "value" in value:
        holds = value["value"] in sent
    else:
        holds = any(value["contains"] in text for text in sent)
    return None if holds else f"{value['name']} sent: {sent[:SHOWN]}"


def _max_sent(value: dict[str, Any], seen: Seen) -> Verdict:
    sizes = [end.size for end in seen.ends if _is(value["url"], end.address)]
    return f"bytes sent: {max(sizes)}" if sizes and max(sizes) > value["bytes"] else None


def _output_lacks(value: list[str], seen: Seen) -> Verdict:
    said = seen.ended.said()
    found = [match.group() for pattern in value if (match := re.search(pattern, said))]
    return f"in the output: {found}" if found else None


def _ends_within(value: float, seen: Seen) -> Verdict:
    ended = seen.ended
    if ended.status is None:
        return f"killed after {ended.seconds:.1f} s"
    return None if ended.seconds <= value else f"ended after {ended.seconds:.1f} s"


def _any(value: list[dict[str, Any]], seen: Seen) -> Verdict:
    verdicts = [judge(assertion, seen) for assertion in value]
    return None if None in verdicts else " | ".join(verdict for verdict in verdicts if verdict)


JUDGES: dict[str, Callable[[Any, Seen], Verdict]] = {
    "requested": _requested,
    "not_requested": _not_requested,
    "max_requests": _max_requests,
    "min_gap_s": _min_gap,
    "order": _order,
    "stored": _stored,
    "not_stored": _not_stored,
    "state": _state,
    "sent_header": _sent_header,
    "max_sent": _max_sent,
    "output_lacks": _output_lacks,
    "ends_within_s": _ends_within,
    "exit": lambda value, seen: None if seen.ended.status == value else f"exit code {seen.ended.status}",
    "rss_below_mb": lambda value, seen: None if seen.ended.rss_mb < value else f"{seen.ended.rss_mb:.0f} MiB",
    "any": _any,
}
