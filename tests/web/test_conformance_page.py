"""The table of docs/conformance.md is what the suites give."""

from tests.web.conformance_page import PAGE, parts, table
from tests.web.shared import SHARED, needs


@needs("conformance")
def test_the_table_is_true() -> None:
    _, written, _ = parts(PAGE.read_text(encoding="utf-8"))
    assert written == table(SHARED / "conformance"), "python -m tests.web.conformance_page FOLDER writes it anew"
