"""Registered domains by the Public Suffix List."""

from gregor.worker.web.domains import registered_domain
from tests.web.suites import Line, Suite, Verdict, equal


def _registered(case: Line) -> Verdict:
    found = registered_domain(case["host"], include_private=case.get("include_private", True))
    expected = case["registered_domain"]
    return equal(found, expected and expected.lower())  # some sources keep the case of what they are given


SUITES = [
    Suite("psl/test_psl", "psl/test_psl.jsonl", "publicsuffixlist 62, tldextract 58 of 62", _registered),
    Suite(
        "psl/registered_domain",
        "psl/registered_domain.jsonl",
        "publicsuffixlist 65, tldextract 68 of 68",
        _registered,
    ),
    Suite("psl/ip_hosts", "psl/ip_hosts.jsonl", "-", _registered),
]
