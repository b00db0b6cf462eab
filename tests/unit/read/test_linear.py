"""A page read without a tree says what it says by its tree."""

import time

import pytest

from gregor.worker.read.html import guard, linear, parse

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
