"""No page makes rules slow, or ends them: what it costs too much, or what breaks, is a counted loss."""

import json
import time
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import pytest

from gregor.worker.extract import plugins, rules, selectors, work
from gregor.worker.extract.links import weights
from gregor.worker.extract.model import Loss, RuleFailed
from gregor.worker.extract.tally import Tally
from tests.unit.extract.made import fields, found, parsed, rules_of

STEPS = 25_000
"""A tenth of what a page may cost, so that these are quick."""
SECONDS = 1
"""What a page may take of these steps at the most, on a busy machine: without bounds it takes up to minutes."""
TOO_MUCH = "its elements are nested too often for so much of them to be read"
TOO_DEEP = "its elements are nested more than 512 deep, which is too much for XPath"
DEEP = "<div>x" * 3000
BLANK = "<div> <b> </b>" * 3000
CHAINS = ("<div>" * 400 + "x" + "</div>" * 400) * 40


@pytest.mark.parametrize(
    ("rule", "body", "cause"),
    [
        ('each = "div"\n[item.fields]\na = { xpath = "string(p)" }', DEEP, None),
        ('each = "div"\n[item.fields]\na = { xpath = "string(p)" }', CHAINS, TOO_MUCH),
        ('each = "div"\n[item.fields]\na = { css = "b", type = "list[html]" }', BLANK, TOO_MUCH),
        ('each = "div"\n[item.fields]\na = { xpath = ".", type = "list[html]" }', CHAINS, TOO_MUCH),
        ('each = "div"\n[item.fields]\na = { css = " ::text", many = true }', BLANK, TOO_MUCH),
        ('each = "div"\n[item.fields]\na = { regex = "y" }', BLANK, TOO_MUCH),
        ('each = "div"\n[item.fields.o]\neach = "div"\nmany = true\n[item.fields.o.fields]\na = "b"', BLANK, TOO_MUCH),
        ('each = { xpath = "//div" }\n[item.fields]\na = { xpath = ".//p" }', CHAINS * 3, None),
        ('each = { xpath = "//div" }\n[item.fields]\na = { xpath = "." }', CHAINS.replace("x", " "), None),
        ('[item.fields]\na = { xpath = "//div//div//div" }', DEEP, TOO_DEEP),
        ('[item.fields]\na = { css = "div", type = "list[text]" }', DEEP, TOO_MUCH),
        ('[item.fields]\na = { css = "div", type = "list[int]" }', BLANK, TOO_MUCH),
        ('[item.fields]\na = { css = "div ::text", many = true }', BLANK, None),
        ('schema = "Thing"', "<div itemscope itemtype=Thing>" + "<div itemprop=a>x" * 4000, TOO_MUCH),
        ('schema = "Thing"', "<div itemscope itemtype=Thing>" * 4000 + "<b itemprop=a>x</b>" * 4000, None),
        ('schema = "Thing"', "<div typeof=Thing>" + "<div property='a b c'>x" * 4000, TOO_MUCH),
    ],
)
def test_nested_elements_cost_a_bounded_time(
    rule: str, body: str, cause: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "MOST", STEPS)
    began = time.process_time()
    what = found(rules_of(tmp_path, f'[[item]]\nname = "x"\n{rule}'), parsed(body))
    assert time.process_time() - began < SECONDS
    if cause:
        assert Loss("x", cause) in what.losses


def test_a_large_plain_page_is_read_whole(tmp_path: Path) -> None:
    row = "<tr><td>name</td><td><a href='/x'>of <b>it</b></a> and more</td><td>1.50</td></tr>"
    rule = '[[item]]\nname = "x"\neach = "tr"\n[item.fields]\n'
    rule += "n = 'td'\n"
    rule += "a = { css = 'a', type = 'url' }\nt = { css = 'td:nth-child(2)' }\np = { xpath = 'td[3]', type = 'float' }"
    what = found(rules_of(tmp_path, rule), parsed(f"<table>{row * 500}</table>"))
    assert (len(what.items), what.losses) == (500, [])
    long = found(rules_of(tmp_path, rule), parsed(f"<table>{row.replace('name', 'name' * 2000) * 500}</table>"))
    assert (len(long.items), long.losses) == (500, [])


def test_a_page_is_read_as_often_as_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST", STEPS)
    rule = rules_of(tmp_path, '[[item]]\nname = "x"\n[item.fields]\na = { css = "div", type = "list[text]" }')
    page = parsed("<div>x" * 150)
    assert [len(found(rule, page).items) for _ in range(4)] == [1] * 4


