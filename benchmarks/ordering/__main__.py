"""What part of the worth of a web a crawl has after a part of its pages, by policy.

`python -m benchmarks.ordering --web FOLDER [--pages 100000] [--seed 1] [--only recorded,made] [--policies depth]`: for
each policy the share of all PageRank (of the whole web, d = 0.85) that the first 5, 10, 20 and 50 % of its pages have,
beside breadth-first and beside an oracle that knows the PageRank, both with the same politeness; and of the way from
the one to the other how much the policy goes. Figures go to standard output, one line each.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.ordering import reference, virtual_crawl
from benchmarks.ordering.made import Shape, made
from benchmarks.ordering.webs import LinkedWeb, recorded

PARTS: Final = (0.05, 0.1, 0.2, 0.5)
POLICIES: Final = ("depth", "opic")


def held(web: LinkedWeb, order: list[int], pages: int) -> list[float]:
    """The share of all PageRank that the first parts of so many pages have."""
    total = np.cumsum(web.ranks[order])
    return [float(total[min(len(order), max(1, round(part * pages))) - 1]) for part in PARTS]


def lines(web: LinkedWeb, policies: list[str]) -> Iterator[str]:
    """What becomes of a web: a line for each way to crawl it."""
    first = reference.breadth_first(web, virtual_crawl.CONCURRENCY, virtual_crawl.LATENCY)
    pages = len(first)
    yield f"{web.name}: {pages} pages reached of {len(web.keys) - len(web.moved)}"
    least = held(web, first, pages)
    most = held(web, reference.oracle(web, virtual_crawl.CONCURRENCY, virtual_crawl.LATENCY), pages)
    yield _line("breadth-first", least)
    yield _line("oracle", most)
    for policy in policies:
        begun = time.process_time()
        order, waste = virtual_crawl.crawl(web, round(PARTS[-1] * pages), ordering=policy)
        shares = held(web, order, pages)
        closed = [(share - low) / (high - low) if high > low else 0.0
                  for share, low, high in zip(shares, least, most, strict=True)]  # fmt: skip
        spent = (time.process_time() - begun) * 1000 / len(order)
        yield (
            f"{_line(policy, shares)}   closes {' '.join(f'{part:4.0%}' for part in closed)}   "
            f"waste {waste:.1%}   {spent:.2f} ms of CPU a page"
        )


def _line(name: str, shares: list[float]) -> str:
    return f"  {name:14}{' '.join(f'{share:.3f}' for share in shares)}"


def main() -> int:
    """Print the table of each web."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordering", description=__doc__)
    parser.add_argument("--web", type=Path, default=Path("../shared/realweb"), help="folder of the recorded web")
    parser.add_argument("--pages", type=int, default=100_000, help="of the made-up web")
    parser.add_argument("--seed", type=int, default=1, help="of the made-up web")
    parser.add_argument("--only", default="recorded,made", help="which webs")
    parser.add_argument("--policies", default=",".join(POLICIES))
    options = parser.parse_args()
    print(f"share of PageRank held by the first {', '.join(f'{part:.0%}' for part in PARTS)} of the pages")
    for name in options.only.split(","):
        web = recorded(options.web) if name == "recorded" else made(Shape(options.pages, options.seed))
        for line in lines(web, options.policies.split(",")):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
