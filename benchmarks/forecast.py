"""How far forecasts are from what came, after 10, 25 and 50 % of whole crawls of a recorded web on the virtual clock.

`python -m benchmarks.forecast --web FOLDER [--made 2000] [--seeds 11,12,13]`: each site of the web by itself, sites in
twos, and all of it, by the product's own worker; then as many made-up webs. Of each crawl what was known at those
moments goes to the product's own estimator. Figures go to standard output: a line a forecast, then for each part of the
crawl the median error and how many ends lay within the interval.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.ordering import virtual_crawl
from benchmarks.ordering.made import Shape, made
from benchmarks.ordering.webs import LinkedWeb, recorded
from gregor.schemas.messages import Row
from gregor.worker.config.settings import Config
from gregor.worker.inspect.forecast import Range
from gregor.worker.inspect.forecast_data import SoFar

PARTS: Final = (0.1, 0.25, 0.5)
LEAST: Final = 50
"""URLs of a crawl of which a forecast is worth asking."""


class Asked(NamedTuple):
    """A forecast, and what came."""

    part: float
    urls: Range
    seconds: Range
    true_urls: int
    true_seconds: float

    @property
    def errors(self) -> tuple[float, float]:
        """Of the URLs in the end and of the seconds to it, as shares."""
        return abs(self.urls.likely / self.true_urls - 1), abs(self.seconds.likely / self.true_seconds - 1)

    @property
    def within(self) -> tuple[bool, bool]:
        """Whether both lay in their intervals; a turn more or less is none."""
        return (
            self.urls.least <= self.true_urls <= self.urls.most,
            self.seconds.least - 2.0 <= self.true_seconds <= self.seconds.most + 2.0,
        )


def asked(rows: list[Row]) -> Iterator[Asked]:
    """The forecasts of a crawl, by what its rows say in the end."""
    visited = {row.key: row.first_seen for row in rows}
    times = sorted(visited.values())
    for part in PARTS:
        now = times[max(0, int(part * len(rows)) - 1)]
        with SoFar(Config(**virtual_crawl.SETTINGS)) as so_far:  # type: ignore[arg-type]
            for row in rows:
                if row.first_seen <= now:
                    so_far.visited(row)
                elif visited.get(row.via, 0.0) <= now:
                    so_far.waits(row.key, row.host, row.via)
            expected = so_far.forecast(0, cpu=1e9)
        yield Asked(part, expected.urls, expected.seconds, len(rows), times[-1] - now)


def webs(folder: Path, pages: int, seeds: list[int]) -> Iterator[LinkedWeb]:
    """The recorded web in parts and whole, then made-up ones."""
    sites = sorted(path.name.removeprefix("site-").removesuffix(".warc.gz") for path in folder.glob("site-*.warc.gz"))
    for group in (*((site,) for site in sites), *pairwise(sites), ()):
        web = recorded(folder, group)
        web.name = " and ".join(group) or "all of it"
        yield web
    for seed in seeds:
        yield made(Shape(pages, seed, traps=0.0))


def main() -> int:
    """Print what each forecast said, and how good they are together."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forecast", description=__doc__)
    parser.add_argument("--web", type=Path, default=Path("../shared/realweb"), help="folder of the recorded web")
    parser.add_argument("--made", type=int, default=2000, help="pages of a made-up web")
    parser.add_argument("--seeds", default="11,12,13", help="of the made-up webs")
    options = parser.parse_args()
    results = list[Asked]()
    for web in webs(options.web, options.made, [int(seed) for seed in options.seeds.split(",") if seed]):
        rows = virtual_crawl.rows(web)
        if len(rows) < LEAST:
            continue
        for result in asked(rows):
            results.append(result)
            span, left = result.urls, result.seconds
            print(
                f"{web.name:18} at {result.part:3.0%}: {span.likely:6.0f} URLs ({span.least:.0f} to {span.most:.0f}), "
                f"came {result.true_urls}; {left.likely:6.0f} s left ({left.least:.0f} to {left.most:.0f}), "
                f"came {result.true_seconds:.0f}",
                flush=True,
            )
    for part in PARTS:
        print(summary(part, [result for result in results if result.part == part]))
    return 0


def summary(part: float, results: list[Asked]) -> str:
    """How good the forecasts after a part of the crawl are."""
    urls, seconds = zip(*(result.errors for result in results), strict=True)
    in_urls, in_seconds = (sum(inside) for inside in zip(*(result.within for result in results), strict=True))
    return (
        f"at {part:3.0%} of {len(results)} crawls: median error {statistics.median(urls):.1%} of the URLs, "
        f"{statistics.median(seconds):.1%} of the time left; within the interval {in_urls} and {in_seconds}"
    )


if __name__ == "__main__":
    sys.exit(main())
