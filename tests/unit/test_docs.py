"""What the documentation names is there: files, tests, links, settings and make targets."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from gregor.worker.commands import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = [
    *(ROOT / "gregor").glob("*.py"),
    *(file for top in ("schemas", "partitioner", "worker", "search") for file in sorted((ROOT / top).rglob("*.py"))),
]
IDS = [page.name for page in PAGES]


def definitions(file: Path) -> set[str]:
    """The classes and functions of a module, methods too."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, kinds)}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text())
    assert not [one for one in targets if "://" not in one and not (page.parent / one).exists()]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_tests_that_are_named_exist(page: Path) -> None:
    for file, test in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text()):
        assert (ROOT / file).is_file(), file
        assert not test or test in definitions(ROOT / file), f"{file}::{test}"


def test_code_that_the_architecture_names_exists() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    for name in re.findall(r"`((?:\w+/)*\w+\.py)`", text):
        assert (ROOT / name).is_file() or any(file.as_posix().endswith(f"/{name}") for file in CODE), name
    known = {name for file in CODE for name in definitions(file)} | {file.stem for file in CODE}
    for owner, name in re.findall(r"`(\w+)\.(_?\w+)(?:\.\w+)?`", text):
        if name in ("py", "html"):  # a file
            continue
        assert owner in known | {"messages", "gregor"}, owner
        assert name in known, f"{owner}.{name}"


def test_every_command_is_told_of() -> None:
    """By a heading of the page of commands, or on the page of what it serves."""
    page = (ROOT / "docs/commands.md").read_text()
    headings = " ".join(line for line in page.splitlines() if line.startswith("## gregor"))
    pages = ("operations.md", "deployment.md", "near-duplicates.md")
    elsewhere = "".join((ROOT / "docs" / name).read_text() for name in pages)
    for name in COMMANDS:
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", headings) or f"gregor {name}" in elsewhere, name


def test_every_extra_is_told() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    told = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/install.md").read_text(), re.MULTILINE))
    assert told == set(extras) - {"dev", "bench"}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert not set(re.findall(r"(?:`|^    )make ([a-z][\w-]*)", page.read_text(), re.MULTILINE)) - targets
