"""The page that webmasters are pointed to: who crawls, why, how often, and how to be left alone. Pure.

It says what the settings say, as text; nothing of it comes from a site or from anywhere else on the network.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from gregor.worker.config.settings import Config
from gregor.worker.robots.agents import product_token

_CONTACT: Final = re.compile(r"https?://[^\s<>()\[\]\";,]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_MAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.6 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem}"
    "h1{line-height:1.2}pre{padding:.75rem;border:1px solid #888;overflow-x:auto}code{overflow-wrap:anywhere}"
)


def page(config: Config) -> str:
    """The page, as HTML that needs nothing else."""
    name = product_token(config.user_agent) or config.user_agent
    title = f"About {name}, a web crawler"
    sections = [
        ("Who and why", _who(config, name)),
        ("How it asks", _how(config)),
        ("How to recognise it", _recognise(config)),
        ("How to keep it away", _away(config, name)),
        ("Contact", _reach(config)),
    ]
    body = "\n".join(f"<h2>{escape(head)}</h2>\n{''.join(parts)}" for head, parts in sections)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def contact(config: Config) -> str:
    """The mail address or URL at which the crawl's operator is reached; empty when none is set."""
    if config.about_contact:
        return config.about_contact
    match = _CONTACT.search(config.user_agent)
    return match[0] if match else ""


def _who(config: Config, name: str) -> Iterator[str]:
    operator = config.about_operator or "the operator who is named under Contact"
    yield _paragraph(f"{name} is a program that reads web pages for {operator}.")
    for text in config.about_purpose.split("\n\n"):
        if text.strip():
            yield _paragraph(text)


def _how(config: Config) -> Iterator[str]:
    shorter = any(override.delay is not None and override.delay < config.delay for override in config.hosts)
    agreed = " (other delays hold for single hosts)" if shorter else ""
    at_most = f"waits at least {_seconds(config.delay)} between the starts of two{agreed}"
    yield _list(
        [
            f"It makes one request at a time to a host, and {at_most}.",
            f"It waits longer where answers are slow: {config.delay_factor:g} times as long as the last one took."
            if config.delay_factor
            else "",
            "When a server answers 429 or 503 it leaves the host alone for as long as Retry-After asks for, "
            "and for a while without it.",
            *_robots(config),
            "It heeds nofollow in links, in meta robots and in X-Robots-Tag." if config.nofollow else "",
            "It sends GET requests only, fills in no forms and runs no scripts of pages.",
        ]
    )


def _robots(config: Config) -> Iterator[str]:
    if config.robots == "ignore":
        yield "It does not read robots.txt: it is set up for sites whose owner wants it so."
        return
    yield (
        "It obeys robots.txt (RFC 9309), which it reads again after at most "
        f"{_seconds(config.robots_ttl)}. While it is out of reach, the last copy holds; without one, no page is read."
    )
    yield f"It obeys Crawl-delay up to {_seconds(config.max_crawl_delay)}."


def _recognise(config: Config) -> Iterator[str]:
    yield _paragraph("Its requests carry this User-Agent:")
    yield _code([config.user_agent])
    if config.about_addresses:
        yield _paragraph("They come from these addresses; requests from others are not ours:")
        yield _code(config.about_addresses)


def _away(config: Config, name: str) -> Iterator[str]:
    if config.robots == "obey":
        yield _paragraph("These lines in the robots.txt of a host keep it away from all of it:")
        yield _code([f"User-agent: {name}", "Disallow: /"])
        yield _paragraph("These make it slower:")
        yield _code([f"User-agent: {name}", f"Crawl-delay: {min(30.0, config.max_crawl_delay):g}"])
    yield _paragraph("Or write to us and name the host: we then block it at once and delete what we have stored of it.")


def _reach(config: Config) -> Iterator[str]:
    where = contact(config)
    if not where:
        yield _paragraph("No contact is set up.")
        return
    target = where if where.startswith(("https://", "http://")) else f"mailto:{where}" if _MAIL.fullmatch(where) else ""
    text = escape(where)
    yield f'<p><a href="{escape(target)}">{text}</a></p>\n' if target else _paragraph(where)


def _seconds(number: float) -> str:
    for unit, size in (("hour", 3600.0), ("minute", 60.0)):
        if number >= size and number % size == 0:
            return f"{number / size:g} {unit}{'' if number == size else 's'}"
    return f"{number:g} second{'' if number == 1 else 's'}"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def _list(items: Iterable[str]) -> str:
    return "<ul>\n" + "".join(f"<li>{escape(item)}</li>\n" for item in items if item) + "</ul>\n"


def _code(lines: Iterable[str]) -> str:
    return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>\n"
