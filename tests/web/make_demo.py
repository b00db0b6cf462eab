"""Makes the bundled web (worker/demo/web.warc.gz) from the texts below: `python -m tests.web.make_demo [FILE]`.

Four hosts of an invented harbour town, with one of each thing that a crawl meets: robots.txt rules, redirects on a host
and between hosts, a page under two URLs, a sitemap with a page that nothing links, a nofollow link, a noindex page, a
legacy charset, a canonical link, and links to pages that are gone. The same texts always give the same bytes.
"""

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from gregor.worker.demo.server import WEB

DATE = "2026-01-01T00:00:00Z"
TOWN, LIBRARY, MUSEUM, FERRY = (
    "http://harbour.example",
    "http://library.harbour.example",
    "http://museum.example",
    "http://ferry.example",
)

BOOKS = {
    "tides": (
        "A Year of Tides",
        "The harbour pilot wrote down every spring and neap tide, and the gossip between them.",
    ),
    "lamps": (
        "Keeping the Lamps",
        "How the light on the north mole was kept, from whale oil to the first electric arc.",
    ),
    "nets": (
        "Nets and Knots",
        "Forty knots that hold a net together, drawn by the man who tied them for fifty winters.",
    ),
    "storm": (
        "The Long Storm",
        "In November the ferry stayed in port for nine days. This is what the town did meanwhile.",
    ),
    "gulls": ("Forty Gulls", "A patient book about forty birds, each of whom the author claims to know by name."),
    "salt": ("Salt Roads", "Salt left the harbour on mule carts. The roads they made are the streets of today."),
    "charts": ("Charts of the Bay", "Soundings in fathoms, rocks by their local names, and one sandbank that wanders."),
    "songs": ("Songs for Rowing", "Work songs with the stroke marked above the words, so that a crew can keep time."),
}
SHIPS = {
    "heron": ("The Heron", "A two-masted coaster that carried slate and came back with oranges for thirty years."),
    "petrel": ("The Petrel", "The first steam pilot boat of the bay, rebuilt twice and sunk once, in shallow water."),
    "dora": ("The Dora", "A rowing lifeboat with ten oars. Her crew saved sixty-one people and one goat."),
    "anna": ("The Anna Margarethe", "A fishing smack whose log is complete, apart from one week that nobody explains."),
    "mole": ("The Mole Crane", "Not a ship, but it lifted all of them: a wooden treadwheel crane of the year 1720."),
    "buoy": ("The Bell Buoy", "Its bell could be heard in the town before fog, which made it the first forecast."),
}
NEWS = {
    "01": ("Market moves to the quay", "From Saturday the market is held on the old quay, where the wind is worse."),
    "02": (
        "New bell for the buoy",
        "The harbour office has cast a new bell. It sounds a third lower than the old one.",
    ),
    "03": ("Library opens on Sundays", "Readers may now borrow on Sundays too, as long as they bring their own tea."),
    "04": ("Ferry timetable for winter", "The last boat leaves at six in the evening until the end of March."),
    "05": (
        "Sandbank has moved again",
        "Skippers are asked to keep north of the green mark until new soundings are made.",
    ),
    "06": ("Choir looks for tenors", "The rowing choir has nine basses and one tenor, who would like some company."),
}
STOPS = {
    "quay": ("Old Quay", "Every half hour from seven in the morning. Wait under the roof, not under the crane."),
    "island": ("Gull Island", "Four boats a day. The island has a path, a bench and no shop."),
    "mill": ("Tide Mill", "On request at high water only, since there is mud at all other times."),
    "light": ("North Light", "Summer weekends. The stairs of the tower have two hundred and six steps."),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer to record."""

    url: str
    body: bytes = b""
    status: str = "200 OK"
    content_type: str = "text/html; charset=utf-8"
    location: str | None = None


def page(title: str, text: str, *links: str, head: str = "") -> bytes:
    """A small HTML document; a link is `href|words` with an optional `|rel`."""
    items = "".join(f"<li>{anchor(link)}</li>\n" for link in links)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>\n'
        f"<body><h1>{title}</h1>\n<p>{text}</p>\n<ul>\n{items}</ul>\n</body></html>\n"
    ).encode()


def anchor(link: str) -> str:
    href, words, *rel = link.split("|")
    attributes = "".join(f' rel="{name}"' for name in rel)
    return f'<a href="{href}"{attributes}>{words}</a>'


def town() -> Iterator[Recorded]:
    news = [f"/news/{key}.html|{title}" for key, (title, _) in NEWS.items()]
    yield Recorded(
        f"{TOWN}/",
        page(
            "The harbour town",
            "A small web for a first crawl: a town by the sea, its library, its museum and its ferry.",
            "/news/|News",
            "/about.html|About the town",
            "/visit|How to get here",
            f"{LIBRARY}/|The library",
            f"{MUSEUM}/|The museum",
            "/private/ledger.html|The harbour master's ledger",
            f"{FERRY}/tickets?from=town|Buy a ticket|nofollow",
        ),
    )
    yield Recorded(f"{TOWN}/robots.txt", b"User-agent: *\nDisallow: /private/\n", content_type="text/plain")
    yield Recorded(
        f"{TOWN}/about.html", page("About the town", "Founded on a sandbank that has since moved.", "/|Home")
    )
    yield Recorded(f"{TOWN}/visit", status="301 Moved Permanently", location=f"{FERRY}/")
    yield Recorded(f"{TOWN}/private/ledger.html", page("Ledger", "You should not have been able to read this."))
    yield Recorded(f"{TOWN}/news/", page("News", "What happened in the harbour.", *news, "/news/00.html|Older news"))
    keys = list(NEWS)
    for key, (title, text) in NEWS.items():
        following = keys[(keys.index(key) + 1) % len(keys)]
        yield Recorded(f"{TOWN}/news/{key}.html", page(title, text, f"{following}.html|Next", "./|All news"))


def library() -> Iterator[Recorded]:
    books = [f"/books/{key}.html|{title}" for key, (title, _) in BOOKS.items()]
    catalogue = page("Catalogue", "Everything that can be borrowed.", *books, "/|The library")
    hidden = f"{LIBRARY}/books/unlisted.html"
    listed = [f"{LIBRARY}/books/{key}.html" for key in BOOKS]
    places = "".join(f"<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>\n" for url in [*listed, hidden])
    yield Recorded(
        f"{LIBRARY}/robots.txt",
        f"User-agent: *\nAllow: /\nSitemap: {LIBRARY}/sitemap.xml\n".encode(),
        content_type="text/plain",
    )
    yield Recorded(
        f"{LIBRARY}/sitemap.xml",
        f'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n'.encode(),
        content_type="application/xml",
    )
    yield Recorded(
        f"{LIBRARY}/",
        page(
            "The library",
            "Open every day, tea welcome.",
            "/catalogue.html|Catalogue",
            "/index/books|Index",
            f"{TOWN}/|Town",
        ),
    )
    yield Recorded(f"{LIBRARY}/catalogue.html", catalogue)
    yield Recorded(f"{LIBRARY}/index/books", catalogue)
    yield Recorded(
        hidden, page("An unlisted book", "Only the sitemap knows about this one.", "/catalogue.html|Catalogue")
    )
    for key, (title, text) in BOOKS.items():
        link = f'<link rel="canonical" href="{LIBRARY}/books/{key}.html">'
        yield Recorded(f"{LIBRARY}/books/{key}.html", page(title, text, "/catalogue.html|Catalogue", head=link))


def museum() -> Iterator[Recorded]:
    ships = [f"/ships/{key}.html|{title}" for key, (title, _) in SHIPS.items()]
    yield Recorded(
        f"{MUSEUM}/robots.txt", b"User-agent: *\nDisallow: /*?sort=\nCrawl-delay: 1\n", content_type="text/plain"
    )
    yield Recorded(
        f"{MUSEUM}/",
        page(
            "The museum",
            "Ships, and things that helped ships.",
            *ships,
            "/ships/?sort=age|By age",
            "/guestbook.html|Guests",
        ),
    )
    yield Recorded(
        f"{MUSEUM}/guestbook.html",
        page(
            "Guest book",
            "Kind words, not for search engines.",
            "/|Museum",
            head='<meta name="robots" content="noindex">',
        ),
    )
    for key, (title, text) in SHIPS.items():
        links = ("/|Museum", f"{key}-plan.html|Plan") if key == "dora" else ("/|Museum", f"{LIBRARY}/|Read more")
        yield Recorded(f"{MUSEUM}/ships/{key}.html", page(title, text, *links))


def ferry() -> Iterator[Recorded]:
    stops = [f"/stops/{key}|{title}" for key, (title, _) in STOPS.items()]
    yield Recorded(
        f"{FERRY}/", page("The ferry", "Boats across the bay.", *stops, "/old|Old timetable", f"{TOWN}/|Town")
    )
    yield Recorded(f"{FERRY}/old", status="302 Found", location="/timetable")
    yield Recorded(
        f"{FERRY}/timetable",
        (
            "<html><head><title>Fahrplan für Gäste</title></head>\n"
            '<body><p>Täglich außer montags. <a href="/">Zurück</a></p></body></html>\n'
        ).encode("windows-1252"),
        content_type="text/html; charset=windows-1252",
    )
    yield Recorded(f"{FERRY}/tickets?from=town", page("Tickets", "Two coins, one for the way back.", "/|The ferry"))
    for key, (title, text) in STOPS.items():
        yield Recorded(
            f"{FERRY}/stops/{key}", page(title, text, "/|The ferry", f"{TOWN}/news/04.html|Winter timetable")
        )


def write(path: Path) -> int:
    """Writes all records to a WARC file, one gzip member each; returns their number."""
    records = [*town(), *library(), *museum(), *ferry()]
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, recorded in enumerate(records):
            headers = [("Content-Type", recorded.content_type)] if recorded.body else []
            headers += [("Location", recorded.location)] if recorded.location else []
            headers.append(("Content-Length", str(len(recorded.body))))
            writer.write_record(
                writer.create_warc_record(
                    recorded.url,
                    "response",
                    payload=io.BytesIO(recorded.body),
                    http_headers=StatusAndHeaders(recorded.status, headers, protocol="HTTP/1.1"),
                    warc_headers_dict={
                        "WARC-Date": DATE,
                        "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>",
                    },
                )
            )
    return len(records)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else WEB
    print(f"{write(target)} records in {target}")
