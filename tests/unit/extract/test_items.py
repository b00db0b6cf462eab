"""Rules applied to pages: sources, alternatives, types, what is lost."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.extract.model import Loss, Rule
from gregor.worker.read.html.guard import guard
from tests.unit.extract.made import URL, fields, found, parsed, rules_of

PAGE = """<html lang=en><head><title>T</title><base href="/b/"><meta property="og:title" content="Meta title">
<script type="application/json">{"jobs": [{"id": 1, "open": true, "pay": 12.5}, {"id": 2}], "n": null}</script>
<script id=state>window.__STATE__ = {"user": {"name": "Ada"}}; run();</script></head>
<body><h1> A
 title </h1><p class="price">1,234.50 EUR</p><div class=d><p>one</p><p>two <b>b</b>old</p><script>no()</script></div>
<a href="x?y#z">link</a><img src=/i.png><time datetime="2026-11-29T10:00:00+01:00">yesterday</time>
<ul><li data-id=1>first<i>!</i></li><li data-id=2>second</li><li data-id=3></li></ul></body></html>"""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("'h1'", "A title"),
        ("{ css = 'h1', strip = false }", " A\n title "),
        ("{ css = '.none' }", None),
        ("{ css = ['.none', 'h1'] }", "A title"),
        ("{ css = '.none', xpath = '//h1' }", "A title"),
        ("{ xpath = ['//h2', '//h1/text()'] }", "A title"),
        ("{ xpath = 'string(//h1)' }", "A title"),
        ("{ xpath = 'count(//li)', type = 'int' }", 3),
        ("{ xpath = 'count(//li) > 2', type = 'bool' }", True),
        ("{ xpath = '//a/@href', type = 'url' }", "https://shop.example/b/x?y#z"),
        ("{ css = 'a', type = 'url' }", "https://shop.example/b/x?y#z"),
        ("{ css = 'img', type = 'url' }", "https://shop.example/i.png"),
        ("{ css = 'a::attr(href)' }", "x?y#z"),
        ("{ css = '.d' }", "one two bold"),
        ("{ xpath = '//div' }", "one two bold"),
        ("{ css = 'li', many = true }", ["first!", "second"]),
        ("{ css = 'li, [data-id]', many = true }", ["first!", "second"]),
        ("{ css = 'li::text', many = true }", ["first", "second"]),
        ("{ css = 'li ::text', many = true }", ["first", "!", "second"]),
        ("{ css = 'li::attr(data-id)', type = 'list[int]' }", [1, 2, 3]),
        ("{ css = '.none', many = true }", []),
        ("{ css = 'b', type = 'html' }", "<b>b</b>"),
        ("{ xpath = '//b', type = 'html' }", "<b>b</b>"),
        ("{ css = '.price', type = 'decimal' }", "1234.50"),
        ("{ css = '.price', type = 'float' }", 1234.5),
        ("{ css = '.price', type = 'price' }", {"amount": "1234.50", "currency": "EUR"}),
        ("{ css = '.price', find = '([A-Z]+)' }", "EUR"),
        ("{ css = '.price', find = '[0-9]', type = 'list of int' }", [1, 2, 3, 4, 5, 0]),
        ("{ css = 'time', type = 'date' }", "2026-11-29"),
        ("{ css = 'time', type = 'datetime' }", "2026-11-29T10:00:00+01:00"),
        ("{ css = 'time' }", "yesterday"),
        ("{ meta = 'og:title' }", "Meta title"),
        ("{ meta = 'OG:Title' }", "Meta title"),
        ("{ regex = 'two (.)' }", "b"),
        ("{ regex = '__STATE__' }", "__STATE__"),
        ("{ json = 'jobs[0].id', type = 'int' }", 1),
        ("{ json = 'jobs[].id', type = 'list[int]' }", [1, 2]),
        ("{ json = 'jobs[0].open', type = 'bool' }", True),
        ("{ json = 'jobs[0].pay', type = 'decimal' }", "12.5"),
        ("{ json = 'jobs[0]', type = 'json' }", {"id": 1, "open": True, "pay": 12.5}),
        ("{ json = 'n' }", None),
        ("{ json = 'user.name' }", None),
        ("{ json = 'user.name', script = '#state' }", "Ada"),
        ("{ page = 'url' }", URL),
        ("{ page = 'depth', type = 'int' }", 0),
        ("{ page = 'label' }", None),
        ("{ constant = 'x' }", "x"),
        ("{ constant = ' [x ' }", "[x"),
        ("{ constant = ['[x', '{'] }", ["[x", "{"]),
        ("{ constant = 5 }", 5),
        ("{ constant = true }", True),
        ("{ constant = [1, 2] }", [1, 2]),
        ("{ constant = { a = [1, 'b'] } }", {"a": [1, "b"]}),
        ("{ constant = 5, type = 'text' }", "5"),
        ("{ css = '.nowhere', constant = 5, type = 'int' }", 5),
        ("{ constant = [1, 2], type = 'list[int]' }", [1, 2]),
        ("{ css = '.none', default = 'x' }", "x"),
        ("{ css = '.none', type = 'int', default = 0 }", 0),
        ("{ css = '.none', many = true, default = ['x'] }", ["x"]),
        ("{ css = 'h1', strip = 'A' }", "title"),
        ("{ css = 'title' }", "T"),
        ("{ xpath = '//title' }", "T"),
        ("{ css = '#state', find = '\"name\": \"(.*?)\"' }", "Ada"),
    ],
)
def test_a_field(field: str, value: object, tmp_path: Path) -> None:
    made = fields(tmp_path, f"there = {{ constant = 1 }}\nf = {field}", parsed(PAGE, language="en"))
    assert made["f"] == value


def test_objects_and_lists_of_them(tmp_path: Path) -> None:
    text = "[item.fields.head.fields]\ntitle = 'h1'\n[item.fields.head.fields.more.fields]\nb = 'b'\n"
    text += "[item.fields.li]\nmany = true\neach = 'li'\n"
    text += "[item.fields.li.fields]\nid = { css = '::attr(data-id)', type = 'int' }\ni = { xpath = './/i' }"
    made = fields(tmp_path, text, parsed(PAGE))
    assert made == {
        "head": {"title": "A title", "more": {"b": "b"}},
        "li": [{"id": 1, "i": "!"}, {"id": 2, "i": None}, {"id": 3, "i": None}],
    }


@pytest.mark.parametrize(
    ("each", "field"),
    [
        ("'li'", "{ css = '::attr(data-id)', type = 'int' }"),
        ("'li'", "{ xpath = '@data-id', type = 'int' }"),
        ("{ xpath = '//li' }", "{ xpath = '@data-id', type = 'int' }"),
    ],
)
def test_each_is_an_item(each: str, field: str, tmp_path: Path) -> None:
    text = f'[[item]]\nname = "x"\nitem = "entry"\neach = {each}\n[item.fields]\nn = {field}'
    items = found(rules_of(tmp_path, text), parsed(PAGE)).items
    assert [(item.item, item.fields) for item in items] == [("entry", {"n": number}) for number in (1, 2, 3)]


def test_rows_of_a_table_are_items_for_xpath_too(tmp_path: Path) -> None:
    text = '[[item]]\nname = "x"\neach = "tr"\n[item.fields]\na = "td"\nb = { xpath = "td[2]" }'
    page = parsed("<table><tr><td>1<td>2<tr><td>3<td>4</table>")
    assert [item.fields for item in found(rules_of(tmp_path, text), page).items] == [
        {"a": "1", "b": "2"},
        {"a": "3", "b": "4"},
    ]


def test_json_and_xml_documents(tmp_path: Path) -> None:
    text = '[[item]]\nname = "x"\neach = { json = "jobs" }\n[item.fields]\ntown = "at.town"\n'
    text += 'id = { json = "id", type = "int" }'
    page = parsed('{"jobs": [{"id": 1, "at": {"town": "Ulm"}}, {"id": 2}]}', "application/json")
    assert [item.fields for item in found(rules_of(tmp_path, text), page).items] == [
        {"id": 1, "town": "Ulm"},
        {"id": 2, "town": None},
    ]
    feed = parsed('<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>E</title></entry></feed>', "application/xml")
    assert fields(tmp_path, "t = { xpath = '//entry/title' }", feed) == {"t": "E"}


@pytest.mark.parametrize(
    ("head", "matches"),
    [
        ("", True),
        ("match = 'https://shop.example/a/*'", True),
        ("match = ['https://other.example/*', 'HTTPS://SHOP.example/a/1']", True),
        ("match = 're:/a/[0-9]$'", True),
        ("match = 'https://shop.example/b/*'", False),
        ("when = '.price'", True),
        ("when = '.none'", False),
        ("when = { xpath = 'count(//li) = 3' }", True),
        ("when = { xpath = 'count(//li) = 4' }", False),
        ("when = { json = 'jobs' }", True),
    ],
)
def test_which_pages_a_rule_is_for(head: str, matches: bool, tmp_path: Path) -> None:
    what = found(rules_of(tmp_path, f'[[item]]\nname = "x"\n{head}\n[item.fields]\na = "h1"'), parsed(PAGE))
    assert (len(what.items), what.matched, what.losses) == (int(matches), ["x"] * matches, [])


@pytest.mark.parametrize(
    ("field", "losses", "items"),
    [
        ("a = { css = '.none', required = true }", [Loss("x", "a is missing")], 0),
        ("a = { css = 'h1', type = 'int', required = true }", [Loss("x", "a is not an integer")], 0),
        ("a = { css = 'h1', type = 'int' }\nb = 'h1'", [Loss("x", "a is not an integer", costs_item=False)], 1),
        ("a = { css = 'h1', type = 'int' }", [Loss("x", "nothing of it was found")], 0),
        ("a = { css = ['h1', 'li::attr(data-id)'], type = 'int' }", [], 1),
        ("a = '.none'", [Loss("x", "nothing of it was found")], 0),
        ("a = { json = 'length(jobs[0].id)' }", [Loss("x", "a JMESPath cannot be reckoned: JMESPathTypeError")], 0),
        ("o = { fields = { a = { css = '.none', required = true } } }", [Loss("x", "o.a is missing")], 0),
        ("o = { required = true, fields = { a = '.none' } }", [Loss("x", "o is missing")], 0),
    ],
)
def test_what_is_lost_is_said(field: str, losses: list[Loss], items: int, tmp_path: Path) -> None:
    what = found(rules_of(tmp_path, f'[[item]]\nname = "x"\n[item.fields]\n{field}'), parsed(PAGE))
    assert (what.losses, len(what.items)) == (losses, items)


def test_a_rule_that_fails_costs_no_other(tmp_path: Path) -> None:
    text = '[[item]]\nname = "bad"\n[item.fields]\na = { json = "length(`1`)" }\n'
    text += '[[item]]\nname = "good"\n[item.fields]\na = "h1"'
    what = found(rules_of(tmp_path, text), parsed(PAGE))
    assert [item.rule for item in what.items] == ["good"] and [loss.rule for loss in what.losses] == ["bad"]


@pytest.mark.parametrize("number", ["9" * 5000, "7", "0"])
def test_a_script_that_has_the_name_of_one_kept_apart_costs_no_item(number: str, tmp_path: Path) -> None:
    """What looks like much markup is data in a script; the last one has no end, and stays where it is."""
    data = "<script type='application/json'>" + json.dumps("<b>" * 30_000 + "<i>x" * 30_000) + "</script>"
    page = parsed(f"{data}<h1>Here</h1><script type='application/json'>script apart {number}")
    rules = '[[item]]\nname = "a"\n[item.fields]\nt = "h1"\nlong = { json = "length(@)" }'
    what = found(rules_of(tmp_path, rules), page)
    assert [item.fields for item in what.items] == [{"t": "Here", "long": "210000"}] and not what.losses


def test_a_page_without_a_tree_is_lost_once_and_still_a_text(tmp_path: Path) -> None:
    page = parsed("<b>" * 30_000 + "<i>x" * 30_000, text="needle 7")
    text = '[[item]]\nname = "a"\n[item.fields]\na = "b"\n'
    text += '[[item]]\nname = "b"\n[item.fields]\nn = { regex = "needle (.)" }'
    what = found(rules_of(tmp_path, text), page)
    assert what.losses == [Loss("a", "the page has too much markup for a tree")]
    assert [item.fields for item in what.items] == [{"n": "7"}]


def test_elements_within_elements_say_no_more_than_a_page_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gregor.worker.extract.page.MOST_TEXT", 1 << 20)
    body = "<div>" * 300 + "x " * 20_000
    lost = [Loss("x", "its values are longer than 1 MiB")]
    text = '[[item]]\nname = "x"\n[item.fields]\na = { css = "div", many = true }'
    assert found(rules_of(tmp_path, text), parsed(body)).losses == lost
    text = '[[item]]\nname = "x"\neach = "div"\n[item.fields]\na = "::text"\nb = { xpath = "string(.)" }'
    what = found(rules_of(tmp_path, text), parsed(body))
    assert 0 < len(what.items) < 300 and what.losses == lost


def test_data_in_scripts_is_no_markup(tmp_path: Path) -> None:
    data = {"rows": [{f"k{n}": f"<b>{n}</b>"} for n in range(40_000)], "name": "Ada"}
    assert guard(json.dumps(data)) is None
    page = parsed(f"<h1>T</h1><SCRIPT type='application/json'>{json.dumps(data)}</SCRIPT><p id=x>İ</p>")
    made = fields(tmp_path, "name = { json = 'name' }\nt = 'h1'\nx = '#x'", page)
    assert made == {"name": "Ada", "t": "T", "x": "İ"}


def test_the_paths_into_json_of_the_docs_select_what_they_say(tmp_path: Path) -> None:
    page = parsed("<script type='application/json'>" + json.dumps(OFFERS) + "</script>")
    shown = {
        "sku": "a1",
        "offers[0].price": "3",
        "offers[-1].price": "5",
        "offers[?price > `4`].price": "5",
        "max_by(offers, &price).price": "5",
        "length(offers)": "2",
        '"@id"': "x",
    }
    for path, value in shown.items():
        assert fields(tmp_path, f"a = {{ json = '{path}' }}", page) == {"a": value}, path
    many = "a = { json = 'offers[].price', type = 'int', many = true }\n"
    many += "b = { json = 'offers[0].{p: price, s: in}', type = 'json' }"
    assert fields(tmp_path, many, page) == {"a": [3, 5], "b": {"p": 3, "s": True}}


OFFERS = {"sku": "a1", "offers": [{"price": 3, "in": True}, {"price": 5}], "@id": "x"}
EVERY = """
[[item]]
name = "all"
[item.fields]
css = { css = "a, p ::text", many = true }
url = { css = "a", type = "list[url]" }
path = { xpath = "//*[1]", many = true }
html = { xpath = "//p", type = "html" }
json = { json = "*", type = "json", script = "script" }
meta = { meta = "a" }
num = { css = "p", type = "decimal" }
price = { css = "p", type = "price" }
date = { css = "p", type = "date", language = "en" }
regex = { regex = "(a|b)+" }
thing = { schema = "Thing.name" }
[[item]]
name = "things"
schema = "Thing"
[[item]]
name = "each"
each = "p"
[item.fields]
x = { xpath = ".//a" }
"""


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rule, ...]:
    return rules_of(tmp_path_factory.mktemp("rules"), EVERY)


PIECES = st.sampled_from(
    [
        *("<p>", "</p>", "<a href=x>", "</a>", "<b>", "<script>", "</script>", "<table><tr><td>"),
        *('{"@type": "Thing", "name": "n"}', '<script type="application/ld+json">', "<meta name=a content=b>"),
        *("<div itemscope itemtype=Thing>", "<i itemprop=name>", "<i typeof=Thing property=name>", "\0"),
        *("1.234,5 €", "29.2.2023", "&#xD800;", "<svg>", "<!--"),
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(PIECES | st.text(max_size=5), max_size=12),
    st.sampled_from(["text/html", "application/xml", "application/json"]),
)
def test_no_page_breaks_rules(every: tuple[Rule, ...], pieces: list[str], media: str) -> None:
    body = "".join(pieces).encode("utf-8", "replace").decode()
    what = found(every, parsed(body, media))
    json.dumps([item.fields for item in what.items], allow_nan=False)


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just({"@id": "a"}),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["@type", "@id", "@graph", "@value", "name"]), below, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(JSON_VALUES)
def test_no_linked_data_breaks_rules(every: tuple[Rule, ...], value: object) -> None:
    document = json.dumps([value, {"@type": "Thing", "name": value}])
    what = found(every, parsed(document, "application/json"))
    json.dumps([item.fields for item in what.items], allow_nan=False)
