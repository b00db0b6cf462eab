"""Runs every suite over a folder of published cases: ``python -m tests.web.conformance FOLDER``.

Prints a table to stdout and what failed to stderr, writes ``build/conformance.json``, and ends with 1 on any failure.
"""

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

from tests.web import suites
from tests.web.suites import Case, Suite, run

SHOWN_FAILURES = 20
REPORT = Path("build/conformance.json")


def all_suites() -> list[Suite]:
    """The suites of all modules in ``tests.web.suites``, by name."""
    names = (module.name for module in pkgutil.iter_modules(suites.__path__, f"{suites.__name__}."))
    return sorted((suite for name in names for suite in importlib.import_module(name).SUITES), key=lambda one: one.name)


def judge(folder: Path) -> dict[Suite, list[Case]]:
    """The cases of every suite whose file is in ``folder``."""
    return {suite: run(suite, folder) for suite in all_suites() if (folder / suite.file).is_file()}


def main() -> int:
    """Judges the folder named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that holds url/, robots/ and the others")
    folder: Path = parser.parse_args().folder
    if not folder.is_dir():
        parser.error(f"{folder} is no folder")
    results = judge(folder)
    if not results:
        parser.error(f"{folder} holds no file of any suite")
    _print(results)
    _write(results)
    cases = [case for suite in results.values() for case in suite]
    failed = sum(not case.passed for case in cases)
    sys.stderr.flush()
    sys.stdout.write(f"{len(cases) - failed} passed, {failed} failed\n")
    return 1 if failed else 0


def _print(results: dict[Suite, list[Case]]) -> None:
    width = max(len(suite.name) for suite in results)
    sys.stdout.write(f"{'suite':<{width}}  cases  passed  reference\n")
    for suite, cases in results.items():
        failures = [case for case in cases if not case.passed]
        passed = len(cases) - len(failures)
        sys.stdout.write(f"{suite.name:<{width}}  {len(cases):>5}  {passed:>6}  {suite.reference}\n")
        sys.stderr.writelines(f"{suite.name} {case.id}: {case.detail}\n" for case in failures[:SHOWN_FAILURES])
    sys.stdout.flush()


def _write(results: dict[Suite, list[Case]]) -> None:
    report = {
        suite.name: {
            "cases": len(cases),
            "passed": sum(case.passed for case in cases),
            "reference": suite.reference,
            "failed": {case.id: case.detail for case in cases if not case.passed},
        }
        for suite, cases in results.items()
    }
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2, ensure_ascii=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
