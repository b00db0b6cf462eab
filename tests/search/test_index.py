"""What every `Index` keeps; each case again after a reopen."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from gregor.search.adapters.tantivy_index import TantivyIndex
from gregor.search.borders import FARTHEST, Index, Unusable
from gregor.search.documents import Anchor, IndexedDocument
from gregor.search.query import parse
from gregor.worker.borders.errors import DiskFull
from tests.files import files_limited_to
from tests.search import opensearch

Opener = Callable[[], Index]


@pytest.fixture(params=["tantivy", "opensearch"])
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same index again and again, for writing; what was open before is closed."""
    engine = in_folder(tmp_path / "index") if request.param == "tantivy" else on_nodes(request)
    opened: list[Index] = []

    def again() -> Index:
        if opened:
            opened[-1].close()
        opened.append(engine())
        return opened[-1]

    yield again
    if opened:
        opened[-1].close()


def in_folder(folder: Path) -> Opener:
    return lambda: TantivyIndex(folder, writable=True)


def on_nodes(request: pytest.FixtureRequest) -> Opener:
    made = opensearch.made(request.getfixturevalue("opensearch"))
    return lambda: opensearch.writing(made)


def document(name: str, title: str = "", text: str = "", **more: object) -> IndexedDocument:
    host = f"{name}.example.org"
    fields: dict[str, object] = {"keys": ((f"http://{host}/{name}", 1),), "href": f"http://{host}/{name}", "host": host}
    return IndexedDocument(id=name, title=title, text=text, **{**fields, **more})  # type: ignore[arg-type]


def found(index: Index, query: str, limit: int = 10, offset: int = 0) -> list[str]:
    return [hit.id for hit in index.search(parse(query), limit, offset).hits]


WEB = [
    document(
        "fox", "The quick fox", "A fox jumps over the lazy dog", language="en", content_type="text/html", at=100.0
    ),
    document(
        "dog",
        "Dogs",
        "A dog sleeps. The fox is far.",
        language="en-gb",
        content_type="application/pdf",
        at=2e9,
        label="Press",
    ),
    document("fuchs", "Füchse", "Der Fuchs und der Hund", language="de", anchors=(Anchor("red animal", "b"),), at=1e9),
    document("kyoto", "京都", "京都は日本の都市です", headings=("Old Ruins",)),
    document("other", "Other", "jumps the fox over all", items=("product", "brand=acme corp", "price=3.5")),
]


@pytest.fixture
def index(open_index: Opener) -> Index:
    made = open_index()
    made.put(WEB)
    made.commit(7)
    return made


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("fuchse", {"fuchs"}),
        ("京都", {"kyoto"}),
        ("ruins", {"kyoto"}),
        ("label:press", {"dog"}),
        ("fox -label:press", {"fox", "other"}),
        ("item:product", {"other"}),
        ('item:"brand=acme corp"', {"other"}),
        ("fox -item:price=3.5", {"fox", "dog"}),
        ("animal", {"fuchs"}),
        ('"fox jumps"', {"fox"}),
        ('fox -"fox jumps"', {"dog", "other"}),
        ("fox -dog", {"other"}),
        ("fox site:example.org", {"fox", "dog", "other"}),
        ("fox host:dog.example.org", {"dog"}),
        ("site:dog.example.org", {"dog"}),
        ("site:dog.example.org site:fox.example.org", {"dog", "fox"}),
        ("fox -site:dog.example.org", {"fox", "other"}),
        ("lang:en", {"fox", "dog"}),
        ("lang:en-gb", {"dog"}),
        ("type:pdf", {"dog"}),
        ("type:text/html", {"fox"}),
        ("fox before:2000", {"fox", "other"}),
        ("after:2020", {"dog"}),
        ("after:1990 before:2020", {"fuchs"}),
        ("intitle:quick", {"fox"}),
        ('intitle:"quick fox"', {"fox"}),
        ("inurl:kyoto", {"kyoto"}),
        ("nothingofthekind", set()),
        ("position", set()),
        ("", set()),
        ("-fox", set()),
    ],
)
def test_what_a_query_finds(index: Index, open_index: Opener, query: str, names: set[str]) -> None:
    assert set(found(index, query)) == names
    assert set(found(open_index(), query)) == names


