"""Pages as Markdown: what people read, in bounded time."""

import time
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from gregor.worker.extract.markdown import markdown


def made(html: str) -> str:
    root = LexborHTMLParser(html).root
    assert root is not None
    return markdown(root, lambda reference: f"http://a.test{reference}" if reference.startswith("/") else None)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>A <em>b</em></h2><p>c</p>", "## A *b*\n\nc"),
        ("<p>a <b> bold </b>c", "a **bold** c"),
        ("<p><a href=/x>one  two</a> <a href='javascript:1'>three</a>", "[one two](http://a.test/x) three"),
        ("<a href='/a(b)'>x</a>", "[x](<http://a.test/a(b)>)"),
        ("<ul><li>one<li>two<ul><li>deep</ul></ul>", "- one\n- two\n  - deep"),
        ("<ol><li>a<li><p>b<p>c</ol>", "1. a\n2. b\n\n   c"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<pre>a\n  ```b</pre>", "````\na\n  ```b\n````"),
        ("<p><code>a_b</code>", "`a_b`"),
        ("<table><tr><th>A<th>B<tr><td>1|2</table>", "| A | B |\n| --- | --- |\n| 1\\|2 |  |"),
        ("<table><tr><td>layout<tr><td>alone</table>", "layout\n\nalone"),
        ("<img src=/p.png alt='A [b]'><img src=/q.png>", "![A \\[b\\]](http://a.test/p.png)"),
        ("<p># no heading<p>1. no list<p>*x* &lt;b>", "\\# no heading\n\n1\\. no list\n\n\\*x\\* \\<b>"),
        ("<nav>menu</nav><script>x</script><form>f</form><p>text", "text"),
        ("a<br>b<hr>c", "a\\\nb\n\n---\n\nc"),
        (
            "<p>3. März 2026<p>am 3. März<p>1) a<p><b>2. b</b><p>x <i>y</i>4. z",
            ("3\\. März 2026\n\nam 3. März\n\n1\\) a\n\n**2. b**\n\nx *y*4. z"),
        ),
        (
            "<p>~~~<p>~~a~~<p>-5 °C<p>- a<p>C++<p>---<p>a<br>===",
            ("\\~\\~\\~\n\n\\~\\~a\\~\\~\n\n-5 °C\n\n\\- a\n\nC++\n\n\\---\n\na\\\n\\==="),
        ),
        ("<ol start=5><li>a<li>b</ol>", "5. a\n6. b"),
        ("<ol start=-5><li>a</ol><ol start=1234567890><li>a</ol>", "1. a\n\n1. a"),
        ("<p>&amp;amp; &amp;#38; &amp;x R&amp;D", "\\&amp; \\&#38; &x R&D"),
        (
            "<p>a<br></p><p>b <br><br>c<h2>d<br>e</h2><blockquote>f<br>g</blockquote>",
            ("a\n\nb\n\nc\n\n## d e\n\n> f\\\n> g"),
        ),
        ("<p><b>a<br></b>b<p>!<a href=/x>c</a>!", "**a**\\\nb\n\n\\![c](http://a.test/x)!"),
        ("<ul><li># a<li>1. b</ul><h2>C #</h2>", "- \\# a\n- 1\\. b\n\n## C \\#"),
        ("", ""),
    ],
)
def test_what_is_shown_is_written_as_markdown(html: str, text: str) -> None:
    assert made(html) == text


PIECES = (*"#-+>=.)!~*_`[]<&\\|:1a ", "\n", "amp;", "3. ", "1) ", "--- ", "<", "](x)")


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), min_size=1, max_size=3))
def test_what_a_page_says_is_what_a_reader_of_commonmark_sees(lines: list[str]) -> None:
    lines = [" ".join(line.split()) for line in lines]
    lines = [line for line in lines if line]
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for before in ("<p>", "<ul><li>", "<blockquote>", "<h3>", "<ol><li><p>"):
        rendered = reader.render(made(before + "<br>".join(map(escape, lines))))
        tree = LexborHTMLParser(rendered).body
        shown = "" if tree is None else " ".join(tree.text().split())
        assert shown == " ".join(lines), rendered
        assert rendered.count("<br") == (len(lines) - 1 if lines and before != "<h3>" else 0)


@pytest.mark.parametrize(
    "html",
    [
        "<p>" + "- " * 500_000 + "x",
        "<p>" + "x<br>" * 200_000,
        "<div>" * 1000 + "x",
        "<table><tr><td>" * 500 + "x",
        "<ul><li>" * 2000 + "x",
        "<blockquote>" * 400 + "x",
        "<b>" * 5000 + "x",
        "<a href=/x>y" * 20_000,
    ],
)
def test_a_hostile_page_is_bounded(html: str) -> None:
    begun = time.process_time()
    assert "x" in made(html)
    assert time.process_time() - begun < 5.0
