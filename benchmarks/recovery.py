"""What the commands take by which something is brought back, made anew or taken away, on one machine.

`python -m benchmarks.recovery [--pages 100000]`. The folder is made by bulk insert, no crawl (see `exporting`); it is
changed by what is done to it, and made anew each time; links of its pages lead to URLs that it does not know, of which
`check` finds and mends as many as it names in one run. Processor time of each command, its start included, and its
peak of memory. The extra `search` is needed.
"""

import argparse
from typing import Final

from benchmarks.exporting import make
from benchmarks.measure import GREGOR, WORK, Figure, Figures, report, run

COMMANDS: Final = {
    "check": ("check",),
    "mend": ("check", "--mend"),
    "near": ("rebuild-near",),
    "index": ("index", "--once"),
    "reindex": ("index", "--once", "--rebuild"),
    "check_index": ("check", "--index"),
    "rank": ("rank",),
    "recrawl": ("recrawl", "--all"),
    "optout": ("optout", "host1.test", "--wait", "0"),
}
"""In the order in which they can be run on one folder."""
FOUND: Final = 1
"""How `check` ends that found something."""


def measured(pages: int = 100_000) -> Figures:
    """Seconds of processor and the peak of memory in MB by command."""
    WORK.mkdir(parents=True, exist_ok=True)
    folder = WORK / f"recovery-{pages}"
    make(folder, pages, bodies=True)
    figures: Figures = {}
    for name, words in COMMANDS.items():
        cost = run([GREGOR, *words, "--data", folder], WORK / "recovery.log", codes=(0, FOUND))
        figures[f"recovery.{name}"] = Figure(round(cost.cpu, 1), "s")
        figures[f"recovery.{name}.memory"] = Figure(round(cost.peak), "MB")
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    report(measured(parser.parse_args().pages))


if __name__ == "__main__":
    main()
