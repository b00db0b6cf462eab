"""How the code reads: names say what they hold, and no file is longer than a reader takes in at once."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("schemas", "partitioner", "worker", "monitoring", "benchmarks")

VAGUE = {
    *("one", "found", "told", "given", "known", "whole", "written", "heard", "together", "aside", "tap"),
    *("patience", "standing", "desk", "spending"),
}
"""What could be anything: a name says what it holds."""

FEW = 5
"""In so many lines a local name is seen with its meaning."""

LONGEST = {"worker/crawl.py": 200}
"""The file that tells one URL's way; all others have 300 lines at most."""

Named = tuple[int, str]


@cache
def files() -> list[str]:
    """Every module of ours, relative to the checkout."""
    return [file.relative_to(ROOT).as_posix() for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]


IN_WORK = ("worker/robots/", "worker/read/", "worker/links/traps.py", "worker/observe/bottleneck.py")
"""Whose names, or length, are another change's."""


def names(tree: ast.AST, lines: int = 0) -> Iterator[Named]:
    """What is named too vaguely, with its line: locals and parameters where a function has more than a few lines, and
    attributes, functions and classes anywhere."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
            is_class = isinstance(node, ast.ClassDef)
            yield from names(node, FEW + 1 if is_class else (node.end_lineno or node.lineno) - node.lineno + 1)
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        if lines > FEW:
            yield from local_names(node)
        yield from names(node, lines)


def local_names(node: ast.AST) -> Iterator[Named]:
    """What a node binds, that is seen within its function, or in the body of its class."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            yield node.lineno, name
        case ast.arg(arg=name) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield node.lineno, name
        case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
            yield node.lineno, name


def vague(code: str) -> list[Named]:
    """Those of a module's names that say nothing."""
    return [(line, name) for line, name in names(ast.parse(code)) if name.strip("_") in VAGUE]


def settled() -> list[str]:
    """The files that keep the rules."""
    return [file for file in files() if not file.startswith(IN_WORK)]


def test_names_say_what_they_hold() -> None:
    faults = [f"{file}:{line} {name}" for file in settled() for line, name in vague((ROOT / file).read_text())]
    faults += [file for file in files() if Path(file).stem.strip("_") in VAGUE or Path(file).parent.name in VAGUE]
    assert not faults


LONG = "\n    pass" * FEW


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (f"def f(found):{LONG}", "found"),
        (f"def f():\n    one = 1{LONG}", "one"),
        (f"def f():\n    return [one for one in x]{LONG}", "one"),
        (f"def f():\n    return lambda told: 1{LONG}", "told"),
        (f"def f():\n    with x as (given, y): pass{LONG}", "given"),
        (f"def f():\n    if (known := g()): pass{LONG}", "known"),
        (f"def f():\n    match x:\n        case A(heard): pass{LONG}", "heard"),
        ("class A:\n    def f(self): self._whole = 1", "_whole"),
        ("class A:\n    standing: int", "standing"),
        ("def _told(): pass", "_told"),
        ("class A:\n    def known(self): pass", "known"),
    ],
)
def test_a_name_that_says_nothing_is_seen_wherever_it_is_bound(code: str, name: str) -> None:
    assert name in {name for _, name in vague(code)}


@pytest.mark.parametrize("code", ["def f(one):\n    return one + 1", f"def f():\n    g(found=1){LONG}", "x = y.known"])
def test_what_is_seen_at_once_and_others_names_are_no_faults(code: str) -> None:
    assert not vague(code)


def test_no_file_is_longer_than_a_reader_takes_in() -> None:
    lengths = {file: len((ROOT / file).read_text().splitlines()) for file in settled() if file.startswith("worker/")}
    assert not {file: lines for file, lines in lengths.items() if lines > LONGEST.get(file, 300)}
