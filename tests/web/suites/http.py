"""HTTP: dates, Retry-After, redirects, freshness and content codings."""

import datetime
import hashlib

from gregor.worker.fetch.content_coding import Corrupt, Decoder, TooLarge
from gregor.worker.robots.file import time_to_live
from gregor.worker.web import http_headers
from tests.web.suites import Line, Suite, Verdict, equal, octets

_LIMIT = 10 * 1024 * 1024
_PIECE = 16 * 1024


def _date(case: Line) -> Verdict:
    return equal(http_headers.http_date(case["text"]), case["unix"])


def _now(case: Line) -> float | None:
    return None if case["now"] is None else datetime.datetime.fromisoformat(case["now"]).timestamp()


def _retry_after(case: Line) -> Verdict:
    return equal(http_headers.retry_after(case["value"], _now(case) or 0.0), case["seconds"])


def _redirect(case: Line) -> Verdict:
    """The target is judged. A redirect is a link here, asked for by a GET of its own that carries nothing over, so what
    another method turns into and which headers are kept is no question."""
    location = None
    if case.get("location") is not None or "location_b64" in case:
        location = octets(case, "location").decode("latin-1")
    target = http_headers.redirect_target(case["status"], location, case["url"])
    if not case["follow"]:
        return equal(target, None)
    return Verdict(target in case.get("accept", [case["target"]]), f"expected {case['target']}, got {target}")


def _time_to_live(case: Line) -> Verdict:
    found = time_to_live(case["headers"], _now(case), default=case["default"], minimum=case["minimum"])
    return equal(found, case["ttl"])


def _content_encoding(case: Line) -> Verdict:
    body, found, fault = octets(case, "body"), b"", ""
    decoder = Decoder(case["content_encoding"], case.get("size_limit", _LIMIT))
    try:
        for start in range(0, len(body), _PIECE):
            found += decoder.feed(body[start : start + _PIECE])
        found += decoder.finish()
    except (Corrupt, TooLarge) as problem:
        fault = type(problem).__name__
    if "size_limit" in case:
        return equal((len(found), fault), (case["size_limit"], "TooLarge"))
    if "recoverable_min_length" in case:
        enough = len(found) >= case["recoverable_min_length"] and fault == "Corrupt"
        return Verdict(enough, f"expected Corrupt after {case['recoverable_min_length']}, got {fault} at {len(found)}")
    whole = hashlib.sha256(found).hexdigest(), len(found), fault
    return equal(whole, (case["decoded_sha256"], case["decoded_length"], ""))


SUITES = [
    Suite("http/dates", "http/dates.jsonl", "email.utils 12 of 13, dateutil 12", _date),
    Suite("http/retry_after", "http/retry_after.jsonl", "urllib3 8 of 8", _retry_after),
    Suite("http/redirects", "http/redirects.jsonl", "requests 34 of the 36 followed", _redirect),
    Suite("http/cache_ttl", "http/cache_ttl.jsonl", "", _time_to_live),
    Suite("http/content_encoding", "http/content_encoding.jsonl", "", _content_encoding),
]
