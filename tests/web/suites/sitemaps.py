"""Sitemaps: documents, broken ones, extensions, dates, priorities, locations, and whole sites (sitemaps.org)."""

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urljoin

from gregor.worker.read.sitemaps import parse as sitemaps
from gregor.worker.robots import file as robots_file
from gregor.worker.web.domains import registered_domain
from tests.web.sitemap_location import is_local, is_submitted
from tests.web.suites import Line, Suite, Verdict, equal, octets


def _parsed(case: Line) -> sitemaps.Sitemap:
    href = case.get("sitemap_url") or case["url"]
    return sitemaps.parse(octets(case, "body"), href, case.get("content_type"), extensions=True)


def _time(text: str | None) -> float | None:
    if text is None:
        return None
    date = datetime.fromisoformat(text)
    return (date if date.tzinfo else datetime.fromisoformat(text + "T00:00:00Z")).timestamp()


def _compared(found: list[sitemaps.SitemapUrl], expected: list[Line]) -> tuple[list[Line], list[Line]]:
    """Both lists, with the fields that the case states for any of its entries."""
    stated = {field for entry in expected for field in entry}
    seen = [
        {"loc": one.loc, "lastmod": one.lastmod, "changefreq": one.changefreq, "priority": one.priority}
        for one in found
    ]
    wanted = [
        {
            "loc": one["loc"],
            "lastmod": _time(one.get("lastmod")),
            "changefreq": one.get("changefreq"),
            "priority": one.get("priority", sitemaps.DEFAULT_PRIORITY),
        }
        for one in expected
    ]
    return _only(stated, seen), _only(stated, wanted)


def _only(stated: set[str], entries: list[Line]) -> list[Line]:
    return [{field: entry[field] for field in entry if field in stated} for entry in entries]


def _document(case: Line) -> Verdict:
    found = _parsed(case)
    if case["kind"] in {"broken", "hostile"}:
        allowed = case.get("may_return", case.get("recoverable", []))
        locs = [entry.loc for entry in (*found.urls, *found.children)]
        return Verdict(locs == allowed or (case["kind"] == "hostile" and not locs), f"expected {allowed}, got {locs}")
    if case["kind"] != found.kind:
        return equal(found.kind, case["kind"])
    entries, expected = (found.children, "sitemaps") if found.kind == "index" else (found.urls, "urls")
    return equal(*_compared(entries, case.get(expected, [])))


_NUMBERS = {"duration": int, "rating": float, "view_count": int}
_LISTS = {"keywords": "keywords", "genres": "genres", "stock_tickers": "stock_tickers"}


def _extension(extension: sitemaps.Extension) -> Line:
    """An extension in the form of the published cases."""
    values, result = extension.values, dict[str, object]()
    for name, texts in values.items():
        text = texts[0]
        if "@" in name or name == "price":
            continue
        if name in _NUMBERS:
            result[name] = _NUMBERS[name](text)
        elif name in _LISTS:
            result[name] = [item.strip() for item in text.split(",")]
        elif name == "tag":
            result["tags"] = texts
        elif name == "restriction":
            allowed = values.get("restriction@relationship") == ["allow"]
            result["allowed_countries" if allowed else "restricted_countries"] = text.split()
        elif text.lower() in {"yes", "no"}:
            result[name] = text.lower() == "yes"
        elif name.endswith("_date"):
            result[name] = sitemaps.parse_date(text)
        else:
            result[name] = text
    if "gallery_loc@title" in values:
        result["gallery_title"] = values["gallery_loc@title"][0]
    if "uploader@info" in values:
        result["uploader_info"] = values["uploader@info"][0]
    if any(name.startswith("price") for name in values):
        price = values.get("price")
        result["price"] = [
            {
                "currency": values.get("price@currency", [None])[0],
                "value": float(price[0]) if price and price[0].replace(".", "", 1).isdigit() else None,
                "type": (values.get("price@type", ["own"])[0] or "own").lower(),
            }
        ]
    return result


def _normalised(expected: Line) -> Line:
    return {
        name: _time(value) if name.endswith("_date") else value for name, value in expected.items() if value is not None
    }


def _extensions(case: Line) -> Verdict:
    expected, seen = [], []
    for entry, found in zip(case["urls"], _parsed(case).urls, strict=True):
        for family in ("video", "image", "news"):
            expected += [_normalised(one) for one in entry.get(family, [])]
            seen += [_extension(one) for one in found.extensions if one.name == family]
        if "mobile" in entry:
            expected.append({"mobile": entry["mobile"]})
            seen.append({"mobile": any(one.name == "mobile" for one in found.extensions)})
        if "alternates" in entry:
            expected.append({"alternates": [list(pair) for pair in entry["alternates"]]})
            seen.append({"alternates": _alternates(found)})
    return equal(seen, expected)


