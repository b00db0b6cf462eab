"""The comparison with truth.json: the truth's own figures come out of it, and each kind of difference is seen."""

import json
from typing import Any

import msgspec
import pytest

from tests.web import realweb, truth
from tests.web.shared import SHARED, needs

FOLDER = SHARED / "realweb"
A, B, C = (f"http://a.example/{name}" for name in "abc")
WANT = truth.Expected(
    sha256={A: "1", B: "1", C: "2"},
    links={A: 2, B: 0, C: 1},
    encoding={A: "utf-8", B: "utf-8", C: "gbk"},
    recorded=frozenset({A, B, C, "http://a.example/%7e"}),
)


def stored(url: str, sha256: str, encoding: str, *links: str, **other: Any) -> bytes:
    kinds = [{"url": link, "kind": "a", "nofollow": True} for link in links]
    record = {"url": url, "state": "fetched", "status": 200, "sha256": sha256, "charset": encoding, "links": kinds}
    return json.dumps(record | other).encode()


SAME = [
    stored(A, "1", "UTF-8", f"{B}#x", B, A, C, "http://elsewhere.example/"),
    stored(B, "1", "utf-8", state="duplicate", duplicate_of=A, title=None),
    stored(C, "2", "gbk", A, links=[{"url": A, "kind": "a"}, {"url": B, "kind": "img"}]),
    stored("http://a.example/gone", "3", "utf-8", status=404, state="gone"),
]


def compared(*lines: bytes, charsets: bool = True) -> list[str]:
    return list(truth.differences(WANT, truth.read(lines, WANT.recorded), charsets))


def test_an_equal_crawl_has_no_differences() -> None:
    assert compared(*SAME) == []


def test_a_page_may_be_named_by_its_canonical_form() -> None:
    assert truth.read([stored("http://a.example/~", "1", "utf-8")], WANT.recorded).sha256.keys() == {
        "http://a.example/%7e"
    }


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (SAME[:2], ["not stored: http://a.example/c"]),
        ([*SAME, stored("http://a.example/d", "9", "utf-8")], ["stored but not expected"]),
        ([*SAME, SAME[0]], ["stored twice"]),
        ([SAME[0], stored(B, "9", "utf-8"), SAME[2]], ["another body", "no duplicate group of 2"]),
        ([*SAME[:2], stored(C, "2", "gbk", A, B)], ["links: http://a.example/c: 1, crawled 2"]),
        ([*SAME[:2], stored(C, "2", "big5", A)], ["charset: http://a.example/c"]),
        (
            [*SAME[:2], stored(C, "1", "gbk", A)],
            ["another body", "no duplicate group", "unexpected duplicate group of 3"],
        ),
    ],
)
def test_each_kind_of_difference_is_seen(lines: list[bytes], words: list[str]) -> None:
    found = compared(*lines)
    assert len(found) == len(words)
    assert all(word in line for word, line in zip(words, found, strict=True))


def test_charsets_count_only_when_asked_for() -> None:
    assert compared(*SAME[:2], stored(C, "2", "big5", A), charsets=False) == []


def test_a_record_without_its_fields_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        truth.read([b'{"state": "fetched"}'], WANT.recorded)


@needs("realweb/truth.json")
@pytest.mark.parametrize("profile", ["plain", "polite"])
def test_the_figures_of_the_truth_come_out(profile: str) -> None:
    files = [path.name for path in realweb.page_files(FOLDER, [])]
    want = truth.expected(FOLDER, profile, files)
    rules = json.loads((FOLDER / "truth.json").read_text())["profiles"][profile]
    assert len(want.sha256) == rules["pages"]
    assert sum(want.links.values()) == rules["links"]
    assert len(truth.groups(want.sha256)) == rules["duplicate_groups"]


@needs("realweb/truth.json")
def test_pages_that_a_recorded_sitemap_names_are_expected() -> None:
    sitemaps = truth.sitemaps(FOLDER / "extras.warc.gz")
    assert len(sitemaps) == 4
    named = {place for places in sitemaps.values() for place in places}
    files = [path.name for path in realweb.page_files(FOLDER, [])]
    want, more = (truth.expected(FOLDER, "polite", files, some) for some in ((), named))
    added = more.sha256.keys() - want.sha256.keys()
    assert len(added) == 60
    assert added <= named


def test_documents_that_are_no_pages_are_taken_out() -> None:
    found = truth.read(SAME, WANT.recorded)
    assert found.without([B, "http://a.example/other"]) == [B]
    assert B not in found.sha256
    assert B not in found.links
