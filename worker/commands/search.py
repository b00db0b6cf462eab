"""`gregor search QUERY`: find pages of a crawl by their words; or serve the page that people search on."""

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from gregor.schemas.events import rfc3339
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED, thin_answers
from gregor.worker.commands.common import Damages, OpenedCrawl, add_settings, not_negative, positive, reading, settings
from gregor.worker.config.settings import Config, replace
from gregor.worker.run.signals import stopping

if TYPE_CHECKING:
    from gregor.search.borders import Answer, Facet, Hit, Index
    from gregor.search.query import ParsedQuery
    from gregor.search.snippets import Piece

_MINUS: Final = re.compile(r"-[^-]")
RECORDS: Final = ("events", "deadletters", "hosts", "orders", "logs")
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is asked for, and how it is shown."""
    text = 'words, "phrases", -without; site: host: lang: type: before: after: inurl: intitle: label: item:'
    parser.add_argument("words", nargs="*", metavar="WORD", help=text)
    parser.add_argument("--serve", metavar="ADDRESS:PORT", help="serve the search page there, until a signal")
    parser.add_argument("--public", action="store_true", help="with --serve: also where others reach it")
    text = "what is searched: pages; or what `gregor index --records` keeps of URLs (events), hosts, orders, logs"
    parser.add_argument("--in", choices=("pages", *RECORDS), default="pages", dest="place", help=text)
    parser.add_argument("--limit", type=positive, default=10, metavar="N", help="at most so many; default: 10")
    parser.add_argument("--offset", type=not_negative, default=0, metavar="N", help="without the first N")
    parser.add_argument("--newest", action="store_true", help="the newest first, instead of the best")
    text = "how many of what is found are of each host, language, type, label and field of items, instead of the hits"
    parser.add_argument("--facets", action="store_true", help=text)
    parser.add_argument("--json", "--jsonl", action="store_true", dest="json", help="one JSON object a line")
    thin_answers.add_arguments(parser)
    add_settings(parser)


def takes_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The command line without words that are to be left out (-ferry), which are no options; and these."""
    end = words.index("--") if "--" in words else len(words)
    minus = [word for word in words[:end] if _MINUS.match(word) and word != "-h"]
    return [word for word in words[:end] if word not in minus] + list(words[end:]), minus


def run(arguments: argparse.Namespace) -> int:
    """Print what is found; what was understood otherwise than it was meant goes to standard error."""
    from gregor.search.borders import FARTHEST

    config = settings(arguments).config
    if arguments.limit + arguments.offset > FARTHEST:
        raise BadInput(f"--limit and --offset reach to the {FARTHEST:,}th hit at most: narrow the query")
    if arguments.serve is None:
        if not arguments.words or arguments.public:
            raise BadInput(
                "say what is looked for: `gregor search WORD`; or serve a page: `gregor search --serve 127.0.0.1:9200`"
            )
        return asyncio.run(_search(arguments, config))
    if arguments.words:
        raise BadInput("the search page gets its queries from a browser: leave the words out")
    return asyncio.run(_serve(arguments, config))


async def _serve(arguments: argparse.Namespace, config: Config) -> int:
    from gregor.worker.compose import search

    stop = asyncio.Event()
    served, thin = replace(config, listen=arguments.serve), _thin(arguments, config)

    def started(url: str) -> None:
        complain(f"the search page is at {url}", "info")

    async with thin_answers.following(thin) as on_answer:
        with stopping(stop.set, lambda: None, FINISHED):
            await search.serve(served, stop, started, Damages(), public=arguments.public, on_answer=on_answer)
    return FINISHED


def _thin(arguments: argparse.Namespace, config: Config) -> thin_answers.ThinAnswers | None:
    """What gives orders for thin answers; None where none is wanted. Raises `BadInput`."""
    if not arguments.thin_orders:
        return None
    if arguments.place != "pages":
        raise BadInput("--thin-orders is for pages: what happened is not crawled")
    return thin_answers.ThinAnswers(arguments, _index(config, "pages"))