ODD = "<h1>T</h1><!-- said --><?pi of it?><p>a<!-- in -->b</p>"


@pytest.mark.parametrize("media", ["text/html", "application/xml"])
@pytest.mark.parametrize("path", ["//node()", "//comment()", "//processing-instruction()", "/node()", "//namespace::*"])
def test_what_is_no_element_ends_no_rule(path: str, media: str, tmp_path: Path) -> None:
    rule = "".join(
        f'[[item]]\nname = "{kind}"\n[item.fields]\na = {{ xpath = "{path}", type = "list[{kind}]" }}\n'
        f'[[item]]\nname = "{kind} each"\neach = {{ xpath = "{path}" }}\n[item.fields]\n'
        f'a = {{ xpath = [".", "string(.)"], type = "{kind}" }}\nb = {{ regex = "a" }}\nc = {{ xpath = "..//b" }}\n'
        for kind in ("text", "html", "url", "int", "date", "json", "price")
    )
    what = found(rules_of(tmp_path, rule), parsed(f"<div>{ODD}</div>", media))
    assert what.losses and not [loss for loss in what.losses if "applied" in loss.cause]


def test_comments_are_texts_where_they_are_asked_for(tmp_path: Path) -> None:
    made = fields(tmp_path, "a = { xpath = '//p/comment()', many = true }\nb = { xpath = '//p' }", parsed(ODD))
    assert made == {"a": ["in"], "b": "ab"}


@pytest.mark.parametrize("path", ["sum(n)", "avg(n)", "max(n)", "abs(n[0])", "ceil(n[0])", "to_string(n[0])"])
@pytest.mark.parametrize("kind", ["text", "int", "float", "price"])
def test_huge_numbers_end_no_rule(path: str, kind: str, tmp_path: Path) -> None:
    page = parsed(json.dumps({"n": [10**400, 10**400, 10**400], "f": 0.5}), "application/json")
    page.json[0]["n"].append(1.5)
    rule = f'[[item]]\nname = "x"\n[item.fields]\na = {{ json = "{path}", type = "{kind}" }}'
    what = found(rules_of(tmp_path, rule), page)
    assert len(what.items) + len(what.losses) == 1


def test_a_rule_that_breaks_on_one_place_costs_that_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = parsed(json.dumps([{"n": [1]}, {"n": ["a"]}, {"n": [3]}]), "application/json")
    rule = '[[item]]\nname = "x"\neach = { json = "[]" }\n[item.fields]\na = "sum(n)"'
    known = rules_of(tmp_path, rule)
    what = found(known, page)
    assert [item.fields["a"] for item in what.items] == ["1", "3"]
    assert what.losses == [Loss("x", "a JMESPath cannot be reckoned: JMESPathTypeError")]

    def broken(*_: object) -> None:
        raise LookupError("of a library")

    monkeypatch.setattr(selectors.Json, "select", broken)
    assert found(known, page).losses == [Loss("x", "it cannot be applied: LookupError")]


@pytest.mark.parametrize(
    ("jobs", "values", "most", "cause"),
    [
        (10_000, 1, 10_000, None),
        (10_001, 1, 10_000, "there are more than 10000 items"),
        (30, 2000, 29, "the page has more than 50000 values of Job"),
    ],
)
def test_what_a_page_says_beyond_the_bounds_is_told_as_lost(
    jobs: int, values: int, most: int, cause: str | None, tmp_path: Path
) -> None:
    known = rules_of(tmp_path, '[[item]]\nname = "j"\nschema = "Job"')
    said = json.dumps([{"@type": "Job", "of": list(range(values))}] * jobs)
    made = found(known, parsed(f"<script type='application/ld+json'>{said}</script>"))
    assert 0 < len(made.items) <= most
    assert [(loss.cause, loss.costs_item) for loss in made.losses] == ([(cause, True)] if cause else [])


MANY = 10_001
ROWS = f"<ul>{'<li>x</li>' * MANY}</ul>"
LISTED = json.dumps(["x"] * MANY)
MANY_OF = f"there are more than {MANY - 1} "


