"""No page makes rules slow, or ends them: what it costs too much, or what breaks, is a counted loss."""

import json
import time
from pathlib import Path

import pytest

from gregor.worker.extract import selectors, work
from gregor.worker.extract.model import Loss
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
        (10_001, 1, 10_000, "the page has more than 10000 items"),
        (30, 2000, 29, "the page says more of Job than 50000 values"),
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
