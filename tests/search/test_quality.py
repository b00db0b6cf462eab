"""Known items are found; and that the measure measures."""

import json
from pathlib import Path

import pytest

from tests.cluster.servers import Service
from tests.search import quality
from tests.search.quality import Item, measure, read_items, reciprocal_rank, without_answers
from tests.search.recorded_web import pages
from tests.search.stored import link, page
from tests.web.shared import SHARED, needs

SITES = [SHARED / "realweb" / f"site-{name}.warc.gz" for name in ("ant", "flink", "sakura")]


@needs("realweb")
@needs("search")
def test_known_items_of_some_sites_are_found_by_both_engines(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    items = read_items(SHARED / "search" / "known_open.jsonl")
    web = without_answers(pages(SITES), items)
    there = {one.key for one in web}
    asked = [item for item in items if item.relevant <= there]
    found = measure(asked, web, tmp_path)
    (tmp_path / "beside").mkdir()
    assert found.items > 100
    assert found.mrr["title"] >= 0.985 and found.mrr["anchor"] >= 0.62
    service: Service = request.getfixturevalue("opensearch")
    on_servers = measure(asked, web, tmp_path / "beside", quality.on_nodes(service))
    assert on_servers.documents == found.documents
    assert on_servers.mrr == pytest.approx(found.mrr, abs=0.01)


def test_the_rank_of_the_first_wanted_page_counts() -> None:
    item = Item("q", "title", frozenset({"b", "c"}))
    assert reciprocal_rank(item, [["a"], ["x", "c"], ["b"]]) == 0.5
    assert reciprocal_rank(item, [["a"]]) == reciprocal_rank(item, []) == 0.0


def test_answers_are_not_given_away() -> None:
    links = [link("http://b/", "The  Answer!"), link("http://b/", "other words")]
    web = [page("http://a/", "a", 1, *links, directives=("noindex",))]
    (kept,) = without_answers(
        web, [Item("the answer", "anchor", frozenset()), Item("other words", "title", frozenset())]
    )
    assert [one.text for one in kept.links] == ["other words"] and kept.directives == ()


def test_the_last_line_is_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    item = {"query": "fox", "kind": "title", "language": "en", "relevant": ["http://a/"], "host": "a"}
    (tmp_path / "items").write_text(json.dumps(item) + "\n")
    (tmp_path / "site.warc.gz").touch()
    monkeypatch.setattr(quality, "pages", lambda files: [page("http://a/", "a fox"), page("http://b/", "a dog")])
    monkeypatch.setattr("sys.argv", ["quality", str(tmp_path / "items"), str(tmp_path)])
    assert quality.main() == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (said["items"], said["documents"], said["mrr"]) == (1, 2, {"title": 1.0})
    assert said["by_language"] == {"title": {"en": 1.0}}
    monkeypatch.setattr("sys.argv", ["quality", str(tmp_path / "items"), str(tmp_path), "--file", "none*"])
    assert quality.main() == 2