def test_a_title_counts_more_than_a_text_and_words_together_more_than_apart(index: Index) -> None:
    assert found(index, "fox")[0] == "fox"
    assert found(index, "over the lazy dog")[0] == "fox"


def test_words_near_each_other_are_worth_more_than_apart(open_index: Opener) -> None:
    index, filling = open_index(), "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor"
    texts = {
        "far": f"harbour {filling} museum",
        "near": f"harbour town museum {filling}",
        "side": f"harbour museum {filling} so",
    }
    index.put([document(name, "", text) for name, text in texts.items()])
    index.commit(1)
    assert found(index, "harbour museum") == ["side", "near", "far"]
    assert [part.what for part in index.why(parse("harbour museum"), "near")][-1] == "words near each other in the text"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("港", {"first", "last", "alone", "title"}),
        ("-港 町", {"without"}),
        ("intitle:港", {"title"}),
        ("港 博物館", {"first"}),
        ("ที่", {"thai"}),
        ("한", {"korean"}),
    ],
)
def test_a_lone_character_is_found_inside_of_words(open_index: Opener, query: str, names: set[str]) -> None:
    texts = {
        "first": "町の港博物館",
        "last": "町と港",
        "alone": "町 港",
        "without": "町",
        "thai": "อยู่ที่นี่",
        "korean": "대한",
    }
    index = open_index()
    index.put([document(name, "", text) for name, text in texts.items()] + [document("title", "港の人")])
    index.commit(1)
    assert set(found(index, query)) == names


def test_where_no_document_has_the_words_those_with_some_are_found_and_it_is_said(index: Index) -> None:
    some = index.search(parse("fox qwertz asdfgh"))
    assert some.any_word and some.total == 3
    assert not index.search(parse("fox dog")).any_word


def test_a_hit_tells_what_is_shown(index: Index) -> None:
    (hit,) = index.search(parse("fuchse")).hits
    assert (hit.key, hit.visit, hit.title, hit.language, hit.at) == (
        "http://fuchs.example.org/fuchs",
        1,
        "Füchse",
        "de",
        1e9,
    )
    assert hit.score > 0


def test_pages_of_hits_are_one_list(index: Index) -> None:
    whole = found(index, "site:example.org", 10)
    assert len(whole) == 5 == index.search(parse("site:example.org"), 1).total
    assert [found(index, "site:example.org", 1, at)[0] for at in range(5)] == whole
    assert found(index, "site:example.org", 10, 5) == []


def test_only_what_was_committed_is_there_and_the_position_with_it(index: Index, open_index: Opener) -> None:
    index.put([document("late", "late")])
    index.remove(["fox"])
    again = open_index()
    assert (again.position(), again.count(), found(again, "late"), len(found(again, "fox"))) == (7, 5, [], 3)
    again.put([document("late", "late")])
    again.remove(["fox", "never there"])
    again.commit(8)
    for held in (again, open_index()):
        assert (held.position(), held.count(), found(held, "late"), set(found(held, "fox"))) == (
            (8, 5, ["late"], {"dog", "other"})
        )


def test_putting_again_doubles_nothing(index: Index) -> None:
    for position in (8, 9):
        index.put([*WEB, document("fox", "Now a cat")])
        index.commit(position)
    assert index.count() == 5 and index.position() == 9
    assert found(index, "intitle:cat") == ["fox"] and found(index, "intitle:quick") == []


def test_an_empty_index_finds_nothing(open_index: Opener) -> None:
    index = open_index()
    assert (index.position(), index.count(), found(index, "fox")) == (0, 0, [])


def test_what_holds_no_index_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="holds no index"):
        TantivyIndex(tmp_path / "nothing")
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(Unusable, match="cannot be used") as refused:
        TantivyIndex(tmp_path)
    assert "\n" not in str(refused.value)


def test_without_room_it_says_where_and_has_what_was_committed(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "index", writable=True)
    index.put([document("fox", "A fox")])
    index.commit(1)
    index.put([document(f"more{number}", f"more number {number}") for number in range(1000)])
    with files_limited_to(1 << 12), pytest.raises(DiskFull) as refused:
        index.commit(2)
    assert str(refused.value) == f"no space is left for {tmp_path / 'index'}"
    index.close()
    again = TantivyIndex(tmp_path / "index", writable=True)
    assert (again.position(), again.count()) == (1, 1)
    again.put([document("cat", "A cat")])
    again.commit(2)
    assert (again.position(), again.count(), found(again, "cat")) == (2, 2, ["cat"])


