"""Keeps the table of docs/conformance.md true: ``python -m tests.web.conformance_page FOLDER`` writes it anew."""

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.web.conformance import judge
from tests.web.suites import Case, Suite

PAGE = Path(__file__).parents[2] / "docs/conformance.md"
BEGIN, END = "<!-- the table begins -->\n", "<!-- the table ends -->\n"
HEAD = "| suite | cases | judged | passed | other libraries on the same file |\n|---|---:|---:|---:|---|\n"


def table(folder: Path) -> str:
    """The table of all suites whose file is in ``folder``; what is not judged is a deviation that the page explains."""
    results: Mapping[Suite, list[Case]] = judge(folder)
    rows = [_row(suite, folder, cases) for suite, cases in results.items()]
    passed = sum(case.passed for cases in results.values() for case in cases)
    whole = f"| all | | {sum(map(len, results.values()))} | {passed} | |\n"
    return f"{HEAD}{''.join(rows)}{whole}"


def _row(suite: Suite, folder: Path, cases: list[Case]) -> str:
    published = sum(1 for _ in suite.cases(folder / suite.file))
    passed = sum(case.passed for case in cases)
    return f"| {suite.name} | {published} | {len(cases)} | {passed} | {suite.reference.strip('-')} |\n"


def parts(page: str) -> tuple[str, str, str]:
    """What stands before the table, the table, and what stands after it."""
    before, begin, rest = page.partition(BEGIN)
    inside, end, after = rest.partition(END)
    assert begin, "the page has no table"
    assert end, "the table has no end"
    return before + begin, inside, end + after


def main() -> int:
    """Writes the table into the page."""
    before, _, after = parts(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + table(Path(sys.argv[1])) + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
