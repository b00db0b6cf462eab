"""Entities of schema.org in three syntaxes, and those that would never end."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gregor.worker.extract.microdata import Entity
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


@pytest.mark.parametrize(
    ("markup", "kind", "told"),
    [
        (  # breadcrumbs, as the plug-ins of blogs write them: the URL of an item is its element's href
            '<ol vocab="https://schema.org/" typeof="BreadcrumbList"><li property="itemListElement" typeof="ListItem">'
            '<a property="item" typeof="WebPage" href="/x"><i property="name">Home</i></a>'
            '<meta property="position" content="1"></ol>',
            "ListItem",
            [{"item": {"@id": "/x", "@type": "WebPage", "name": "Home"}, "position": "1"}],
        ),
        (  # a list of articles by a content management system: about, rel, names with a prefix
            '<article about="/1" typeof="schema:Article sioc:Item"><b property="schema:name dc:title" content="T"></b>'
            '<i rel="schema:author"><a about="/u" href="/u" typeof="schema:Person" property="schema:name" datatype="">'
            'Bob</a></i><p property="schema:text">Hi</article><article about="/2" typeof="schema:Article">'
            '<i rel="schema:author nofollow"><a about="/u" typeof="schema:Person" property="schema:name">Bob</a></i>',
            "Article",
            [
                {
                    "@id": "/1",
                    "name": "T",
                    "dc:title": "T",
                    "text": "Hi",
                    "author": {"@id": "/u", "@type": "Person", "name": "Bob"},
                },
                {"@id": "/2", "author": {"@id": "/u", "@type": "Person", "name": "Bob"}},
            ],
        ),
        (  # of the recommendation: what resource names is said more of elsewhere, or is a URL
            '<p vocab="https://schema.org/" resource="#m" typeof="Person"><b property="name">Manu</b>'
            '<a property="knows" resource="#a" href="/a">A</a><a property="sameAs" resource="/m">m</a></p>'
            '<p resource="#a" vocab="https://schema.org/"><b property="name">Alex</b>',
            "Person",
            [{"@id": "/job#m", "name": "Manu", "knows": {"@id": "/job#a", "name": "Alex"}, "sameAs": "/m"}],
        ),
        (  # a relation and a property of one element: its text is the property
            '<p typeof="Breadcrumb"><a rel="v:url" property="v:title" href="/blog">Blog</a>',
            "Breadcrumb",
            [{"v:url": "/blog", "v:title": "Blog"}],
        ),
        (  # the page itself
            '<html vocab="http://schema.org/" typeof="WebPage"><meta property="name" content="P">'
            '<body><link property="url" href="/me"><img property="image" src="/i"><img typeof="foaf:Image" src="/j">',
            "WebPage",
            [{"@id": "/job", "name": "P", "url": "/me", "image": "/i"}],
        ),
        (  # a relation to what has no name, another one back, and a prefix of the page's own
            '<div prefix="dc: http://purl.org/dc/terms/ s: https://schema.org/" about="/p" typeof="s:Person">'
            '<p rel="s:address"><b property="s:streetAddress">Quay 1</b><b property="s:postalCode">1</b></p>'
            '<p about="/q" rev="s:parent"></p></div><p about="/q" rev="s:parent" resource="/p"></p>',
            "Person",
            [{"@id": "/p", "address": {"streetAddress": "Quay 1", "postalCode": "1"}, "parent": "/q"}],
        ),
        (
            "<p about=/a typeof=Offer property=name>n<p typeof=Offer rel=s:x href=/b>",
            "Offer",
            [{"@id": "/a", "name": "n"}, {"@id": "/b"}],
        ),
    ],
    ids=["breadcrumbs", "articles", "resources", "both", "page", "relations", "typed"],
)
def test_rdfa_as_pages_have_it(markup: str, kind: str, told: list[Entity]) -> None:
    def absolute(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: absolute(each) for name, each in value.items()}
        if isinstance(value, list):
            return [absolute(each) for each in value]
        return f"https://shop.example{value}" if isinstance(value, str) and value.startswith("/") else value

    def plain(entity: Entity) -> Entity:
        return {name: value for name, value in entity.items() if name != "@type"}

    page = parsed(markup, url="https://shop.example/job")
    assert [plain(entity) for entity in entities(page, kind)] == absolute(told)


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
        "<div typeof=Thing property=x about=/a resource=/b><p typeof=Thing about=/b rel=s:x rev=s:y resource=/a>" * 400,
        "<div about=/a typeof=Thing rel=s:x>" + "<p about=/b rev=s:y>" * 400,
        "<div about=/a typeof=Thing>" + "".join(f"<p property=x>{n}</p>" for n in range(20_000)),
    ],
    ids=[
        "cycle",
        "itself",
        "tree",
        "long",
        "brackets",
        "deep",
        "itemref",
        "many refs",
        "nested",
        "rdfa",
        "rdfa refs",
        "rdfa rels",
        "rdfa values",
    ],
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
