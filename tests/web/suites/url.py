"""WHATWG URL parsing, IDNA, IPv4 spellings, legacy query encodings and resolution of references.

A crawler asks for no fragment and sends no credentials, so these are taken off the published serialisations first; what
is no http(s) URL must be refused.
"""

import re

from gregor.worker.web.urls import Url, Urls
from tests.web.suites import Line, Suite, Verdict, equal

URLS = Urls()
_CREDENTIALS = re.compile(r"(https?://)[^/?#]*@")
_HOST_ENDING = re.compile(r"[:/?#\\]")


def requested(href: str | None) -> str | None:
    """What a crawler makes of a published serialisation."""
    if href is None or not href.startswith(("http://", "https://")):
        return None
    return _CREDENTIALS.sub(r"\1", href.partition("#")[0])


def _parsed(case: Line) -> Verdict:
    base = case.get("base")
    url = URLS.parse(case["input"]) if base is None else URLS.resolve(case["input"], base)
    expected = None if case.get("failure") else requested(case["href"])
    if url is None or expected is None:
        return equal(url, expected)
    return equal(_components(url), _published(case, expected))


def _components(url: Url) -> tuple[str, ...]:
    return url.href, f"{url.scheme}:", url.origin, url.hostname, str(url.port), url.target


def _published(case: Line, href: str) -> tuple[str, ...]:
    default = "443" if case["protocol"] == "https:" else "80"
    origin = f"{case['protocol']}//{case['host']}"
    return href, case["protocol"], origin, case["hostname"].strip("[]"), case["port"] or default, _target(case)


def _target(case: Line) -> str:
    # "search" is empty both for no query and for an empty one; only the serialisation tells.
    empty = "?" if not case["search"] and case["href"].partition("#")[0].endswith("?") else ""
    return str(case["pathname"]) + str(case["search"]) + empty


def _host(case: Line) -> Verdict:
    # As in the Web Platform Tests: what would end the host is escaped, so that it reaches the host parser.
    host = _HOST_ENDING.sub(lambda one: f"%{ord(one[0]):02X}", case["input"])
    url = URLS.parse(f"https://{host}/x")
    return equal(url and url.hostname, case["output"])


def _ipv4(case: Line) -> Verdict:
    url = URLS.parse(f"http://{case['host']}/")
    address = url.hostname if url and re.fullmatch(r"\d+\.\d+\.\d+\.\d+", url.hostname) else None
    return equal(address, case["ipv4"])


def _query(case: Line) -> Verdict:
    found = {label: _encoded(case["input"], label) for label in case["output"]}
    return equal(found, case["output"])


def _encoded(query: str, label: str) -> str | None:
    url = URLS.resolve(f"?{query}#fragment", "http://example.com/", label)
    return None if url is None else url.target.removeprefix("/?")


def _resolved(case: Line) -> Verdict:
    url = URLS.resolve(case["ref"], case["base"])
    accepted = {requested(one) for one in case["accept"]}
    href = url and url.href
    return Verdict(href in accepted, "" if href in accepted else f"expected one of {accepted}, got {href!r}")


def _by_the_url_standard(case: Line) -> Verdict:
    url = URLS.resolve(case["ref"], case["base"])
    return equal(url and url.href, requested(case["whatwg"]))


SUITES = [
    Suite(
        "url/parsing_wpt",
        "url/parsing_wpt.jsonl",
        "ada-url 313, w3lib 130, urllib 84 of 313",
        _parsed,
        lambda case: case["web"],
    ),
    Suite(
        "url/parsing_ada_extra",
        "url/parsing_ada_extra.jsonl",
        "ada-url 5, w3lib 4, urllib 3 of 5",
        _parsed,
        lambda case: case["web"],
    ),
    Suite("url/toascii_wpt", "url/toascii_wpt.jsonl", "ada-url 57, idna 31 of 57", _host),
    Suite(
        "url/idna_test_v2",
        "url/idna_test_v2.jsonl",
        "ada-url 1865, idna 1065 of 1866",
        _host,
        lambda case: case["input"] != "",  # a URL has no way to say "empty host": WPT skips it too
    ),
    Suite("url/ipv4_hosts", "url/ipv4_hosts.jsonl", "ada-url 31 of 32", _ipv4),
    Suite("url/percent_encoding_query_wpt", "url/percent_encoding_query_wpt.jsonl", "-", _query),
    Suite("url/resolve", "url/resolve.jsonl", "ada-url 63, urllib 61, w3lib 61 of 63", _resolved),
    Suite("url/resolve_conflicts", "url/resolve_conflicts.jsonl", "-", _by_the_url_standard),
]
