"""Sitemaps, robots.txt, headers and coded bodies that mean harm."""

import gzip
from typing import Final

import zstandard

from tests.web.hostile.document import CODING, HEADER, HEADERS, ROBOTS, SITEMAP, Hostile

_EMPTY: Final = gzip.compress(b"", mtime=0).decode("latin-1")
_FRAME: Final = zstandard.ZstdCompressor().compress(b"").decode("latin-1")
_SKIPPED: Final = "\x50\x2a\x4d\x18" + "\0" * 4
_FILE: Final = 50 * 1024 * 1024
"""Bytes of a sitemap: the default of `max_sitemap`."""

SITEMAPS: Final = (
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
    Hostile("sections and references", SITEMAP, "<![CDATA[]]>&", "<urlset><url><loc>"),
    Hostile("references and their marks", SITEMAP, "&>", "<urlset><url><loc>"),
    Hostile("known references of a sitemap", SITEMAP, "&amp;>", "<urlset><url><loc>"),
    Hostile("numbers of a sitemap", SITEMAP, "&#65;>", "<urlset><url><loc>"),
    Hostile("ends of sections", SITEMAP, "]]>", "<urlset><url><loc>"),
    Hostile("data of a sitemap", SITEMAP, "<![CDATA[a]]>", "<urlset><url><loc>"),
    Hostile("sections in entries", SITEMAP, "<url><loc><![CDATA[http://h/&]]></loc></url>", "<urlset>"),
    Hostile("comments of a sitemap", SITEMAP, "<!---->", "<urlset>"),
    Hostile("instructions of a sitemap", SITEMAP, "<?a?>", "<urlset>"),
    Hostile("comments before a sitemap", SITEMAP, "<!---->", "<?xml version='1.0'?>", "<urlset/>"),
    Hostile(
        "many attributes of entries", SITEMAP, "<url " + " ".join(f"a{n}=''" for n in range(200)) + "/>", "<urlset>"
    ),
    Hostile("prefixes of a sitemap", SITEMAP, lambda n: f"<a{n}:url xmlns:a{n}='u'>", "<urlset>"),
    Hostile("prefixes of one entry", SITEMAP, lambda n: f" xmlns:a{n}='u'", "<urlset><url", "/>", size=250_000),
    Hostile(
        "default attributes of a sitemap",
        SITEMAP,
        "<url/>",
        "<!DOCTYPE urlset [<!ATTLIST url " + " ".join(f"b{n} CDATA ''" for n in range(500)) + ">]><urlset>",
    ),
    Hostile(
        "default attributes behind much",
        SITEMAP,
        "<url/>",
        "<!DOCTYPE urlset ["
        + "<!---->" * 20_000
        + "<!ATTLIST url "
        + " ".join(f"b{n} CDATA ''" for n in range(500))
        + ">]><urlset>",
    ),
    Hostile(
        "declared attributes of a sitemap",
        SITEMAP,
        lambda n: f"<!ATTLIST url b{n} CDATA ''>",
        "<!DOCTYPE urlset [",
        "]><urlset/>",
    ),
    Hostile(
        "declared elements of a sitemap", SITEMAP, lambda n: f"<!ELEMENT a{n} ANY>", "<!DOCTYPE urlset [", "]><urlset/>"
    ),
    Hostile(
        "alternates of a sitemap",
        SITEMAP,
        "<xhtml:link rel='alternate' hreflang='en' href='http://h/'/>",
        "<urlset><url>",
    ),
    Hostile(
        "images of a sitemap",
        SITEMAP,
        "<url><loc>http://h/1</loc><image:image><image:loc>http://h/</image:loc></image:image></url>",
        "<urlset>",
    ),
    Hostile(
        "entries, each its own",
        SITEMAP,
        lambda n: f"<url><loc>http://h/{n}</loc><priority>0.5</priority></url>",
        "<urlset>",
    ),
    Hostile(
        "entries of a large one, each its own",
        SITEMAP,
        lambda n: f"<url><loc>http://h/{n}</loc></url>",
        "<urlset>",
        size=_FILE,
    ),
    Hostile("long entries", SITEMAP, lambda n: f"<url><loc>http://h/{n}{'y' * 900}</loc></url>", "<urlset>"),
    Hostile("long lines of a sitemap", SITEMAP, lambda n: f"http://h/{n}{'y' * 900}\n"),
    Hostile("long dates", SITEMAP, "<url><loc>x</loc><lastmod>" + "9" * 8000 + "</lastmod></url>", "<urlset>"),
    Hostile("large sitemap", SITEMAP, "<url><a/><a/><a/><loc>http://h/&amp;</loc></url>", "<urlset>", size=_FILE),
    Hostile("blank lines of a sitemap", SITEMAP, "\n", "http://h/1\n"),
    Hostile("returns of a sitemap", SITEMAP, "\r", "http://h/1\n"),
    Hostile(
        "packed sitemap", SITEMAP, "<url><loc>http://h/1</loc></url>", "<urlset>", packed=("gzip", "gzip"), size=_FILE
    ),
    Hostile("empty members of a sitemap", SITEMAP, _EMPTY, encoding="latin-1"),
    Hostile("packed members of a sitemap", SITEMAP, _EMPTY, encoding="latin-1", packed=("gzip",)),
    Hostile(
        "sitemap in big5",
        SITEMAP,
        "\x88\x62",
        "<?xml version='1.0' encoding='big5'?><urlset><url><loc>",
        encoding="latin-1",
    ),
)