@pytest.mark.parametrize(
    ("rule", "body", "items", "losses"),
    [
        ('each = "li"\n[item.fields]\na = "::text"', ROWS, MANY - 1, [(MANY_OF + "items", True)]),
        ('each = "li"\n[item.fields]\na = "::text"', ROWS.replace("<li>", "", 1), MANY - 1, []),
        (
            'each = { xpath = "//li" }\n[item.fields]\na = { xpath = "text()" }',
            ROWS,
            MANY - 1,
            [(MANY_OF + "items", True)],
        ),
        ('each = { json = "[]" }\n[item.fields]\na = "@"', LISTED, MANY - 1, [(MANY_OF + "items", True)]),
        ('[item.fields]\na = { css = "li", many = true }', ROWS, 1, [("a: " + MANY_OF + "values", False)]),
        ('[item.fields]\na = { regex = "x", many = true }', ROWS, 1, [("a: " + MANY_OF + "values", False)]),
        ('[item.fields]\na = { css = "ul", find = "x", many = true }', ROWS, 1, [("a: " + MANY_OF + "values", False)]),
        ('[item.fields]\na = { css = "li" }', ROWS, 1, []),
        (
            '[item.fields.o]\neach = "li"\nmany = true\n[item.fields.o.fields]\na = "::text"',
            ROWS,
            1,
            [("o: " + MANY_OF + "objects", False)],
        ),
    ],
)
def test_what_a_source_gives_beyond_the_bounds_is_told(
    rule: str, body: str, items: int, losses: list[tuple[str, bool]], tmp_path: Path
) -> None:
    media = "application/json" if body == LISTED else "text/html"
    made = found(rules_of(tmp_path, f'[[item]]\nname = "x"\n{rule}'), parsed(body, media))
    assert len(made.items) == items
    assert [(loss.cause, loss.costs_item) for loss in made.losses] == losses
    assert all(len(value) <= MANY for value in made.items[0].fields.values())


def ld(said: str) -> str:
    return f"<script type='application/ld+json'>{said}</script>"


@pytest.mark.parametrize(
    ("body", "items", "cause"),
    [
        (ld('{"@type":"Job","a":1}'), 1, None),
        (ld("[" * 2000 + '{"@type":"Job","a":1}' + "]" * 2000), 0, "JSON more than 64 levels deep"),
        (ld("[" * 70 + '{"@type":"Job","a":1}' + "]" * 70), 0, "JSON more than 64 levels deep"),
        (ld('{"@type":"Job","a":' + "[" * 70 + "]" * 70 + "}"), 1, None),
        (ld("[" * 70 + "]" * 70) + ld('{"@type":"Job","a":1}'), 1, None),
        (ld(json.dumps([*([1] * 200_000), {"@type": "Job", "a": 1}])), 0, "JSON of more than 200000 values"),
        (ld(json.dumps([{"@type": "Job", "a": 1}, *([1] * 200_000)])), 1, "JSON of more than 200000 values"),
        ("<p itemscope itemtype=Job><b itemprop=a>1</b></p>" * 2001, 2000, "more than 2000 entities of microdata"),
        ("<p typeof=Job><b property=a>1</b></p>" * 2001, 1998, "more than 2000 entities of RDFa"),
    ],
    ids=range(9),
)
def test_entities_in_data_beyond_the_bounds_are_told_as_lost(
    body: str, items: int, cause: str | None, tmp_path: Path
) -> None:
    rule = '[[item]]\nname = "{0}"\nschema = "{0}"\n'
    made = found(rules_of(tmp_path, rule.format("Job")), parsed(body))
    assert len(made.items) == items
    assert made.losses[-1:] == ([Loss("Job", f"the page has {cause}")] if cause else [])


def test_json_nested_too_deep_is_told_of_rules_for_it_alone(tmp_path: Path) -> None:
    deep = "[" * 70 + '{"a":1}' + "]" * 70
    body = f"<script id=s type='application/json'>{deep}</script><script id=t type='application/json'>[]</script>"
    rule = "".join(
        f'[[item]]\nname = "{script}"\neach = {{ json = "[].b", script = "#{script}" }}\n[item.fields]\na = "@"\n'
        for script in "st"
    )
    losses = found(rules_of(tmp_path, rule), parsed(body)).losses
    assert losses == [Loss("s", "the page has JSON more than 64 levels deep")]


@pytest.mark.parametrize("more", [0, 1])
def test_items_of_an_extractor_beyond_the_bounds_are_told(more: int, tmp_path: Path) -> None:
    count = MANY - 1 + more
    (tmp_path / "mine.py").write_text(f"class P:\n    def extract(self, d):\n        return [{{'a': 1}}] * {count}\n")
    (extractor,) = plugins.load([f"{tmp_path / 'mine.py'}:P"], ()).extractors
    items, losses = extractor.extract(parsed("x").document)
    assert len(items) == MANY - 1
    assert losses == [Loss("P", MANY_OF + "items")] * more


