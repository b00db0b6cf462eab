import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.read.document import Reference
from gregor.worker.read.html import parse as html
from gregor.worker.read.html import references
from gregor.worker.read.html.collector import MAX_HEADING, MAX_HEADINGS

PAGE = """<!doctype html><html lang="de"><head><title> A
 title </title><base href="/b/"><base href="/c/">
<link rel="alternate canonical" href=" /canonical "><link rel="stylesheet" href="s.css"><link rel=next href=n>
<link rel=alternate type="application/rss+xml" href=feed><meta name=ROBOTS content=NoIndex>
<meta http-equiv=refresh content="5; url='/r'"><style>p{}</style></head>
<body><p>One<p>two <b>three</b>.<div>four</div>five<script>"<a href=no>"</script><noscript><a href=ns>no script</a>
</noscript>
<a href="x?a=1&amp;b=2" rel="NoFollow noopener">an <i>anchor</i></a><template><a href=t>t</a></template>
<map><area href=area alt=Area></map><iframe src=if></iframe><img src=i srcset="a 1x, b 2x"><textarea><a href=no>
</textarea><link rel=canonical href=/elsewhere><form action=f><input></form><form method=post action=p></form>"""


def test_one_pass_gives_everything_a_page_says() -> None:
    found = html.extract(PAGE, "utf-8")
    assert (found.title, found.lang, found.base, found.canonical) == ("A title", "de", "/b/", "/canonical")
    assert (found.refresh, found.refresh_delay, found.meta_robots) == ("/r", 5, [("robots", "NoIndex")])
    assert found.text == "One two three. four five no script an anchor <a href=no>"
    assert found.links == [
        Reference("/canonical", "canonical"),
        Reference("s.css", "css"),
        Reference("n", "next"),
        Reference("feed", "feed"),
        Reference("/r", "refresh"),
        Reference("ns", "a", False, "no script"),
        Reference("x?a=1&b=2", "a", True, "an anchor"),
        Reference("area", "area", False, "Area"),
        Reference("if", "iframe"),
        Reference("i", "img"),
        Reference("a", "srcset"),
        Reference("b", "srcset"),
        Reference("/elsewhere", "link"),
        Reference("f", "form"),
    ]


def test_a_base_in_a_drawing_is_none() -> None:
    assert html.extract("<svg><base href=/no/ /></svg><base href=/yes/>").base == "/yes/"


def test_a_frameset_has_frames() -> None:
    assert html.extract("<frameset><frame src=a><frame src=b></frameset>").links == [
        Reference("a", "frame"),
        Reference("b", "frame"),
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("wo<b>r</b>d", "word"),
        ("<p>a<p>b", "a b"),
        ("<ul><li>a</li><li>b</li></ul>c", "a b c"),
        ("<td>a</td>", "a"),
        ("<table><tr><td>a</td><td>b</td></table>", "a b"),
        ("a<br>b", "a b"),
        ("a<!-- x -->b", "ab"),
        ("&lt;p&gt; &amp;nbsp;&nbsp;x", "<p> &nbsp; x"),
        ("", ""),
    ],
)
def test_text_is_apart_where_blocks_are(markup: str, text: str) -> None:
    assert html.extract(markup).text == text


def test_links_of_a_page_are_bounded_and_the_cut_is_told() -> None:
    found = html.extract("<a href=x>" * 30, max_links=20)
    assert (len(found.links), found.truncated) == (20, True)
    assert not html.extract("<a href=x>" * 20, max_links=20).truncated


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 200_000,
        "<div><marquee></div></marquee>" * 40_000,
        '<div title="</div>">' * 60_000,
        "<svg><style><div></style></svg>" * 40_000,
        "<a " + " ".join(f"a{number}=1" for number in range(150_000)) + ">",
        "<a x='>'" + "/".join(f"a{number}" for number in range(150_000)) + " <>>",
        "<table><td><a href=x>word " * 10_000,
        "<!--" * 200_000,
        "<a href='" * 100_000,
        "<form><div></form>" * 60_000,
        "<img srcset='" + "a (" * 200_000 + "'>",
        "<img srcset='" + "a 1x," * 400_000 + "'>",
        "<img srcset='a " + "1x " * 400_000 + "'>",
        "<select>" + "<option>" * 200_000,
        "<select>" + "<OPTION value='>'>a" * 100_000,
        "".join(f"<body a{number}=x>" for number in range(60_000)),
        "".join(f"<Html a{number}=x>" for number in range(60_000)),
        "".join("<body " + " ".join(f"a{n}" for n in range(m, m + 400)) + ">" for m in range(0, 40_000, 400)),
        "<meta http-equiv=refresh content='" + "9" * 500_000 + "'>",
    ],
    ids=lambda text: str(text)[:20],
)
def test_hostile_markup_costs_no_more_than_other_markup(hostile: str) -> None:
    started = time.process_time()
    html.extract(hostile)
    assert time.process_time() - started < 3