def test_what_may_not_be_written_is_searched_without_a_file_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = TantivyIndex(tmp_path / "index", writable=True)
    written.put(WEB)
    written.commit(1)
    (tmp_path / "index" / ".tantivy-meta.lock").unlink()
    before = set((tmp_path / "index").iterdir())
    monkeypatch.setattr(os, "access", lambda *_: False)
    reading = TantivyIndex(tmp_path / "index")
    assert (found(reading, "intitle:quick"), set((tmp_path / "index").iterdir())) == (["fox"], before)
    for position in range(2, 8):
        written.put([document("fox", f"Now cat number {position}")])
        written.commit(position)
    again = reading.refreshed()
    assert (again.position(), found(again, "cat"), found(reading, "cat")) == (7, ["fox"], [])
    written.close()
    assert again.refreshed().count() == 5


@pytest.mark.parametrize("name", ["\ud800", "x\udfff", "nothing", "\x00"])
def test_a_name_that_nothing_has_names_nothing(index: Index, name: str) -> None:
    assert index.document(name) is None and index.why(parse("fox"), name) == []


def test_an_index_that_was_removed_is_refused_when_it_is_looked_at_again(tmp_path: Path) -> None:
    written = TantivyIndex(tmp_path / "index", writable=True)
    written.commit(1)
    reading = TantivyIndex(tmp_path / "index")
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(Unusable):
        reading.refreshed()


def test_a_rank_puts_a_document_up_by_a_quarter_at_most(index: Index) -> None:
    index.put([document(f"rank{rank}", "Ranked", "the same words", rank=rank) for rank in (0.0, 0.5, 1.0)])
    index.commit(8)
    hits = {hit.rank: hit.score for hit in index.search(parse("same words")).hits}
    assert hits[0.5] / hits[0.0] == pytest.approx(1.125) and hits[1.0] / hits[0.0] == pytest.approx(1.25)
    assert index.search(parse("inurl:rank1")).hits[0].rank == 1.0


def test_hits_that_nobody_can_reach_are_not_given(index: Index) -> None:
    assert (
        len(index.search(parse("fox"), 10, FARTHEST - 1).hits) == 0 == len(index.search(parse("fox"), 5, 10**12).hits)
    )
    answer = index.search(parse("fox"), 10**12)
    assert len(answer.hits) == answer.total == 3


def test_a_quick_look_is_into_titles_and_links(index: Index) -> None:
    for query, names in (("fox", {"fox"}), ("animal", {"fuchs"}), ('"quick fox"', {"fox"}), ("jumps", set())):
        answer = index.search(parse(query), quick=True)
        assert {hit.id for hit in answer.hits} == names and answer.partial
    assert not index.search(parse("fox")).partial


def test_any_number_of_words_may_be_enough(index: Index) -> None:
    asked = msgspec.structs.replace(parse("fox dog sleeps hund"), least=2)
    assert {hit.id for hit in index.search(asked).hits} == {"dog", "fox"}


def test_terms_nearly_like_one_are_of_documents_that_are_there(index: Index, open_index: Opener) -> None:
    assert index.frequency("fox") == 3 and index.frequency("foxes") == 0
    assert index.near("jumsp") == {"jumps": 2} and index.near("hundd") == {"hund": 1}
    assert index.near("sleps") == {"sleeps": 1}
    index.put([document("long", "Wolkenkratzer")])
    index.remove(["dog"])
    index.commit(8)
    assert index.near("sleps") == {} == open_index().near("sleps")  # its words may be in the files still
    assert open_index().near("wolkemkratser") == {"wolkenkratzer": 1}


def test_the_newest_come_first_where_that_is_asked_for(index: Index, open_index: Opener) -> None:
    asked = msgspec.structs.replace(parse("site:example.org"), newest=True)
    for searched in (index, open_index()):
        hits = searched.search(asked, 3).hits
        assert [hit.id for hit in hits] == ["dog", "fuchs", "fox"] and {hit.score for hit in hits} == {0.0}
        assert [hit.id for hit in searched.search(asked, 1, 1).hits] == ["fuchs"]


