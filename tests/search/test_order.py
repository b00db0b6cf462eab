"""What search may know: what is stored, and the borders of readers and checkers. Nobody in the crawl knows search."""

import ast
from pathlib import Path

import pytest

from tests.unit.test_imports import EFFECTS, ROOT, imports, private

FILES = [file.relative_to(ROOT).as_posix() for file in sorted((ROOT / "search").rglob("*.py"))]
KNOWN = (
    "gregor.schemas.",
    "gregor.worker.base.",
    "gregor.search.",
    "gregor.worker.borders.reader.",
    "gregor.worker.borders.changes.",
    "gregor.worker.borders.errors.",
    "gregor.worker.borders.shelf.",
    "gregor.worker.borders.stock.",
)
WAITING: set[str] = {"search/comparing.py", "search/relay.py"}
"""Modules that wait, or keep something open."""
MAY_USE = ("worker/commands/", "worker/compose/", "worker/api/")
"""The wings of the worker that may know search."""


@pytest.mark.parametrize("file", FILES)
def test_it_sees_what_is_stored_and_the_borders_of_readers_alone(file: str) -> None:
    ours = {name for name in imports(file) if name.startswith("gregor.")}
    assert not {name for name in ours if not f"{name}.".startswith(KNOWN)}


@pytest.mark.parametrize("file", [file for file in FILES if "/adapters/" not in file and file not in WAITING])
def test_what_decides_is_pure_and_knows_no_engine(file: str) -> None:
    assert not {name.split(".")[0] for name in imports(file)} & (EFFECTS | {"tantivy", "sqlite3"})
    assert not [name for name in imports(file) if name.startswith("gregor.search.adapters")]


def test_the_crawl_does_not_know_it() -> None:
    for path in (ROOT / "worker").rglob("*.py"):
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith(MAY_USE):
            assert not [name for name in imports(file) if name.startswith("gregor.search")], file


@pytest.mark.parametrize("file", FILES)
def test_no_private_name_crosses_modules(file: str) -> None:
    assert not [name for name in imports(file) if name.startswith("gregor.") and private(name.rpartition(".")[2])]
    assert len((ROOT / file).read_text().splitlines()) <= 300
    assert Path(file).name == "__init__.py" or ast.get_docstring(ast.parse((ROOT / file).read_text()))