ROBOTS_FILES: Final = (
    Hostile("robots.txt of rules", ROBOTS, lambda n: f"Disallow: /{n}\n", "User-agent: *\n"),
    Hostile("robots.txt of patterns", ROBOTS, "Disallow: /*a*b*c$\n", "User-agent: *\n"),
    Hostile("robots.txt of stars", ROBOTS, "*", "User-agent: *\nDisallow: /"),
    Hostile("robots.txt of agents", ROBOTS, lambda n: f"User-agent: a{n}\n"),
    Hostile("robots.txt of ours", ROBOTS, "User-agent: gregor\nCrawl-delay: 1\n"),
    Hostile("robots.txt of sitemaps", ROBOTS, lambda n: f"Sitemap: http://h/{n}\n"),
    Hostile("robots.txt of blanks", ROBOTS, "\n"),
    Hostile("robots.txt of markup", ROBOTS, "<"),
    Hostile("robots.txt of digits", ROBOTS, "9", "User-agent: *\nCrawl-delay: "),
    Hostile("robots.txt of delays", ROBOTS, "Crawl-delay: 1 s - 2 s\n", "User-agent: *\n"),
    Hostile("robots.txt of rates", ROBOTS, "Request-rate: 1/5 0600-0845\n", "User-agent: *\n"),
    Hostile("robots.txt of escapes", ROBOTS, "%4", "User-agent: *\nDisallow: /"),
    Hostile("robots.txt of stars and letters", ROBOTS, "*a", "User-agent: *\nDisallow: /"),
    Hostile("robots.txt of colons", ROBOTS, ":"),
    Hostile("robots.txt of words", ROBOTS, "gregor ", "User-agent: "),
    Hostile("robots.txt of returns", ROBOTS, "\r"),
    Hostile("robots.txt in utf-16", ROBOTS, "Disallow: /a\n", "\ufeffUser-agent: *\n", encoding="utf-16-le"),
)