def test_a_tamed_page_keeps_its_links_and_its_text() -> None:
    deep = "<base href=/b><div title='<a href=no>'>" * 11_000 + "<a href=deep>te<b>x</b>t</a>"
    found = html.extract(deep)
    assert (found.base, found.links, found.text) == ("/b", [Reference("deep", "a", False, "text")], "text")
    wide = "<a href=first " + " ".join(f"a{number}" for number in range(9000)) + ">t</a><a href=second>"
    assert [link.url for link in html.extract(wide).links] == ["first", "second"]


def test_options_in_masses_are_text_and_the_first_body_keeps_its_word() -> None:
    few, many = (html.extract(f"<html lang=de><select>{'<option value=x>a' * n}</select>") for n in (1000, 5000))
    assert (few.text, many.text) == (" ".join("a" * 1000), " ".join("a" * 5000))
    bodies = html.extract("<html lang=en><body background=b>" + "<body id='>'><html lang=x>c" * 3000)
    assert (bodies.lang, bodies.text, bodies.links) == ("en", "c" * 3000, [Reference("b", "background")])


_PIECES = st.sampled_from(
    [
        "<a",
        "href=x>",
        "<div>",
        "</div>",
        "<p",
        "</p>",
        "<table><td>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "'",
        '"',
        "=",
        ">",
        "<",
        "&",
        "&#0;",
        "\x00",
        "é",
    ]
)


@settings(deadline=None)
@given(st.lists(_PIECES | st.text(max_size=5), max_size=60).map("".join))
def test_any_text_is_a_page(text: str) -> None:
    found = html.extract(text)
    assert all(link.url == link.url.strip(" \t\n\f\r") for link in found.links)
    assert found.text == " ".join(found.text.split())


@settings(deadline=None)
@given(st.text(alphabet="a ,(1xwh)\t.-", max_size=30))
def test_any_srcset_can_be_read(value: str) -> None:
    assert all(url and not url.endswith(",") for url in references.srcset(value))


@settings(deadline=None)
@given(st.text(alphabet="0159 .;,urlURL='\"x\t", max_size=30))
def test_any_refresh_can_be_read(content: str) -> None:
    found = references.refresh(content)
    assert found is None or found.delay >= 0


@pytest.mark.parametrize(
    ("reference", "base"),
    [
        (None, "http://a.test/d/p"),
        ("/x/", "http://a.test/x/"),
        ("http://", "http://a.test/d/p"),
        ("javascript:1", "http://a.test/d/p"),
        ("data:,1", "http://a.test/d/p"),
        ("self.html", "http://a.test/d/self.html"),
        ("/" + "x" * 5000, "http://a.test/d/p"),  # each reference would cost what its length is
    ],
)
def test_a_base_that_cannot_be_one_is_none(reference: str | None, base: str) -> None:
    assert references.base_url(reference, "http://a.test/d/p") == base


def test_the_first_headings_are_kept_by_their_texts() -> None:
    text = "<h1>A <b>great</b>\n heading</h1><h4>no</h4><div><h3> </h3><h2>second<!-- x --></h2></div>"
    text += "<template><h1>t</h1></template>"
    assert html.extract(text).headings == ["A great heading", "second"]
    many = html.extract("".join(f"<h2>{number} {'x' * 1000}</h2>" for number in range(100)))
    assert len(many.headings) == MAX_HEADINGS and {*map(len, many.headings)} == {MAX_HEADING}
    nested = html.extract("<h1><div>" * 60 + "word " * 20_000)
    assert sum(map(len, nested.headings)) <= MAX_HEADINGS * MAX_HEADING