@pytest.mark.parametrize("more", [0, 1])
def test_elements_beyond_the_bounds_of_a_rule_for_links_are_told(more: int, tmp_path: Path) -> None:
    (tmp_path / "links.toml").write_text('[[links]]\nname = "l"\nselect = "a"\npriority = 1')
    _, (rule,) = rules.read_all([tmp_path / "links.toml"])
    given = weights(rule, parsed("<a href=/x>x</a>" * (MANY - 1 + more)))
    assert [reference for reference, _ in islice(given, MANY - 1)] == ["/x"] * (MANY - 1)
    with pytest.raises(RuleFailed, match=MANY_OF + "elements") if more else nullcontext():
        assert next(given, None) is None


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ('{"@type":"Job","a":' + '{"b":' * 23 + "1" + "}" * 24, None),
        ('{"@type":"Job","a":' + '{"b":' * 24 + "1" + "}" * 25, "objects more than 24 deep in a Job"),
        ('{"@type":"Job","@id":"x","a":{"b":{"@id":"x"}}}', None),
        (json.dumps({"@type": "Job", "a": ["x"] * 7000}), "more than 5000 values in a Job"),
        (json.dumps({"@type": "Job", "a": ["x"] * 4000}), None),
    ],
    ids=range(5),
)
def test_what_is_left_out_of_an_entity_that_was_found_is_told_and_costs_no_item(
    said: str, cause: str | None, tmp_path: Path
) -> None:
    made = found(rules_of(tmp_path, '[[item]]\nname = "x"\nschema = "Job"'), parsed(ld(said)))
    assert len(made.items) == 1
    assert made.losses == ([Loss("x", f"the page has {cause}", costs_item=False)] if cause else [])


@pytest.mark.parametrize(("more", "is_told"), [(0, False), (1, True)])
def test_a_text_that_is_cut_is_told(more: int, is_told: bool, tmp_path: Path) -> None:
    page = parsed(f"<p>{'x' * ((1 << 20) + more)}<b>y</b>")
    known = rules_of(tmp_path, '[[item]]\nname = "x"\n[item.fields]\na = "p::text"\nb = "b"')
    made = found(known, page)
    assert [len(made.items[0].fields[name]) for name in "ab"] == [1 << 20, 1]
    assert made.losses == [Loss("x", "a: there are more than 1048576 characters", costs_item=False)] * is_told


@pytest.mark.parametrize(("scripts", "is_told"), [(200, False), (201, True)])
def test_scripts_beyond_the_bounds_are_told(scripts: int, is_told: bool, tmp_path: Path) -> None:
    page = parsed(ld('{"@type":"Job","a":1}') * scripts)
    made = found(rules_of(tmp_path, '[[item]]\nname = "x"\nschema = "Job"'), page)
    assert len(made.items) == 200
    assert made.losses == [Loss("x", "the page has more than 200 scripts of JSON")] * is_told


def test_what_was_not_counted_is_told_by_its_pages(tmp_path: Path) -> None:
    page = parsed(ld(json.dumps([{"@type": "Job", "a": 1}] * 12_000)))
    tally = Tally()
    for _ in range(2):
        tally.add(found(rules_of(tmp_path, '[[item]]\nname = "x"\nschema = "Job"'), page), "http://a.test/")
    merged = Tally()
    merged.merge(tally)
    said = "x: there are more than 10000 items: left out on 2 pages, as at http://a.test/"
    assert list(tally.lines(iter(()))) == list(merged.lines(iter(()))) == [said]


@pytest.mark.parametrize(
    ("named", "within", "is_told"), [(200, 1, False), (201, 1, True), (1, 200, False), (1, 201, True)]
)
def test_references_of_microdata_beyond_the_bounds_are_told(
    named: int, within: int, is_told: bool, tmp_path: Path
) -> None:
    ids = [f"i{number}" for number in range(named)]
    referred = "".join(f"<div id={name}>{'<b itemprop=a>1</b>' * within}</div>" for name in ids)
    page = parsed(f'<p itemscope itemtype=Job itemref="{" ".join(ids)}"></p>{referred}')
    made = found(rules_of(tmp_path, '[[item]]\nname = "x"\nschema = "Job"'), page)
    assert [len(item.fields["a"]) for item in made.items] == [200]
    cause = "the page has more than 200 references of microdata (itemref)"
    assert made.losses == [Loss("x", cause)] * is_told