HEADER_LINES: Final = (
    Hostile("one content type", HEADER + "Content-Type", ";a", "text/html", size=HEADERS),
    Hostile("quotes of a content type", HEADER + "Content-Type", '"', "text/html;charset=", size=HEADERS),
    Hostile("content types", HEADER + "Content-Type", lambda n: f"text/a{n}\n", size=HEADERS),
    Hostile("one link header", HEADER + "Link", "<a>;", size=HEADERS),
    Hostile("links of a header", HEADER + "Link", "<a>,", size=HEADERS),
    Hostile("open links of a header", HEADER + "Link", "<", size=HEADERS),
    Hostile("parameters of a link header", HEADER + "Link", ";a=", "<a>", size=HEADERS),
    Hostile("quotes of a link header", HEADER + "Link", '"\\', "<a>;rel=", size=HEADERS),
    Hostile("link headers", HEADER + "Link", lambda n: f"<{n}>;rel=next\n", size=HEADERS),
    Hostile("relations of a link header", HEADER + "Link", "canonical ", '<a>;rel="', '"', size=HEADERS),
    Hostile("a long refresh header", HEADER + "Refresh", ";url=", "0", size=HEADERS),
    Hostile("digits of a refresh header", HEADER + "Refresh", "9", size=HEADERS),
    Hostile("directives of a header", HEADER + "X-Robots-Tag", "a,", size=HEADERS),
    Hostile("robots of a header", HEADER + "X-Robots-Tag", "a:", size=HEADERS),
    Hostile("dates of a header", HEADER + "X-Robots-Tag", "unavailable_after: ", size=HEADERS),
    Hostile("tags of robots", HEADER + "X-Robots-Tag", lambda n: f"a{n}: noindex\n", size=HEADERS),
    Hostile("one cookie", HEADER + "Set-Cookie", "a", "a=", size=HEADERS),
    Hostile("attributes of a cookie", HEADER + "Set-Cookie", ";a", "a=b", size=4000),
    Hostile("cookies", HEADER + "Set-Cookie", lambda n: f"a{n}=b\n", size=HEADERS),
    Hostile("cookies of dates", HEADER + "Set-Cookie", lambda n: f"a{n}=b;expires={'1 ' * 1000}\n", size=HEADERS),
    Hostile("cookies of numbers", HEADER + "Set-Cookie", lambda n: f"a{n}=b;max-age={'9' * 4000}\n", size=HEADERS),
    Hostile("a long retry-after", HEADER + "Retry-After", "9 s,", size=HEADERS),
    Hostile("digits of a retry-after", HEADER + "Retry-After", "9", size=HEADERS),
    Hostile("blanks of a retry-after", HEADER + "Retry-After", " ", "1 Jan", "x", size=HEADERS),
    Hostile("a long location", HEADER + "Location", "/..", "http://h", size=HEADERS),
    Hostile("octets of a location", HEADER + "Location", "\xff", "http://h/", encoding="latin-1", size=HEADERS),
    Hostile("directives of a cache", HEADER + "Cache-Control", "a=,", size=HEADERS),
    Hostile("quotes of a cache", HEADER + "Cache-Control", '"\\', size=HEADERS),
    Hostile("codings", HEADER + "Content-Encoding", "gzip,", size=HEADERS),
)

CODED: Final = (
    Hostile("gzip", CODING + "gzip", "<p>", packed=("gzip",), size=4 * _FILE),
    Hostile("gzip of gzip", CODING + "gzip, gzip", "<p>", packed=("gzip", "gzip"), size=4 * _FILE),
    Hostile(
        "five codings",
        CODING + "gzip, br, zstd, deflate, gzip",
        "<p>",
        packed=("gzip", "br", "zstd", "deflate", "gzip"),
        size=4 * _FILE,
    ),
    Hostile("brotli", CODING + "br", "<p>", packed=("br",), size=4 * _FILE),
    Hostile("zstd", CODING + "zstd", "<p>", packed=("zstd",), size=4 * _FILE),
    Hostile("zstd of zstd", CODING + "zstd, zstd", "<p>", packed=("zstd", "zstd"), size=4 * _FILE),
    Hostile("empty members", CODING + "gzip", _EMPTY, encoding="latin-1"),
    Hostile("packed empty members", CODING + "gzip, gzip", _EMPTY, encoding="latin-1", packed=("gzip",)),
    Hostile("empty frames", CODING + "zstd", _FRAME, encoding="latin-1"),
    Hostile("packed empty frames", CODING + "zstd, gzip", _FRAME, encoding="latin-1", packed=("gzip",)),
    Hostile("skipped frames", CODING + "zstd", _SKIPPED, encoding="latin-1"),
    Hostile("packed skipped frames", CODING + "zstd, br", _SKIPPED, encoding="latin-1", packed=("br",)),
    Hostile("empty blocks", CODING + "zstd", "\0\0\0", _FRAME[:6], encoding="latin-1"),
    Hostile("stored blocks", CODING + "deflate", "\0\0\0\xff\xff", "\x78\x01", encoding="latin-1"),
    Hostile(
        "packed stored blocks",
        CODING + "deflate, gzip",
        "\0\0\0\xff\xff",
        "\x78\x01",
        encoding="latin-1",
        packed=("gzip",),
    ),
    Hostile("zeros behind a member", CODING + "gzip", "\0", _EMPTY, encoding="latin-1"),
    Hostile("a member of none", CODING + "gzip", "a", _EMPTY[:10], encoding="latin-1"),
    Hostile("faulty brotli", CODING + "br", "a\xff", "\x0b", encoding="latin-1"),
)
