"""The canonical form: the core (RFC 3986 section 6 on the URL Standard) and the optional operations on offer."""

import ada_url

from gregor.worker.web.canonical import CanonicalRules, canonical
from gregor.worker.web.urls import Urls
from tests.web.suites import Line, Suite, Verdict, equal
from tests.web.suites.url import requested

_OFFERED = {
    "strip-session-id": {"session_ids": True},
    "drop-tracking-params": {"tracking_parameters": True},
    "drop-default-documents": {"index_files": True},
    "sort-query": {"sort_query": True},
    "drop-empty-query": {"sort_query": True},
    "clean-empty-params": {"sort_query": True},
    "strip-userinfo": {},
}
"""The published names of the operations, and the rule that does each; credentials always go."""


def _core(case: Line) -> Verdict:
    key = canonical(ada_url.normalize_url(case["input"]))
    if key != case["expected"] or not case["web"]:
        return equal(key, case["expected"])
    url = Urls().parse(case["input"])
    return equal(url and url.key, requested(key))


def _optional(case: Line) -> Verdict:
    switches = [_OFFERED[operation] for operation in case["operations"]]
    rules = CanonicalRules(**{name: True for switch in switches for name in switch})
    url = Urls(rules).parse(case["input"])
    return equal(url and url.key, case["expected"])


def _offered(case: Line) -> bool:
    operations = set(case["operations"])
    if operations == {"clean-empty-params"}:  # comes with sorting only
        return False
    # courlan's strict mode keeps a short list of known parameters and drops all others: another operation.
    strict = any("strict" in profile for profile in case["profiles"])
    return bool(case["web"]) and operations <= _OFFERED.keys() and not strict


def _rejected(case: Line) -> Verdict:
    return equal(Urls().parse(case["input"]), None)


def _equivalent(rules: CanonicalRules, case: Line) -> Verdict:
    one, other = (Urls(rules).parse(case[side]) for side in "ab")
    if one is None or other is None:
        return Verdict(False, "does not parse")
    return equal(one.key == other.key, case["equivalent"])


SUITES = [
    Suite(
        "url_normalisation/core",
        "url_normalisation/core.jsonl",
        "ada-url 638, w3lib 586, url-normalize 511 of 680",
        _core,
    ),
    Suite(
        "url_normalisation/optional_operations",
        "url_normalisation/optional_operations.jsonl",
        "courlan 85, urlcanon 70, w3lib 43 of 271",
        _optional,
        _offered,
    ),
    Suite("url_normalisation/reject", "url_normalisation/reject.jsonl", "ada-url 88, w3lib 44 of 88", _rejected),
    Suite(
        "url_normalisation/equivalence",
        "url_normalisation/equivalence.jsonl",
        "-",
        lambda case: _equivalent(CanonicalRules(), case),
    ),
    Suite(
        "url_normalisation/equivalence_optional",
        "url_normalisation/equivalence_optional.jsonl",
        "-",
        lambda case: _equivalent(CanonicalRules(sort_query=True), case),
    ),
]