def _index(config: Config, place: str) -> "Callable[[], Index]":
    """What opens an index, as it was committed last."""
    from gregor.worker.compose import record_indexes, search

    return partial(search.opened, config) if place == "pages" else partial(record_indexes.searchable, config, place)


async def _search(arguments: argparse.Namespace, config: Config) -> int:
    from gregor.search.borders import Unusable
    from gregor.search.query import parse
    from gregor.worker.api.searching import Searching

    asked = msgspec.structs.replace(parse(" ".join(arguments.words)), newest=arguments.newest)
    for hint in asked.hints:
        complain(hint, "info")
    thin = _thin(arguments, config)
    async with reading(config) as crawl:
        searching = Searching(_index(config, arguments.place), crawl.reader)
        try:
            answer, better = await searching.answer(asked, arguments.limit, arguments.offset)
            facets = await searching.facets(asked, answer) if arguments.facets else ()
        except Unusable as error:
            raise BadInput(str(error)) from None
        if answer.any_word and answer.hits:
            complain("no page has all of these words: these have some of them", "info")
        if better:
            complain(f"did you mean: {better}", "info")
        _write_facets(facets, as_json=arguments.json)
        for number, hit in enumerate(() if arguments.facets else answer.hits, arguments.offset + 1):
            await _write(arguments, crawl, asked, hit, number)
        _tell_total(answer, arguments)
    if thin is not None and (wished := thin.wish(asked, answer)) is not None:
        thin.give(wished)
    return crawl.code


def _write_facets(facets: "Sequence[Facet]", *, as_json: bool) -> None:
    """Each value with how many documents have it, and the filter for it."""
    for facet in facets:
        for each in facet.values:
            if as_json:
                said = {"facet": facet.name, "field": facet.field, **msgspec.to_builtins(each)}
                sys.stdout.buffer.write(msgspec.json.encode(said) + b"\n")
            else:
                print(f"{each.count:>9}  {one_line(each.query, 1000)}")


def _tell_total(answer: "Answer", arguments: argparse.Namespace) -> None:
    if not arguments.json:
        first, last = arguments.offset + 1, arguments.offset + len(answer.hits)
        shown = (
            f", {first} to {last} shown"
            if answer.hits and not arguments.facets and answer.total > len(answer.hits)
            else ""
        )
        complain(f"{answer.total} found{shown}", "info")
    if answer.partial:
        complain("to look through all would have taken too long: these are what was found so far")


async def _write(
    arguments: argparse.Namespace, crawl: OpenedCrawl, asked: "ParsedQuery", hit: "Hit", number: int
) -> None:
    from gregor.search.documents import quotable
    from gregor.search.snippets import snippet

    page = await crawl.reader.page(hit.key, hit.visit) if arguments.place == "pages" else None
    pieces = snippet(quotable(page), asked.words)
    if arguments.json:
        record = msgspec.to_builtins(hit) | {"snippet": [msgspec.to_builtins(piece) for piece in pieces]}
        sys.stdout.buffer.write(msgspec.json.encode(record) + b"\n")
        return
    at = "" if arguments.place == "pages" else f"{rfc3339(hit.at)}  "
    print(f"{number}. {at}{one_line(hit.title or hit.href, 1000)}")
    more = f"  (and {len(hit.keys) - 1} more)" if len(hit.keys) > 1 else ""
    if hit.href:
        print(f"   {one_line(hit.href, 2000)}{more}")
    if text := _shown(pieces, bold=sys.stdout.isatty()):
        print(f"   {text}")


def _shown(pieces: "tuple[Piece, ...]", *, bold: bool) -> str:
    """A snippet for a terminal: what was asked for in bold, where that can be."""
    texts = [(one_line(piece.text, 1000), piece.marked and bold) for piece in pieces]
    return "".join(f"{_BOLD}{text}{_PLAIN}" if marked else text for text, marked in texts)
