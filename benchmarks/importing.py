"""What an import costs: an archive taken into a data folder, read by one process, or by two beside the one that writes.

`python -m benchmarks.importing [FILE…] [--pages 4000] [--rounds 1]`. Without files the pages of `tests.web.corpus`, as
a WARC file compressed record by record. Processor time of the whole command, its start included; of the process that
writes and of those that read apart: as many records a second as the writer alone would write can be had with
processors enough.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measure import COMPILED, WORK, Figure, Figures, middle, report
from tests.unit.archives.made import answer, gzipped, record
from tests.web import corpus

_MEASURED: Final = """
import resource, sys
from gregor.worker.commands import cli
assert cli.main(sys.argv[1:]) == 0
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    spent = resource.getrusage(who)
    print(spent.ru_utime + spent.ru_stime)
"""
READERS: Final = 2


class Spent(NamedTuple):
    """Seconds of processor of the process that writes, and of those that read; how many records there were."""

    writing: float
    reading: float
    records: int

    @property
    def longest(self) -> float:
        """Seconds on as many processors as there are readers: they write and read side by side."""
        return max(self.writing, (self.writing + self.reading) / READERS)


def measured(files: Sequence[Path] = (), pages: int = 4000, rounds: int = 1) -> Figures:
    """Records a second of processor, by the whole command and by its parts."""
    WORK.mkdir(parents=True, exist_ok=True)
    chosen = [path.absolute() for path in files] or [made(pages)]
    alone, shared = ([imported(chosen, count) for _ in range(rounds)] for count in (1, READERS))
    each = [1000.0 * spent.reading / READERS / spent.records for spent in shared]
    return {
        "import.alone": Figure(middle((spent.records / spent.writing for spent in alone), 0), "records a second"),
        "import.two_processors": Figure(
            middle(
                (spent.records / max(spent.writing, (spent.writing + spent.reading) / READERS) for spent in shared), 0
            ),
            "records a second",
        ),
        "import.writer": Figure(middle((spent.records / spent.writing for spent in shared), 0), "records a second"),
        "import.reader": Figure(middle((READERS * value for value in each), 3), "ms a record"),
    }


def made(pages: int) -> Path:
    """An archive of so many pages."""
    file = WORK / f"import-{pages}.warc.gz"
    if not file.exists():
        some = (record(url=page.url, block=answer(page.html)) for page in corpus.pages(corpus.Shape(60, pages)))
        with file.open("wb") as target:
            for each in some:
                target.write(gzipped([each]))
    return file


def imported(files: Sequence[Path], processes: int) -> Spent:
    """One import into a new folder."""
    folder = WORK / "import"
    shutil.rmtree(folder, ignore_errors=True)
    line = ["import", "warc", *files, "--data", folder, "--processes", processes, "--json"]
    words = [sys.executable, "-c", _MEASURED, *map(str, line)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, env={**os.environ, **COMPILED})
    said, writing, reading = done.stdout.splitlines()[-3:]
    return Spent(float(writing), float(reading), json.loads(said)["records"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="archives; default: one that is made")
    parser.add_argument("--pages", type=int, default=4000, help="of the archive that is made")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    report(measured(arguments.files, arguments.pages, arguments.rounds))


if __name__ == "__main__":
    main()
