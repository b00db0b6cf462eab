"""`python -m tests.web.hostile [NAME…]`: what the documents cost, each read in a process of its own;
`--serve` is what makes such processes."""

import argparse
import sys
from collections.abc import Iterable

from gregor.worker.read.native import core
from tests.web.hostile import DOCUMENTS, Hostile, Reader
from tests.web.hostile.costs import serve


def _table(chosen: Iterable[Hostile], *, native: bool) -> bool:
    within, reader = True, Reader(native=native)
    for hostile in chosen:
        try:
            took = reader.cost(hostile)
        except ValueError as error:
            print(error, flush=True)
            within = False
            continue
        mark = "" if took.within else "  TOO MUCH"
        within = within and not mark
        print(f"{hostile.name:40} {took.seconds:6.2f} s {took.memory:6.0f} MB  {took.said}{mark}", flush=True)
    reader.close()
    return within


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.web.hostile", description=__doc__)
    parser.add_argument("names", nargs="*", help="which documents, by what their names begin with; none: all")
    parser.add_argument("--serve", action="store_true", help="read what standard input names")
    parser.add_argument("--native", action="store_true", help="by the native core, where it can")
    options = parser.parse_args()
    if options.serve:
        serve(DOCUMENTS, sys.stdin, sys.stdout, core() if options.native else None)
        return 0
    chosen = [each for each in DOCUMENTS if not options.names or each.name.startswith(tuple(options.names))]
    return 0 if _table(chosen, native=options.native) else 1


if __name__ == "__main__":
    sys.exit(main())
