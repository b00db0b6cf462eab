"""Crawls a made-up site with endless spaces beside its pages, as a user would, and says what it cost.

`python -m tests.web.trap_crawl [--seed 1] [--layout chain] [--traps calendar,facets] [--new-words] [--links 2]
[--pages 300] [--form /page/{}] [--boilerplate 0.5] [--words 40] [--max-pages 2000]`: the last line is one JSON object
{"honest", "last", "fetches", "waste"}: honest pages fetched, after how many fetches the last of them came, all fetches,
and the share of them that brought nothing. The exit code is 1 if an honest page is missing.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.web import crawler
from tests.web.made_server import MadePage, serving
from tests.web.trap_web import TRAPS, TrapWeb

LIMIT_SECONDS = 600.0


def pages(web: TrapWeb, asked: list[str]) -> Callable[[str], MadePage | None]:
    """The pages of the site; the targets of those that are asked for are noted in their order."""

    def page_at(target: str) -> MadePage | None:
        page = web.page(target)
        if page is None:
            return None
        asked.append(target)
        return "text/html; charset=utf-8", page.encode()

    return page_at


def cost(web: TrapWeb, data: Path, max_pages: int) -> dict[str, float]:
    """Crawls the site and counts what was fetched. Raises SystemExit if the crawl fails."""
    asked: list[str] = []
    with serving(pages(web, asked)) as port:
        line = [f"http://127.0.0.1:{port}/", "--allow-network", "127.0.0.0/8", "--max-pages", str(max_pages)]
        ended = crawler.crawl([*line, "--delay", "0", "--set", "delay_factor=0"], data, LIMIT_SECONDS)
    if ended.status != 0:
        raise SystemExit(f"the crawl ended with status {ended.status}:\n{ended.said()[-4000:]}")
    honest = [place for place, target in enumerate(asked, 1) if target in web.honest]
    waste = (len(asked) - len(set(asked) & web.honest.keys())) / len(asked)
    return {"honest": len(set(asked) & web.honest.keys()), "last": honest[-1], "fetches": len(asked), "waste": waste}


def main() -> int:
    default = TrapWeb()
    parser = argparse.ArgumentParser(description="Crawl a site with traps.")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--pages", type=int, default=default.pages)
    parser.add_argument("--layout", default=default.layout)
    parser.add_argument("--form", default=default.form)
    parser.add_argument("--traps", default=",".join(TRAPS))
    parser.add_argument("--new-words", action="store_true")
    parser.add_argument("--links", type=int, default=default.links)
    parser.add_argument("--boilerplate", type=float, default=default.boilerplate)
    parser.add_argument("--words", type=int, default=default.words)
    parser.add_argument("--max-pages", type=int, default=2000)
    given = vars(parser.parse_args())
    max_pages = given.pop("max_pages")
    web = TrapWeb(**given | {"traps": tuple(filter(None, given["traps"].split(",")))})
    with tempfile.TemporaryDirectory() as folder:
        found = cost(web, Path(folder) / "data", max_pages)
    print(json.dumps(found))
    return int(found["honest"] < len(web.honest))


if __name__ == "__main__":
    sys.exit(main())