def _alternates(entry: sitemaps.SitemapUrl) -> list[list[str]]:
    links = [one.values for one in entry.extensions if one.name == "link"]
    return [[link["@hreflang"][0], link["@href"][0]] for link in links]


def _date(case: Line) -> Verdict:
    return equal(sitemaps.parse_date(case["text"]), _time(case["utc"]))


def _priority(case: Line) -> Verdict:
    return equal(sitemaps.parse_priority(case["text"]), case["priority"])


def _location(case: Line) -> Verdict:
    sitemap, url = case["sitemap_url"], case["url"]
    if "announced_in_robots_of" not in case:
        return equal(is_local(url, sitemap), case["valid"])
    level = case["level"]

    def group(host: str) -> str | None:
        return host if level == "host" else registered_domain(host, include_private="private" in level)

    return equal(is_submitted(url, case["announced_in_robots_of"], group), case["valid"])


def _announced(body: bytes, url: str) -> list[str]:
    return [urljoin(url, found) for found in robots_file.parse(body, "gregor", url).sitemaps]


def _discovery(case: Line) -> Verdict:
    found = _announced(octets(case, "robots_txt"), urljoin(case["base_url"], "/robots.txt"))
    lowered = [url.replace("HTTP:", "http:") for url in found]
    return equal(lowered, [url.replace("HTTP:", "http:") for url in case["sitemaps"]])


def _walk(case: Line) -> Iterator[sitemaps.SitemapUrl]:
    """A whole site: robots.txt, what it announces, the usual places, and all that an index names, each once."""
    responses = {response["url"]: response for response in case["responses"]}
    robots_url = urljoin(case["homepage"], "/robots.txt")
    answer = responses.get(robots_url)
    todo = _announced(octets(answer, "body"), robots_url) if answer else []
    todo += [urljoin(case["homepage"], place) for place in sitemaps.DEFAULT_LOCATIONS]
    seen: set[str] = set()
    while todo:
        url = todo.pop(0)
        if url in seen or url not in responses:
            continue
        seen.add(url)
        response = responses[url]
        if response.get("location"):
            todo.insert(0, urljoin(url, response["location"]))
        elif response["status"] == 200:
            found = _parsed(response)
            yield from found.urls
            todo[:0] = found.sitemaps


def _tree(case: Line) -> Verdict:
    seen, expected = list(_walk(case)), case["pages"]
    # The source takes a frequency that is none ("when we feel like it") for "always"; here it says nothing.
    vague = [{**entry, "changefreq": None} if entry.get("changefreq") == "always" else entry for entry in expected]
    verdict = equal(*(sorted(map(repr, entries)) for entries in _compared(seen, vague)))
    if not verdict.passed:
        return verdict
    by_loc = {entry.loc: entry for entry in seen}
    for page in expected:
        found = by_loc[page["loc"]]
        images = [one.values["loc"][0] for one in found.extensions if one.name == "image"]
        news = next((one.values for one in found.extensions if one.name == "news"), {})
        wanted = page.get("news", {})
        titles = (news.get("title", [None])[0], news.get("name", [None])[0], news.get("language", [None])[0])
        for part, want in (
            (images, page.get("images", [])),
            (_alternates(found), page.get("alternates", [])),
            (titles, (wanted.get("title"), wanted.get("name"), wanted.get("language"))),
        ):
            if part != want:
                return equal(part, want)
    return verdict


_USP = "ultimate-sitemap-parser"
SUITES = [
    Suite("sitemaps/documents", "sitemaps/documents.jsonl", f"{_USP} 43, crawlee 32, scrapy 31 of 49", _document),
    Suite("sitemaps/broken", "sitemaps/broken.jsonl", f"{_USP} 4, crawlee 4, scrapy 4 of 7", _document),
    Suite("sitemaps/extensions", "sitemaps/extensions.jsonl", "", _extensions),
    Suite("sitemaps/dates", "sitemaps/dates.jsonl", f"{_USP} 16, stdlib 16 of 19", _date),
    Suite("sitemaps/location", "sitemaps/location.jsonl", "", _location),
    Suite("sitemaps/trees", "sitemaps/trees.jsonl", "", _tree),
    Suite("sitemaps/priority", "sitemaps/priority.jsonl", "", _priority),
    Suite("sitemaps/discovery", "sitemaps/discovery.jsonl", "", _discovery),
]
