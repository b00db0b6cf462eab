"""`gregor shell URL`: a stored page at a Python prompt, to try selectors and rules on."""

import argparse
import code
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gregor.schemas.messages import Page
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import DATA, Flag, add_settings, given_url, reading, run_reading, settings
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.config.settings import Config
from gregor.worker.extract import rules, text, writing
from gregor.worker.extract.crawled import Extraction
from gregor.worker.extract.model import RuleFailed, Spent
from gregor.worker.extract.page import of_stored
from gregor.worker.extract.scopes import PagePart
from gregor.worker.extract.selectors import CssSelector, Json, XPath
from gregor.worker.inspect import url_record
from gregor.worker.library.page import StoredPage
from gregor.worker.web.urls import Url

_HELP = """css("h1"), xpath("//h1"), json("path"), schema("JobPosting"): what a selector gives
items(): what the rules give; rules("FILE") reads them anew
page: the page (page.url, page.title, page.text); links: where it leads; html: the page as text"""
_MISTAKES: Final = (BadInput, RuleFailed, Spent, ValueError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The page and the rules."""
    parser.add_argument("url", metavar="URL", help="of a page that is stored; nothing is fetched")
    text = "for items(); may be repeated; default: those of the crawl"
    parser.add_argument("--rules", action="append", default=[], metavar="FILE", help=text)
    add_settings(parser, (*DATA, Flag("--plugin", "plugins", "FILE.py:CLASS", item=True)))


def run(arguments: argparse.Namespace) -> int:
    """Read the page, then let a person ask."""
    config = settings(arguments).config
    extraction = extraction_of(config, map(Path, arguments.rules or config.rules), ordered=False)
    return run_reading(_shell(arguments.url, extraction, config))


async def _shell(text_of_url: str, extraction: Extraction, config: Config) -> int:
    from gregor.worker.commands.extracting import stored  # heavy

    async with reading(config) as crawl:
        url = given_url(crawl.urls, text_of_url)
        page = await stored(crawl.reader, url)
        body = await url_record.read_body(crawl.reader, page)
    names = prompt(page, body or b"", extraction)
    banner = f"{page.href} · {page.status} · {page.content_type} · {page.size} bytes\n{_HELP}"
    if sys.stdin.isatty():
        try:
            import readline  # noqa: F401 - lines can be edited and come again
        except ImportError:
            banner += "\n(this Python has no readline: lines cannot be edited)"
    Prompt(names).interact(banner, exitmsg="")
    return FINISHED


class Prompt(code.InteractiveConsole):
    """Python's prompt; what a selector or a file of rules lacks is told in a line, as commands do."""

    def showtraceback(self) -> None:
        """What went wrong."""
        mistake = sys.exc_info()[1]
        if isinstance(mistake, _MISTAKES):
            self.write(f"gregor: {one_line(str(mistake), 2000)}\n")
        else:
            super().showtraceback()


def prompt(page: Page, body: bytes, extraction: Extraction) -> dict[str, Any]:
    """The names at the prompt, for a page and its body."""
    parsed, url = of_stored(page, body), Url(page.href, page.key, page.host)
    stored_page, read = StoredPage(page, lambda _: body), [extraction]

    def items() -> list[dict[str, Any]]:
        extracted = read[0].of_stored(parsed, url)
        for loss in extracted.losses:
            print(f"{loss.rule}: {loss.cause}")
        return [writing.record(item, parsed.facts) for item in extracted.items]

    def read_rules(*files: str) -> None:
        read[0] = replace(read[0], rules=rules.read([Path(name) for name in files]))

    def trying(source: type[CssSelector] | type[XPath] | type[Json]) -> Callable[[str], list[Any]]:
        def tried(selector: str) -> list[Any]:
            parsed.renew()
            selected = source(selector).select(PagePart(parsed))
            return [text.words(one) if isinstance(one, text.TreeNode) else one for one in selected]

        return tried

    return {
        "page": stored_page,
        "html": parsed.markup,
        "links": [link.url for link in page.links],
        "css": trying(CssSelector),
        "xpath": trying(XPath),
        "json": trying(Json),
        "schema": stored_page.schema,
        "items": items,
        "rules": read_rules,
    }
