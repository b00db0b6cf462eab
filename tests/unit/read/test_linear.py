"""A page read without a tree says what it says by its tree."""

import time

import pytest

from gregor.worker.read.html import guard, linear, parse
from gregor.worker.web.encodings import decoders

PAGES = [
    "<title>a &amp; b</title><base href=/b/><link rel=canonical href=/c><p>one<p>two <b>bold</b>",
    "<a href='x?a=1&amp;b=2&copy=3'>an <i>anchor</i></a><a href=y rel=nofollow>b</a> text",
    "<script>a<b></script>x<style>p{}</style>y<!-- <a href=no> -->z<textarea><a href=no></textarea>",
    "<svg><title>drawn</title><path d=m /></svg><p>after<svg><style>s</style></svg><a href=q>r</a>",
    "<template><a href=no>t</a></template><noscript><a href=ns>n</a></noscript><img srcset='a 1x, b 2x'>",
    "<html lang=de><meta name=robots content=noindex><meta http-equiv=refresh content='5;url=/r'>\r\nx",
    "<form action=f><input><select><option>o</select></form><iframe src=i></iframe><area href=m alt=k>",
    "p<iframe src=e srcdoc='<title>no</title><a href=f>f</a> g<meta name=robots content=noindex>'>no</iframe>h",
    "a < b &lt; c <1> </> <!doctype html> <?php ?> d",
    "x<a href=a>one</a><a href='b c'>two  words </a><A HREF=\"c\">three</A><a href=d>fo<b>u</b>r</a><a\nhref=e\n>5</a>",
    "x<a href=a>a &amp; b</a><a href='b&amp;c'>2</a><a href>n</a><a name=n>o</a><a href=c/>3</a><a href=' d '>f</a>",
    "x<a href=a></a><a href=b> <img src=i></a><p>between</p><a href=c>" + "word " * 100 + "</a><a href=d>end",
    "<template><a href=no>t</a></template><svg><a href=s>drawn</a></svg><a href=a>after</a><div>apart</div>text",
]


@pytest.mark.parametrize("page", PAGES)
def test_it_says_the_same_as_the_tree(page: str) -> None:
    assert linear.extract(page, "utf-8", 100) == parse.extract(page, "utf-8", 100)


@pytest.mark.parametrize(
    "hostile",
    [
        "<p>" + "".join(f"<b a={n}>" for n in range(3000)) + "</p>" + "<p>x" * 10_000,
        "<p>" + "<b><i><u><s><em>" * 3 + "</p>" + "<p>x" * 60_000,
        "<p a b c d e f g h>" * 100_000,
        "".join(f"<p a{n}>" for n in range(60_000)),
        "<p>a" * 250_000,
    ],
)
def test_a_tree_that_would_cost_too_much_is_not_built(hostile: str) -> None:
    assert guard.guard(hostile) is None
    started = time.process_time()
    parse.extract(hostile)
    assert time.process_time() - started < 3


def test_references_that_take_more_bytes_than_they_have_are_replaced_before_the_tree() -> None:
    assert parse.extract("&nGt;" * 20_000 + "<a href='" + "&nLt;" * 20_000 + "'>x").text.startswith("\u226b\u20d2")


def test_what_is_cut_is_said() -> None:
    assert parse.extract("<p>a" * 400_000).cut == "tags"
    assert guard.limited("a" * (9 << 20))[1] == "size"
    assert guard.limited("a" * (1 << 20))[1] == ""


def test_links_of_the_usual_form_are_counted_as_all_others_are() -> None:
    usual = parse.extract("x" + "<a href=y>word</a> " * 80_000)
    other = parse.extract("x" + "<a href=y >wo&shy;d</a> " * 80_000)
    assert usual.cut == other.cut == "tags"
    assert abs(len(usual.links) - len(other.links)) <= 1


@pytest.mark.parametrize("encoding", ["utf-16le", "utf-16be"])
def test_halves_of_characters_that_stand_alone_cost_no_more_than_others(encoding: str) -> None:
    octets = ("\ud800a" * 2_000_000).encode(f"{encoding[:6]}-{encoding[6:]}", "surrogatepass")
    started = time.process_time()
    assert decoders.text(octets, encoding) == "\ufffda" * 2_000_000
    assert time.process_time() - started < 0.5
