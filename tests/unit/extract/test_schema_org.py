"""Entities of schema.org in three syntaxes, and those that would never end."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gregor.worker.extract.schema_org import LARGEST, entities
from tests.unit.extract.made import fields, found, parsed, rules_of

JOB = {
    "@type": "JobPosting",
    "title": "Pilot",
    "hiringOrganization": {"@type": "Organization", "name": "Harbour"},
    "datePosted": "2026-11-29",
    "url": "https://shop.example/job",
}


def ld(*documents: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in documents)


MICRODATA = """<div itemscope itemtype="https://schema.org/JobPosting"><h1 itemprop=title>Pilot</h1>
<div itemprop=hiringOrganization itemscope itemtype="https://schema.org/Organization"><b itemprop=name>Harbour</b></div>
<time itemprop=datePosted datetime="2026-11-29">yesterday</time><a itemprop=url href="/job">here</a></div>"""
RDFA = """<div vocab="https://schema.org/" typeof="JobPosting"><h1 property=title>Pilot</h1>
<div property=hiringOrganization typeof="schema:Organization"><b property="schema:name">Harbour</b></div>
<time property=datePosted datetime="2026-11-29">yesterday</time><a property=url href="/job">here</a></div>"""


@pytest.mark.parametrize(
    "markup",
    [
        ld({"@context": "https://schema.org", **JOB}),
        ld({"@context": "http://schema.org", "@graph": [{"@type": "WebSite"}, JOB]}),
        ld([{"@type": "Thing"}, JOB]),
        ld({"@type": "Thing"}, JOB),
        ld({"@type": "ItemPage", "mainEntity": JOB}),
        ld({**JOB, "@type": ["JobPosting", "Thing"]}),
        ld({**JOB, "@type": "https://schema.org/JobPosting"}),
        ld({f"schema:{name}" if name[0] != "@" else name: value for name, value in JOB.items()}),
        ld({**JOB, "hiringOrganization": {"@id": "#h"}}, {"@id": "#h", **JOB["hiringOrganization"]}),  # type: ignore[dict-item]
        ld({**JOB, "title": {"@value": "Pilot", "@language": "en"}}),
        f"<script type='application/ld+json'><!-- {json.dumps(JOB)} --></script>",
        f"<script type=' Application/LD+JSON'>{json.dumps(JOB)};</script>",
        f"<script type='application/ld+json'>{{broken</script>{ld(JOB)}",
        MICRODATA,
        RDFA,
        ld(JOB) + MICRODATA + RDFA,
    ],
)
def test_a_job_in_every_syntax(markup: str, tmp_path: Path) -> None:
    (item,) = found(rules_of(tmp_path, '[[item]]\nname = "jobs"\nschema = "JobPosting"'), parsed(markup)).items
    assert item.item == "JobPosting"
    assert {name: item.fields[name] for name in ("title", "datePosted", "url")} == {
        name: JOB[name] for name in ("title", "datePosted", "url")
    }
    assert item.fields["hiringOrganization"]["name"] == "Harbour"


@pytest.mark.parametrize("markup", [ld(JOB), MICRODATA, RDFA])
def test_fields_of_an_entity(markup: str, tmp_path: Path) -> None:
    text = '[[item]]\nname = "jobs"\nitem = "job"\nschema = "JobPosting"\n[item.fields]\n'
    text += 'title = "title"\ncompany = "hiringOrganization.name"\nposted = { json = "datePosted", type = "date" }'
    (item,) = found(rules_of(tmp_path, text), parsed(markup)).items
    assert (item.item, item.fields) == ("job", {"title": "Pilot", "company": "Harbour", "posted": "2026-11-29"})
    by_path = 'title = { schema = "JobPosting.title" }\ncompany = { schema = "JobPosting.hiringOrganization.name" }'
    assert fields(tmp_path, by_path, parsed(markup)) == {"title": "Pilot", "company": "Harbour"}


def test_several_entities_and_values(tmp_path: Path) -> None:
    page = parsed(ld([{"@type": "Offer", "name": ["a", "b"]}, {"@type": "Offer", "name": "c"}]))
    items = found(rules_of(tmp_path, '[[item]]\nname = "o"\nschema = "Offer"'), page).items
    assert [item.fields for item in items] == [{"name": ["a", "b"]}, {"name": "c"}]
    assert fields(tmp_path, 'n = { schema = "Offer.name", many = true }', page) == {"n": ["a", "b"]}
    assert fields(tmp_path, 'n = { schema = "Offer", type = "list[json]" }', page)["n"][1]["name"] == "c"


def test_references_of_microdata() -> None:
    page = parsed(
        "<div itemscope itemtype=Thing itemref='a b'></div><p id=a itemprop=name>n<p id=b><i itemprop=url>u</i>"
    )
    assert entities(page, "Thing") == [{"@type": "Thing", "name": "n", "url": "u"}]
    again = parsed("<div itemscope itemtype=Thing itemref='a b a' id=b><p id=a itemprop=name>n</div>")
    assert entities(again, "Thing") == [{"@type": "Thing", "name": "n"}], "named twice, and within"


def chain(length: int) -> list[dict[str, Any]]:
    return [{"@id": f"#{n}", "@type": "Thing", "x": [{"@id": f"#{n + 1}"}] * 3} for n in range(length)]


@pytest.mark.parametrize(
    "markup",
    [
        ld([{"@id": "#a", "@type": "Thing", "x": {"@id": "#b"}}, {"@id": "#b", "x": {"@id": "#a"}}]),
        ld({"@id": "#a", "@type": "Thing", "x": {"@id": "#a"}}),
        ld(chain(60)),
        ld({"@type": "Thing", "x": list(range(100_000))}),
        f"<script type='application/ld+json'>{'[' * 50_000}{']' * 50_000}</script>{ld({'@type': 'Thing', 'x': 1})}",
        "<script type='application/ld+json'>" + '{"@type":"Thing","x":' * 500 + "1" + "}" * 500 + "</script>",
        "".join(
            f"<div id=i{n} itemprop=x itemscope itemtype=Thing itemref='i{n} i{n + 1} i0'></div>" for n in range(300)
        )
        + "<div itemscope itemtype=Thing itemref='i0 i1 i2'></div>",
        "<div itemscope itemtype=Thing itemref='r'></div>" * 2000 + "<p id=r>" + "<i itemprop=x>1</i>" * 2000,
        "<div itemscope itemtype=Thing>" * 400 + "<b itemprop=x>1",
        "<div typeof=Thing property=x>" * 400,
    ],
    ids=["cycle", "itself", "tree", "long", "brackets", "deep", "itemref", "many refs", "nested", "rdfa"],
)
def test_what_would_never_end_is_bounded(markup: str) -> None:
    began = time.process_time()
    made = entities(parsed(markup), "Thing")
    assert made
    assert time.process_time() - began < 5.0  # a tree without bounds would take years
    assert max(map(values_in, made)) <= 2 * LARGEST


def values_in(value: object) -> int:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(values_in, below))


def test_no_property_takes_our_names(tmp_path: Path) -> None:
    page = parsed(ld({"@type": "Thing", "_url": "https://evil.example/", "name": "n"}))
    (item,) = found(rules_of(tmp_path, '[[item]]\nname = "t"\nschema = "Thing"'), page).items
    assert item.fields == {"name": "n"}
