"""`python -m tests.web.hostile [NAME…]`: what the documents cost, each read in a process of its own;
`--child FILE TYPE` is such a process."""

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.web.hostile import DOCUMENTS, Hostile, cost
from tests.web.hostile.costs import child


def _table(chosen: Iterable[Hostile]) -> bool:
    within = True
    for hostile in chosen:
        try:
            took = cost(hostile)
        except subprocess.SubprocessError as error:
            print(f"{hostile.name:40} {error}", flush=True)
            within = False
            continue
        mark = "" if took.within else "  TOO MUCH"
        within = within and not mark
        print(f"{hostile.name:40} {took.seconds:6.2f} s {took.memory:6.0f} MB  {took.said}{mark}", flush=True)
    return within


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.web.hostile", description=__doc__)
    parser.add_argument("names", nargs="*", help="which documents, by what their names begin with; none: all")
    parser.add_argument("--child", nargs=2, metavar=("FILE", "TYPE"))
    options = parser.parse_args()
    if options.child:
        print(child(Path(options.child[0]), options.child[1]))
        return 0
    chosen = [each for each in DOCUMENTS if not options.names or each.name.startswith(tuple(options.names))]
    return 0 if _table(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
