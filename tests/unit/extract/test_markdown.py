"""Pages as Markdown: what people read, in bounded time."""

import time

import pytest
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
        ("<p># no heading<p>1. no list<p>*x* &lt;b>", "\\# no heading\n\n\\1. no list\n\n\\*x\\* \\<b>"),
        ("<nav>menu</nav><script>x</script><form>f</form><p>text", "text"),
        ("a<br>b<hr>c", "a\nb\n\n---\n\nc"),
        ("", ""),
    ],
)
def test_what_is_shown_is_written_as_markdown(html: str, text: str) -> None:
    assert made(html) == text


@pytest.mark.parametrize(
    "html",
    [
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
