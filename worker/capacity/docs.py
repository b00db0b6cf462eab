"""The tables of docs/capacity.md: `python -m gregor.worker.capacity.docs docs/capacity.md` makes them anew."""

import sys
from pathlib import Path
from typing import Final

from gregor.worker.capacity import inputs, text
from gregor.worker.capacity.model import plan
from gregor.worker.capacity.types import Wish

WISHES: Final = tuple(Wish(pages, 7) for pages in (1e6, 1e8, 1e9))


def made(page: str) -> str:
    """The page with its tables as the figures are now; each is between ``<!-- NAME -->`` and ``<!-- end -->``."""
    read = inputs.read()
    tables = {
        "plans": text.table([plan(wish, read.costs, read.prices) for wish in WISHES]),
        "costs": text.figures(read),
    }
    for name, table in tables.items():
        before, begin, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        page = before + begin + table + end + after
    return page


def main() -> None:
    path = Path(sys.argv[1])
    path.write_text(made(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
