"""Generated inputs for the fuzzer: words of each format put together, samples of it damaged, small ones blown up.

An input is determined by its kind, seed and number, so that a failing one can be made again.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

MAX_BYTES = 65536
"""Size to which one input in a hundred is blown up; most are below 2 KB."""


@dataclass(frozen=True, slots=True)
class Language:
    """What inputs of a kind are made of: `words` are put together at random, `samples` are damaged."""

    words: tuple[bytes, ...]
    samples: tuple[bytes, ...]


def make(kind: str, seed: int, number: int) -> bytes:
    """Input `number` of a kind under a seed."""
    chance = random.Random(f"{kind} {seed} {number}")
    language = LANGUAGES[kind]
    if chance.random() < 0.5:
        data = _spoken(language, chance)
    else:
        data = chance.choice(language.samples)
        for _ in range(chance.randint(1, 8)):
            data = _damaged(data, language, chance)
    if chance.random() < 0.01:
        data = data * (MAX_BYTES // (len(data) + 1) + 1)
    return data[:MAX_BYTES]


def _spoken(language: Language, chance: random.Random) -> bytes:
    words = chance.choices(language.words, k=chance.randint(1, 40))
    return b"".join(word if chance.random() < 0.95 else _noise(chance) for word in words)


def _damaged(data: bytes, language: Language, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    to = min(len(data), at + chance.randint(0, 20))
    match chance.randrange(6):
        case 0:
            return data[:at] + data[to:]
        case 1:
            return data[:at] + chance.choice(language.words) + data[at:]
        case 2:
            return data[:at] + data[at:to] * chance.randint(2, 50) + data[to:]
        case 3:
            return data[:at] + _noise(chance) + data[to:]
        case 4:
            return data[:at]
        case _:
            other = chance.choice(language.samples)
            return data[:at] + other[chance.randint(0, len(other)) :]


def _noise(chance: random.Random) -> bytes:
    """Random bytes, or characters of the kind that break text handling."""
    if chance.random() < 0.5:
        return chance.randbytes(chance.randint(1, 8))
    return chance.choice(ODD)


ODD = (
    *(
        character.encode()
        for character in "\u2028\u200b\u202e\ufeff\ufffd\U0001f600éßİı\u0301ﬀ。\u3000\x00\x1b\x7f\x85"
    ),
    *(b"\xed\xa0\x80", b"\xff\xfe", b"\xfe\xff", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"%00", b"%", b"%zz", b"\r", b"\n"),
    *(b"9" * 400, b"-1", b"1e999", b"0x7f", b"&#0;", b"&#x110000;", b"\\", b"//", b"..", b"A" * 300),
)


def _language(words: Sequence[str], samples: Sequence[str | bytes]) -> Language:
    made = (sample if isinstance(sample, bytes) else sample.encode() for sample in samples)
    return Language(tuple(word.encode() for word in words), tuple(made))


ROBOTS = _language(
    [
        *(
            "User-agent: ",
            "user-agent:",
            "UserAgent ",
            "Disallow: ",
            "Allow: ",
            "disallow",
            "Dissallow: ",
            "Crawl-delay: ",
        ),
        *(
            "Request-rate: ",
            "Sitemap: ",
            "Host: ",
            "Noindex: ",
            "*",
            "$",
            "/",
            "gregor",
            "Gregor/1.0",
            "googlebot",
            "#",
        ),
        *(
            "\n",
            "\r\n",
            "\r",
            "\n\n",
            " ",
            "\t",
            ":",
            "/private/",
            "/*.php$",
            "/a%2fb",
            "%E3%81%82",
            "10",
            "1/5s",
            "0.5",
        ),
        *("http://a.example/sitemap.xml", "/../", "?q=*", "/index.html", "**", "*$*", "\ufeff", "\x00"),
    ],
    [
        "User-agent: *\nDisallow: /private/\nAllow: /private/a$\nCrawl-delay: 2\n\nUser-agent: gregor\nDisallow: /*?\n",
        "\ufeffuser-agent:gregor/2 # us\r\nDisallow:/a%2Fb*c$\rAllow:\nSitemap: s.xml\nRequest-rate: 1/10 0600-0845\n",
        b"User-agent: *\nDisallow: /" + b"*a" * 200 + b"$\nDisallow: /\xff\xfe\n",
        "<!DOCTYPE html><html><body>User-agent: *<br>Disallow: /</body></html>",
    ],
)
URLS = _language(
    [
        *(
            "http://",
            "https:",
            "HTTP://",
            "ftp://",
            "javascript:",
            "mailto:a@b",
            "data:,x",
            "//",
            "/",
            "\\",
            "?",
            "#",
            "@",
        ),
        *(
            ":",
            ":80",
            ":443",
            ":65536",
            "a.example",
            "xn--",
            "xn--bcher-kva",
            "bücher.example",
            "[::1]",
            "[v1.x]",
            "127.1",
        ),
        *(
            "0x7f.1",
            "1.2.3.4.5",
            "..",
            ".",
            "%2e%2E",
            "%41",
            "%zz",
            "%",
            "?utm_source=x",
            "&b=2",
            "&a=1",
            ";jsessionid=A1",
        ),
        *("index.html", " ", "\t", "\n", "|", "^", "{}", '"', "<>", "é", "\U0001f600", "user:pass@", "a..b", "-", "_"),
    ],
    [
        "http://user:pw@Bücher.Example:80/a/../%7eb/./c%2fd?x=1&utm_source=y&a=ü#frag",
        "https://[2001:db8::1]:8443/?q=%e3%81%82&PHPSESSID=0123456789abcdef0123456789abcdef",
        "http://0x7f000001/(S(abcdefghijklmnopqrstuvwx))/Default.aspx;jsessionid=1A?b=2&a=1&&",
        "//a.example\\..\\x?y#z",
        "http://xn--a.example./%%36%31",
    ],
)
HTML = _language(
    [
        *(
            "<a href=",
            "<a href='x'>",
            "</a>",
            '<base href="',
            "<link rel=next href=/n>",
            '<link rel="canonical" href=/c>',
        ),
        *(
            "<meta charset=",
            "<meta http-equiv=refresh content='",
            "0;url=",
            "<meta name=robots content=none>",
            "<title>",
        ),
        *(
            "</title>",
            "<img srcset='a 1x, b 2x",
            "<iframe src=",
            "<frame src=f>",
            "<svg><a xlink:href=x>",
            "<math>",
            "<p>",
        ),
        *(
            "<table><tr><td>",
            "<template>",
            "<noscript>",
            "<script>",
            "</script>",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<?xml",
        ),
        *(
            "utf-8",
            "shift_jis",
            "utf-16",
            "x-user-defined",
            "&amp;",
            "&#x41;",
            "&notin;",
            "'",
            '"',
            ">",
            "<",
            "/",
            "=",
            " ",
        ),
        *(
            "<div>",
            "</div>",
            "<b>",
            "<form action=f method=get>",
            "<area href=x>",
            "<body",
            "<html lang=",
            "<plaintext>",
        ),
    ],
    [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A &amp; B</title><base href="/b/"></head>'
        '<body><a href="x" rel="nofollow">one</a><img srcset="a.jpg 1x, b 2x"><iframe src="f"></iframe></body>',
        '<?xml version="1.0" encoding="euc-jp"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script/></head>'
        '<body><a href="x">y</a></body></html>',
        "<meta http-equiv=Refresh content=\"5; URL='next.html'\"><frameset><frame src=a><noframes><a href=b>",
        b"\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00x\x00>\x00",
        b"<html><head><meta charset=shift_jis><title>\x83e\x83X\x83g</title></head><body>\x82\xa0\x82</body>",
        "<p>" + "<b><i>" * 60 + "<a href=deep>" + "<table>" * 30,
    ],
)
SITEMAPS = _language(
    [
        *(
            "<?xml version='1.0'?>",
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
            "</urlset>",
            "<url>",
        ),
        *(
            "</url>",
            "<loc>",
            "</loc>",
            "http://a.example/x",
            "<lastmod>",
            "2026-01-01T00:00:00Z",
            "2026-13-45",
            "</lastmod>",
        ),
        *(
            "<changefreq>daily</changefreq>",
            "<priority>",
            "1e9",
            "</priority>",
            "<sitemapindex>",
            "<sitemap>",
            "</sitemap>",
        ),
        *(
            "<rss><channel><item><link>",
            "</link>",
            "<feed><entry><link href='",
            "'/>",
            "<image:image>",
            "<xhtml:link href=",
        ),
        *(
            "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>",
            "&b;",
            "<!ENTITY x SYSTEM 'file:///etc/passwd'>",
            "&x;",
        ),
        *("<![CDATA[", "]]>", "<!--", "-->", "\n", "http://b.example/\n", " ", "&amp;", "&", "\x00", "\ufeff"),
    ],
    [
        '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>'
        "http://a.example/?a=1&amp;b=2</loc><lastmod>2026-01-01</lastmod><priority>0.5</priority></url></urlset>",
        "<sitemapindex><sitemap><loc>http://a.example/s.xml.gz</loc><lastmod>yesterday</lastmod></sitemap></sitemapindex>",
        "<rss><channel><item><link>http://a.example/1</link><pubDate>Thu, 01 Jan 2026 00:00:00 Z</pubDate>"
        "</item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link rel='alternate' href='http://a.example/e'/>"
        "<updated>2026-01-01T00:00:00+09:00</updated></entry></feed>",
        "http://a.example/one\nhttp://a.example/two\n\n",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xcb())\xb0\xd2\xd7O\xd4K\xadH\xcc-\xc8I\xd5/\xe3\x02\x00",
    ],
)
HEADERS = _language(
    [
        *(
            "text/html",
            "; charset=",
            "utf-8",
            '"utf-8',
            "application/xhtml+xml",
            ",",
            ";",
            "=",
            " ",
            "\t",
            "noindex",
            "none",
        ),
        *(
            "nofollow",
            "unavailable_after: ",
            "gregor: ",
            "all",
            "max-age=",
            "no-cache",
            "must-revalidate",
            "s-maxage=",
            "0",
        ),
        *(
            "Thu, 01 Jan 2026 00:00:00 GMT",
            "Thursday, 01-Jan-26 00:00:00 GMT",
            "Thu Jan  1 00:00:00 2026",
            "2026-01-01",
        ),
        *(
            "+0900",
            "31 Feb",
            "99",
            "Wed",
            "gzip",
            "br",
            "identity;q=0",
            "<http://a.example/>; rel=canonical",
            "120",
            "-",
        ),
        *("http://a.example/", "//b/", "?x", "../", "\\", "é", "%", "urn:x", "25 Jun 2010 15:00:00 PST", ":"),
    ],
    [
        'text/html; charset=ISO-8859-1; x="a;b\\"c"',
        "googlebot: noindex, gregor: nofollow, unavailable_after: 25 Jun 2010 15:00:00 PST",
        'max-age=60, private="x", stale-while-revalidate=10',
        "Thu, 01 Jan 2026 00:00:00 GMT",
        "https://a.example:443/a b?q=\xe3\x81\x82#f",
        '<http://a.example/c>; rel="canonical next", </n>; rel=prev',
    ],
)
LANGUAGES = {"robots": ROBOTS, "url": URLS, "html": HTML, "sitemap": SITEMAPS, "headers": HEADERS}
