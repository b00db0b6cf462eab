"""What a query can be narrowed by, and how a filter is taken out again."""

import pytest

from gregor.search import query as understanding
from gregor.search.borders import Facet, ValueCount
from gregor.search.query import ParsedQuery, QueryFilter, parse, pieces, typed
from gregor.search.query_text import LONGEST, facet
from gregor.worker.api.narrowing import FacetView, ValueView, narrowing, without

FACETS = (
    Facet("host", "", (ValueCount("a.org", 3, "host:a.org"), ValueCount("b.org", 1, "host:b.org"))),
    Facet("item", "", (ValueCount("product", 2, "item:product"),)),
    Facet("item", "brand", (ValueCount("acme corp", 2, 'item:"brand=acme corp"'),)),
)


def test_each_value_leads_to_the_query_for_it() -> None:
    views = narrowing("red mug", parse("red mug"), FACETS, 4)
    assert [value.query for view in views for value in view.values] == [
        "host:a.org red mug",
        "host:b.org red mug",
        "item:product red mug",
        'item:"brand=acme corp" red mug',
    ]


def test_what_was_chosen_is_shown_alone_and_can_be_taken_out() -> None:
    query = "mug host:A.org after:2020 -lang:de"
    host = narrowing(query, parse(query), FACETS, 3)[0]
    assert host == FacetView("host", "", [ValueView("a.org", 3, "mug after:2020 -lang:de", chosen=True)])
    query = 'mug item:product item:"brand=acme corp" item:size=5'
    views = {view.field: view.values for view in narrowing(query, parse(query), FACETS, 2) if view.name == "item"}
    assert views == {
        "": [ValueView("product", 2, 'mug item:"brand=acme corp" item:size=5', chosen=True)],
        "brand": [ValueView("acme corp", 2, "mug item:product item:size=5", chosen=True)],
        "size": [ValueView("5", 2, 'mug item:product item:"brand=acme corp"', chosen=True)],
    }


def test_of_several_that_were_chosen_each_has_its_own_count() -> None:
    query = "host:a.org host:c.org"
    (host, *_) = narrowing(query, parse(query), FACETS, 4)
    assert [(value.value, value.count, value.query) for value in host.values] == [
        ("a.org", 3, "host:c.org"),
        ("c.org", None, "host:a.org"),
    ]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("host", "a.org:8080", "host:a.org:8080"),
        ("host", "[::1]:80", "host:[::1]:80"),
        ("lang", "de", "lang:de"),
        ("type", "application/xhtml+xml", "type:application/xhtml+xml"),
        ("label", "two words", ""),
        ("item", "brand=acme corp", 'item:"brand=acme corp"'),
        ("item", "a=https://x.org/?q=1", "item:a=https://x.org/?q=1"),
        ("item", "größe=ß", "item:größe=ß"),
        ("item", 'a="', ""),
        ("item", "", ""),
    ],
)
def test_a_filter_is_typed_so_that_it_is_understood_or_not_at_all(name: str, value: str, text: str) -> None:
    assert typed(name, value) == text


@pytest.mark.parametrize(
    "value", ['5" pipe', "“a” b", "a –b", "–a", "  A\n b ", "x" * 300, "a" * 149 + " b", "İ", "-5"]
)
def test_what_a_page_says_can_be_asked_for_however_it_is_written(value: str) -> None:
    said = facet(f"name={value}")
    assert typed("item", said) and parse(f"fox {typed('item', said)}").filters == (QueryFilter("item", (said,)),)


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("fox host:a.org", "fox"),
        ("host:a.org fox host:A.ORG", "fox"),
        ("fox -host:a.org", "fox -host:a.org"),
        ("“quick fox” host:a.org", '"quick fox"'),
        ("host:a.org", ""),
        ('fox host:"a.org" lang:de', "fox lang:de"),
        ('host:a.org "fox host:a.org', '"fox host:a.org'),
        ("host:a.org –lang:de a:b", "-lang:de a:b"),
        (f"host:a.org {'x' * LONGEST}", "x" * (LONGEST - len("host:a.org "))),
    ],
)
def test_a_filter_is_taken_out(query: str, rest: str) -> None:
    assert without(pieces(query), QueryFilter("host", ("a.org",))) == rest


@pytest.mark.parametrize("query", ['"harbour', "harbour “old", "word " * 250, f"{'word ' * 198}“harbour old"])
def test_a_value_narrows_whatever_was_typed(query: str) -> None:
    for view in narrowing(query, parse(query), FACETS, 4):
        for value in view.values:
            narrower = parse(value.query)
            assert [condition.name for condition in narrower.filters] == [view.name]
            assert narrower.words[:1] == parse(query).words[:1]


def test_a_query_is_looked_at_once_however_many_filters_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> ParsedQuery:
        read.append(text)
        return parse(text)

    hosts = [f"host:a{number}" for number in range(16)]
    query = f"{' '.join(hosts)} {'word ' * 1600}host:late"
    asked = parse(query)
    monkeypatch.setattr(understanding, "parse", counted)
    (view,) = narrowing(query, asked, (), 1)
    assert len(view.values) == 16 and all(len(value.query) <= LONGEST for value in view.values)
    assert [text for text in read if text in hosts] == [*hosts, *hosts]  # as its parts, and as values that are typed
    assert len(read) == 2 * len(hosts)
