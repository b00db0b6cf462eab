"""Documents that are made to cost much: one kind of markup in masses, each as large as a body may be.

`python -m tests.web.hostile [NAME…]` reads them, each in a process of its own, and prints what it took;
`python -m tests.web.hostile --child FILE TYPE` is such a process.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from gregor.worker.read.document import Document
from gregor.worker.read.processors import Processors
from gregor.worker.read.read import read

SIZE: Final = 16 * 1024 * 1024
"""Bytes of a document: the default of `max_body`."""
MOST_SECONDS: Final = 1.0
"""Processor time that one may take."""
MOST_MEMORY: Final = 150
"""MB by which it may raise the peak of resident memory, its own bytes among them."""
TRIES: Final = 4
HTML: Final = "text/html; charset=utf-8"
XML: Final = "application/xml"
XHTML: Final = "application/xhtml+xml"
ROBOTS: Final = "robots.txt"
SITEMAP: Final = "sitemap"


@dataclass(frozen=True, slots=True)
class Hostile:
    """How a document is made: what begins it, what is repeated, what ends it."""

    name: str
    kind: str
    repeated: str | Callable[[int], str]
    before: str = ""
    after: str = ""
    encoding: str = "utf-8"
    size: int = SIZE

    def body(self) -> bytes:
        """Its bytes, exactly `size` of them, or a few less so that no tag is cut."""
        before, after = self.before.encode(self.encoding), self.after.encode(self.encoding)
        room = self.size - len(before) - len(after)
        if isinstance(self.repeated, str):
            piece = self.repeated.encode(self.encoding)
            return before + piece * (room // len(piece)) + after
        return before + _numbered(self.repeated, room, self.encoding) + after


def _numbered(make: Callable[[int], str], room: int, encoding: str) -> bytes:
    pieces = bytearray()
    for number in count():
        piece = make(number).encode(encoding)
        if len(pieces) + len(piece) > room:
            return bytes(pieces)
        pieces += piece
    raise AssertionError


_PAGE: Final = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>t</title></head><body>"
_OPEN: Final = "".join(f"<b a={n}>" for n in range(3000))
_FORMATTING: Final = ["b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"]

DOCUMENTS: Final = (
    Hostile("deep", HTML, "<div>"),
    Hostile("deep and wide", HTML, "<p>a</p>", "<div>" * 5000),
    Hostile("deep spans", HTML, "<span>"),
    Hostile("wide", HTML, "<p>"),
    Hostile("wide with text", HTML, "<p>a"),
    Hostile("ends", HTML, "a</p>"),
    Hostile("angles", HTML, "<"),
    Hostile("attributes of one tag", HTML, lambda n: f" a{n}", "<p"),
    Hostile("attributes of every tag", HTML, "<p a b c d e f g h>"),
    Hostile("500 attributes of every tag", HTML, "<p " + " ".join(f"a{n}" for n in range(500)) + ">"),
    Hostile("names of attributes", HTML, lambda n: f"<p a{n}>"),
    Hostile("names of tags", HTML, lambda n: f"<x{n}>"),
    Hostile("names, a small page", HTML, lambda n: f"<p a{n}>", size=1024 * 1024),
    Hostile("attributes behind a quote", HTML, lambda n: f" a{n}", "<script><x y='</script><a z='>'"),
    Hostile("quotes", HTML, "<a href='"),
    Hostile("a long value", HTML, "x", "<a href='", "'>"),
    Hostile("entities", HTML, "&amp;"),
    Hostile("entities that grow", HTML, "&nGt;"),
    Hostile("entities that grow, in values", HTML, "&nLt;", "<a href='", "'>"),
    Hostile("entities that are none", HTML, "&a"),
    Hostile("numbered characters", HTML, "&#8810;"),
    Hostile("tables", HTML, "<table>"),
    Hostile("cells", HTML, "<table><td>a"),
    Hostile("rows", HTML, "<tr><td>a</td></tr>", "<table>"),
    Hostile("links in cells", HTML, "<table><td><a href=x>"),
    Hostile("captions", HTML, "<caption>", "<table>" * 200),
    Hostile("text in tables", HTML, "<tr>a", "<table>"),
    Hostile("formatting", HTML, "<b>"),
    Hostile("formatting, each its own", HTML, lambda n: f"<b a={n}>"),
    Hostile("formatting opened anew", HTML, "<p>x", "<p>" + _OPEN + "</p>"),
    Hostile("formatting opened anew, a small page", HTML, "<p>x", "<p>" + _OPEN + "</p>", size=64 * 1024),
    Hostile(
        "plain formatting opened anew",
        HTML,
        "<p>x",
        "<p>" + "".join(f"<{name}>" * 3 for name in _FORMATTING) + "</p>",
        size=100 * 1024,
    ),
    Hostile("formatting in cells", HTML, "<td>x</td>", "<table><tr>" + _OPEN),
    Hostile("adoption", HTML, "<b><div></b>"),
    Hostile("adoption of many", HTML, "</b>" * 8 + "<b>" * 8 + "<div>", "<b>" * 9 + "<i><u><s><div>"),
    Hostile("adoption of anchors", HTML, "<a><b><i><u><s><div></a>"),
    Hostile("nobr", HTML, "<nobr a><p>x"),
    Hostile("templates", HTML, "<template>"),
    Hostile("templates with text", HTML, "<template>a</template>"),
    Hostile("shadow roots", HTML, "<div><template shadowrootmode=open>a</template></div>"),
    Hostile("nested shadow roots", HTML, "<div><template shadowrootmode=open>"),
    Hostile("shadow roots that do not end", HTML, "<template shadowrootmode=open a='"),
    Hostile("shadow roots in quotes", HTML, '<a b="<template shadowrootmode=open>'),
    Hostile("templates behind a shadow root", HTML, "<template>", "<div><template shadowrootmode=open>"),
    Hostile("comments behind a shadow root", HTML, "<!---->", "<div><template shadowrootmode=open>"),
    Hostile("links in shadow roots", HTML, "<p><template shadowrootmode=open><a href=x>y</a></template>"),
    Hostile("references of srcdoc", HTML, "&amp;lt;a href=x>", "<iframe srcdoc='", "'></iframe>"),
    Hostile("bases of srcdoc", HTML, "<iframe srcdoc='<base href=http://h/><a href=x>'></iframe>"),
    Hostile("srcdoc", HTML, "<iframe srcdoc='&lt;a href=x>y'></iframe>"),
    Hostile("one srcdoc", HTML, "&lt;p>", "<iframe srcdoc='", "'></iframe>"),
    Hostile("srcdoc in srcdoc", HTML, "<iframe srcdoc="),
    Hostile("svg", HTML, "<svg><g>"),
    Hostile("math", HTML, "<math><mi>"),
    Hostile("drawings with html", HTML, "<svg><foreignObject><p>x"),
    Hostile("cdata", HTML, "<![CDATA[a]]>", "<svg>"),
    Hostile("scripts", HTML, "<script></script>"),
    Hostile("script", HTML, "<script>"),
    Hostile("script data", HTML, "<!--<script>", "<script>"),
    Hostile("styles", HTML, "<style>a</style>"),
    Hostile("titles", HTML, "<title>a</title>"),
    Hostile("one title", HTML, "a ", "<title>"),
    Hostile("textareas", HTML, "<textarea>a</textarea>"),
    Hostile("comments", HTML, "<!---->"),
    Hostile("comments that do not end", HTML, "<!--"),
    Hostile("options", HTML, "<option>", "<select>"),
    Hostile("bodies", HTML, lambda n: f"<body a{n}=x>"),
    Hostile("frames", HTML, "<frame src=x>", "<frameset>"),
    Hostile("forms", HTML, "<form action=x>"),
    Hostile("anchors", HTML, "<a href=x>"),
    Hostile("anchors with text", HTML, "<a href=x>word</a> "),
    Hostile("images", HTML, "<img src=x>"),
    Hostile("srcset", HTML, "a 1x,", "<img srcset='"),
    Hostile("srcset without commas", HTML, "a (", "<img srcset='"),
    Hostile("descriptors", HTML, "1x ", "<img srcset='a "),
    Hostile("srcsets", HTML, "<img srcset='a 1x,b 2x'>"),
    Hostile("meta refresh", HTML, "9", "<meta http-equiv=refresh content='"),
    Hostile("meta refreshes", HTML, "<meta http-equiv=refresh content='0;url=x'>"),
    Hostile("metas", HTML, "<meta name=robots content=noindex>"),
    Hostile("base", HTML, "y", "<base href='http://h/"),
    Hostile("bases", HTML, "<base href=x>"),
    Hostile("words", HTML, "ab "),
    Hostile("letters", HTML, "a "),
    Hostile("one word", HTML, "a"),
    Hostile("words and one emoji", HTML, "ab ", "\U0001f600"),
    Hostile("emojis", HTML, "\U0001f600 "),
    Hostile("cyrillic", HTML, "\u0436 "),
    Hostile("no characters", HTML, "\0"),
    Hostile("no characters and tags", HTML, "\0<p>"),
    Hostile("utf-16", HTML, "<p>", "\ufeff", encoding="utf-16-le"),
    Hostile("shift_jis", "text/html; charset=shift_jis", "\u30a2", encoding="shift_jis"),
    Hostile("gb18030", "text/html; charset=gb18030", "\u0080", encoding="gb18030"),
    Hostile("faulty utf-8", HTML, "\xff", encoding="latin-1"),
    Hostile("faulty gb18030", "text/html; charset=gb18030", "\x810", encoding="latin-1"),
    Hostile("no encoding", "text/html", "\xe0\xe1 ", encoding="latin-1"),
    Hostile("plain text", "text/plain", "ab\n"),
    Hostile("json", "application/json", "[1,"),
    Hostile("style sheet", "text/css", "url(a)"),
    Hostile("style sheet of quotes", "text/css", "'"),
    Hostile("style sheet of comments", "text/css", "/*"),
    Hostile("style sheet of imports", "text/css", "@import "),
    Hostile("xml", XML, "<a/>", "<r>", "</r>"),
    Hostile("deep xml", XML, "<a>"),
    Hostile("deep xml, closed", XML, "<a>" * 200 + "</a>" * 200, "<r>", "</r>"),
    Hostile("attributes of xml", XML, lambda n: f"<a b{n}='1'/>", "<r>", "</r>"),
    Hostile("attributes of one element", XML, lambda n: f" a{n}=''", "<r", "/>"),
    Hostile("namespaces", XML, lambda n: f"<a:b xmlns:a='u{n}'/>", "<r>", "</r>"),
    Hostile("text of xml", XML, "a ", "<r>", "</r>"),
    Hostile("entities of xml", XML, "&a;", "<!DOCTYPE r [<!ENTITY a 'aaaa'>]><r>", "</r>"),
    Hostile("declared entities", XML, lambda n: f"<!ENTITY a{n} 'a'>", "<!DOCTYPE r [", "]><r/>"),
    Hostile("comments of xml", XML, "<!---->", "<r>", "</r>"),
    Hostile("instructions of xml", XML, "<?a?>", "<r>", "</r>"),
    Hostile("xhtml", XHTML, "<p/>", _PAGE, "</body></html>"),
    Hostile("xhtml with links", XHTML, "<p><a href='x'>y</a></p>", _PAGE, "</body></html>"),
    Hostile("xhtml that is none", XHTML, "<p/>", _PAGE),
    Hostile("xhtml, entities", XHTML, "&nbsp;", "<!DOCTYPE html>" + _PAGE, "</body></html>"),
    Hostile("feed", "application/rss+xml", "<item><link>http://h/x</link></item>", "<rss><channel>"),
    Hostile("atom", "application/atom+xml", "<entry><id>http://h/x</id></entry>", "<feed>"),
    Hostile("sitemap", SITEMAP, "<url><loc>http://h/1</loc></url>", "<urlset>", "</urlset>"),
    Hostile("index of sitemaps", SITEMAP, "<sitemap><loc>http://h/1</loc></sitemap>", "<sitemapindex>"),
    Hostile("deep sitemap", SITEMAP, "<url>", "<urlset>"),
    Hostile("sitemap of something else", SITEMAP, "<x/>", "<urlset>"),
    Hostile("addresses of one entry", SITEMAP, "<loc>http://h/1</loc>", "<urlset><url>"),
    Hostile("attributes of a sitemap", SITEMAP, lambda n: f" a{n}=''", "<urlset><url"),
    Hostile("attributes of entries", SITEMAP, "<url a='' b='' c=''/>", "<urlset>"),
    Hostile("references of a sitemap", SITEMAP, "&", "<urlset><url><loc>"),
    Hostile("sections of a sitemap", SITEMAP, "<![CDATA[]]>", "<urlset><url><loc>"),
    Hostile("dates", SITEMAP, "<url><lastmod>2026-01-01T00:00:00Z</lastmod><loc>x</loc></url>", "<urlset>"),
    Hostile("lines of a sitemap", SITEMAP, "http://h/1\n"),
    Hostile("line of a sitemap", SITEMAP, "x", "http://h/"),
    Hostile("robots.txt of rules", ROBOTS, lambda n: f"Disallow: /{n}\n", "User-agent: *\n"),
    Hostile("robots.txt of patterns", ROBOTS, "Disallow: /*a*b*c$\n", "User-agent: *\n"),
    Hostile("robots.txt of stars", ROBOTS, "*", "User-agent: *\nDisallow: /"),
    Hostile("robots.txt of agents", ROBOTS, lambda n: f"User-agent: a{n}\n"),
    Hostile("robots.txt of ours", ROBOTS, "User-agent: gregor\nCrawl-delay: 1\n"),
    Hostile("robots.txt of sitemaps", ROBOTS, lambda n: f"Sitemap: http://h/{n}\n"),
    Hostile("robots.txt of blanks", ROBOTS, "\n"),
    Hostile("robots.txt of markup", ROBOTS, "<"),
    Hostile("robots.txt of digits", ROBOTS, "9", "User-agent: *\nCrawl-delay: "),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one document took: seconds of processor time, and MB of memory at its peak."""

    seconds: float
    memory: float
    said: str
    """What was read of it, in a few words."""

    @property
    def within(self) -> bool:
        """Whether that is no more than the bound."""
        return self.seconds <= MOST_SECONDS and self.memory <= MOST_MEMORY


