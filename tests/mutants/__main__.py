"""`python -m tests.mutants [--tenth N] [--only TEXT] [--jobs N]`: which faults live. Exit code 1 when any does, 2 when
the list is wrong. Each is put into a copy of the checkout of its own; nothing here is touched."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.listed import ROOT, Mutant, WrongLine, chosen, read

TIMEOUT = 900.0
"""Seconds for the tests of one fault; what hangs is noticed too."""
_PASSED, _FAILED = 0, 1  # pytest's exit codes; others say that nothing was tested


def copied(to: Path) -> Path:
    """The files that git tracks, and new ones that it does not ignore."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, to / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return to


def tested(tree: Path, tests: tuple[str, ...]) -> int | None:
    """The exit code of pytest in a copy; None when it hangs."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=any", *tests]
    # PYTHONPATH goes before the installed checkout. Bytecode is that of the text, not of its time.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "GREGOR_TEST_SEEDS": "20"}
    try:
        done = subprocess.run(
            words,
            check=False,
            cwd=tree,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def judged(mutant: Mutant, tree: Path) -> str:
    """ "killed", "LIVES", or what is wrong with it."""
    path = tree / mutant.file
    text = path.read_text("utf-8")
    path.write_text(mutant.mutated(text), "utf-8")
    try:
        code = tested(tree, mutant.tests)
    finally:
        path.write_text(text, "utf-8")
    if code in (_FAILED, None):
        return "killed"
    return "LIVES" if code == _PASSED else f"WRONG: pytest ended with {code}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--tenth", metavar="HEX", help="only a tenth, by the beginning of a commit's name")
    parser.add_argument("--only", metavar="TEXT", default="", help="only those with this text in their rules or file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    arguments = parser.parse_args()
    begun = time.monotonic()
    try:
        tenth = int(arguments.tenth[:8], 16) if arguments.tenth else None
        mutants = [one for one in chosen(read(), tenth) if arguments.only in f"{','.join(one.rules)} {one.file}"]
        for mutant in mutants:
            mutant.mutated((ROOT / mutant.file).read_text("utf-8"))
    except (WrongLine, OSError, ValueError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    trees: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="gregor-mutants-") as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        for number in range(arguments.jobs):
            trees.put(copied(Path(folder) / str(number)))

        def one(mutant: Mutant) -> str:
            tree = trees.get()
            try:
                verdict = judged(mutant, tree)
            finally:
                trees.put(tree)
            print(f"{verdict}: {mutant.name}", flush=True)
            return verdict

        first = trees.get()
        healthy = tested(first, tuple(sorted({test for mutant in mutants for test in mutant.tests}))) if mutants else 0
        trees.put(first)
        if healthy != _PASSED:
            print("mutants: the tests fail without any fault: nothing can be said", file=sys.stderr)
            return 2
        verdicts = list(pool.map(one, mutants))
    killed = verdicts.count("killed")
    print(f"{killed} passed, {len(verdicts) - killed} failed (mutants; {(time.monotonic() - begun) / 60:.1f} minutes)")
    return 0 if killed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