SHOP = [
    document("m1", "mug", host="a.example.org", language="de-at", content_type="text/html", label="shop",
             items=("product", "brand=acme corp", "color=red", "color=blue")),
    document("m2", "mug", host="a.example.org", language="de", content_type="application/xhtml+xml", label="shop",
             items=("product", "brand=acme corp", "color=red")),
    document("m3", "mug", host="b.example.org:8080", language="en", content_type="text/html", label="two words",
             items=("product", "brand=other")),
    document("m4", "cup", host="c.example.org", items=("recipe",)),
]  # fmt: skip


def counted(index: Index, query: str, *, any_word: bool = False) -> dict[str, dict[str, int]]:
    found = index.facets(parse(query), any_word=any_word)
    return {f"{facet.name}:{facet.field}": {each.value: each.count for each in facet.values} for facet in found}


def test_what_was_found_is_counted_by_what_it_has_in_common(open_index: Opener) -> None:
    index = open_index()
    index.put(SHOP)
    index.commit(1)
    for searched in (index, open_index()):
        assert counted(searched, "mug") == {
            "host:": {"a.example.org": 2, "b.example.org:8080": 1},
            "lang:": {"de": 2, "en": 1},
            "type:": {"text/html": 2, "application/xhtml+xml": 1},
            "label:": {"shop": 2},  # two words cannot be typed as a filter
            "item:": {"product": 3},
            "item:brand": {"acme corp": 2, "other": 1},
            "item:color": {"red": 2, "blue": 1},
        }
        assert counted(searched, "mug lang:de item:color=blue")["host:"] == {"a.example.org": 1}
        assert counted(searched, "mug qwertz") == {} and counted(searched, "mug qwertz", any_word=True)["lang:"]
        assert counted(searched, "") == {} == counted(searched, "nothingofthekind")
        for facet in searched.facets(parse("mug")):
            for each in facet.values:  # what a value counts is what it finds
                assert searched.search(parse(f"mug {each.query}")).total == each.count, each.query


def test_a_host_is_found_at_all_its_ports_unless_one_is_said(open_index: Opener) -> None:
    index = open_index()
    hosts = [
        "a.test",
        "a.test:8080",
        "a.test:81",
        "axtest:80",
        "ba.test:80",
        "b.test:80",
        "[::1]:80",
        "[::1]",
        "a.test.b",
    ]
    index.put([document(f"p{number}", "port", host=host) for number, host in enumerate(hosts)])
    index.commit(1)
    for query, names in (
        ("host:a.test", {"p0", "p1", "p2"}),
        ("host:a.test:8080", {"p1"}),
        ("host:[::1]", {"p6", "p7"}),
        ("host:b.test", {"p5"}),
        ("port -host:a.test", {"p3", "p4", "p5", "p6", "p7", "p8"}),
        ("site:a.test", {"p0", "p1", "p2"}),
        ("host:a.tes", set()),
        ("host:.*", set()),
    ):
        assert set(found(index, query)) == names, query
    (counts,) = (facet for facet in index.facets(parse("port")) if facet.name == "host")
    assert {each.value: each.count for each in counts.values}["a.test"] == 3
    for each in counts.values:
        assert index.search(parse(f"port {each.query}")).total == each.count, each.query


def test_filters_of_several_fields_of_items_have_to_be_met_all_and_any_of_one_field(open_index: Opener) -> None:
    index = open_index()
    index.put(SHOP)
    index.commit(1)
    assert set(found(index, "item:product item:color=red")) == {"m1", "m2"}
    assert set(found(index, "item:product item:recipe")) == {"m1", "m2", "m3", "m4"}
    assert set(found(index, 'item:brand=other item:"brand=acme corp"')) == {"m1", "m2", "m3"}
    assert set(found(index, "item:color=blue item:brand=other")) == set()


def test_facets_are_bounded_and_the_commonest_come(open_index: Opener) -> None:
    index = open_index()
    many = [document(f"d{number}", "many", host=f"h{number % 30:02}.example.org", items=tuple(
        f"field{field}={number % (field + 1)}" for field in range(20))) for number in range(60)]  # fmt: skip
    index.put([*many, document("most", "many", host="h07.example.org")])
    index.commit(1)
    facets = index.facets(parse("many"))
    assert len(facets) <= 1 + 8 and all(len(facet.values) <= 10 for facet in facets)
    assert (facets[0].values[0].value, facets[0].values[0].count) == ("h07.example.org", 3)