def cost(hostile: Hostile) -> Cost:
    """Reads a document in a process of its own: the least that it took, of a few tries if the first ones took more
    than the bound, since whoever shares the processor's cores makes each second of its time do less. Raises
    CalledProcessError if a process dies."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(hostile.body())
        file.flush()
        command = [sys.executable, "-m", "tests.web.hostile", "--child", file.name, hostile.kind]
        best: Cost | None = None
        for _ in range(TRIES):
            answer = subprocess.run(command, check=True, capture_output=True, timeout=120)
            took = Cost(**json.loads(answer.stdout))
            best = took if best is None or took.seconds < best.seconds else best
            if best.within:
                break
    assert best is not None
    return best


def _child(file: Path, kind: str) -> Cost:
    """Reads the file in this process, after something small that loads all that is loaded once."""
    for warm in ("<p>some <a href=x>words</a>" * 20, "<urlset><url><loc>http://h/</loc></url></urlset>"):
        _read(warm.encode(), HTML)
        _read(warm.encode(), SITEMAP)
        _read(warm.encode(), ROBOTS)
    before, started = _peak(), time.process_time()
    said = _read(file.read_bytes(), kind)
    return Cost(round(time.process_time() - started, 3), round(_peak() - before, 1), said)


def _read(body: bytes, kind: str) -> str:
    if kind == ROBOTS:
        from gregor.worker.robots import file as robots_file

        rules = robots_file.parse(body, "gregor")
        return f"{rules.decide('http://h/' + 'a' * 2000)} {len(rules.sitemaps)}"
    said = read(Processors(), Document("http://h/", body, None if kind == SITEMAP else kind), kind == SITEMAP)
    if said.sitemap is not None:
        found = said.sitemap
        return f"{len(found.urls)} + {len(found.children)} addresses, cut: {found.truncated}, broken: {found.broken}"
    text = said.extract
    return f"{len(text.text)} characters, {len(text.links)} links, cut: {text.cut or text.truncated}"


def _peak() -> float:
    """The peak of this program's resident memory, MB; that of ru_maxrss may be its parent's."""
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _table(chosen: Iterable[Hostile]) -> bool:
    within = True
    for hostile in chosen:
        try:
            took = cost(hostile)
        except subprocess.SubprocessError as error:
            print(f"{hostile.name:40} {error}", flush=True)
            within = False
            continue
        mark = "" if took.within else "  TOO MUCH"
        within = within and not mark
        print(f"{hostile.name:40} {took.seconds:6.2f} s {took.memory:6.0f} MB  {took.said}{mark}", flush=True)
    return within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which documents; none: all")
    parser.add_argument("--child", nargs=2, metavar=("FILE", "TYPE"))
    options = parser.parse_args()
    if options.child:
        took = _child(Path(options.child[0]), options.child[1])
        print(json.dumps({"seconds": took.seconds, "memory": took.memory, "said": took.said}))
        return 0
    chosen = [each for each in DOCUMENTS if not options.names or each.name in options.names]
    return 0 if _table(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
