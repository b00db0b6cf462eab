"""Pages to documents."""

import msgspec
import pytest

from gregor.schemas.items import StoredItem
from gregor.schemas.messages import Page, Row, State
from gregor.search.documents import (
    MOST_ITEM_VALUES,
    Anchor,
    ContentUrl,
    anchor_terms,
    content_of,
    document,
    is_found,
    item_values,
    languages,
    sites,
    types,
    url_terms,
)
from gregor.search.query_text import LONGEST_FACET


def page(key: str = "http://a.org/x", **more: object) -> Page:
    fields = {"href": key, "host": key.split("/")[2], "visit": 1, "kind": "new", "status": 200, "fetched_at": 5.0}
    return Page(key=key, **{"fingerprint": b"\x01", **fields, **more})  # type: ignore[arg-type]


def row(state: State) -> Row:
    return Row("http://a.org/x", "http://a.org/x", "a.org", 1, state, "")


@pytest.mark.parametrize("state", ["fetched", "duplicate", "waiting"])
def test_what_is_kept_is_found(state: State) -> None:
    assert is_found(page(), row(state)) and is_found(page(), None)


@pytest.mark.parametrize("state", ["gone", "redirected", "denied", "refused", "dead"])
def test_what_is_there_no_more_is_not(state: State) -> None:
    assert not is_found(page(), row(state))


def test_what_asks_to_be_left_out_is() -> None:
    assert not is_found(None, row("fetched"))
    assert not is_found(page(directives=("noindex",)), None) and not is_found(page(directives=("none",)), None)
    assert is_found(page(directives=("nofollow", "noarchive")), None)


@pytest.mark.parametrize("page_says", [True, False])
def test_a_requisite_is_none_until_its_row_says_that_it_is_a_page(page_says: bool) -> None:
    stored = page(requisite=page_says)
    assert is_found(stored, None) != page_says
    assert is_found(stored, msgspec.structs.replace(row("fetched"), requisite=False))
    assert not is_found(stored, msgspec.structs.replace(row("fetched"), requisite=True))


def test_a_content_is_shown_by_its_nearest_url() -> None:
    far, near = page("http://b.org/", depth=3), page("http://a.org/long", depth=1, state="duplicate", title="T")
    first = page("http://c.org/", depth=2, visit=4, language="de_AT", content_type="text/html")
    found = document(first, [ContentUrl.of(one) for one in (far, near, first)], [Anchor("text", "h")])
    assert found.keys == (("http://c.org/", 4), ("http://b.org/", 1), ("http://a.org/long", 1))
    assert (found.key, found.visit, found.host, found.language, found.depth) == (
        "http://c.org/",
        4,
        "c.org",
        "de-at",
        1,
    )
    assert found.id == content_of(far) == "01" and content_of(page(fingerprint=b"")) == "http://a.org/x"


def test_an_anchor_text_counts_once_and_that_of_more_hosts_first() -> None:
    anchors = [Anchor("rare", "a"), Anchor("Often said", "a"), Anchor("Often said", "b"), Anchor("often, said", "c")]
    assert anchor_terms(anchors) == ["often", "said", "rare"]


def test_the_words_of_addresses() -> None:
    urls = ["https://www.example.org/wiki/Z%C3%BCrich_(city)?q=a+b", "https://www.example.org/other"]
    assert url_terms(urls) == ["www", "example", "org", "wiki", "zurich", "city", "q", "a", "b", "other"]


def test_what_filters_compare() -> None:
    assert sites("a.b.org:8080") == ["a.b.org", "b.org", "org"]
    assert sites("127.0.0.1") == ["127.0.0.1"] and sites("[::1]:80") == ["[::1]"]
    assert languages("zh-hant-tw") == ["zh", "zh-hant", "zh-hant-tw"] and languages("") == []
    assert types("application/xhtml+xml")[1:] == ["xhtml+xml", "html", "xhtml"] and types("") == []
    assert "pdf" in types("application/pdf") and "text" in types("text/plain")


def test_items_are_facets_by_name_and_value() -> None:
    fields = b'{"brand": "Acme  Corp", "price": 3.5, "tags": ["A", 1, {"no": 1}], "offer": {"x": 1}, "none": null}'
    items = [
        StoredItem("shop", "Product", "1", fields),
        StoredItem("shop", "Old", "1", b'{"brand": "gone"}', change="gone"),
    ]
    assert item_values(items) == ["product", "brand=acme corp", "price=3.5", "tags=a", "tags=1"]
    many = StoredItem("shop", "p", "1", msgspec.json.encode({f"f{n}": "x" * 1000 for n in range(2000)}))
    assert len(item_values([many])) == MOST_ITEM_VALUES and max(map(len, item_values([many]))) <= LONGEST_FACET
