"""The import graph: schemas ← partitioner ← worker; adapters known to those who put a worker together; pure modules."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("schemas", "partitioner", "worker")
COMPOSITION = {"worker/composition.py", "worker/network.py"}
"""The composition root: the engine is chosen in the first file, the network in the second."""

EFFECTS = {"asyncio", "concurrent", "multiprocessing", "os", "socket", "subprocess", "threading", "time", "uvloop"}
"""What a module that decides does without: time comes in as an argument, and nothing is waited for."""

_PURE = """
    partitioner/assignment partitioner/hashing schemas/messages schemas/topics worker/about worker/addresses
    worker/addressing worker/audit worker/backqueue worker/calendar worker/canonical worker/capacity/model
    worker/capacity/shapes worker/capacity/told worker/capacity/written worker/charset worker/cookies
    worker/css worker/domains worker/host_table worker/hosts worker/html worker/html_guard worker/http_rules
    worker/legacy_query worker/link_header worker/media_type worker/meta_robots worker/orders worker/outcomes
    worker/partition worker/politeness worker/priority worker/references worker/revisits worker/robots
    worker/robots_agents worker/robots_copies worker/robots_match worker/robots_text worker/rules worker/schedule
    worker/scope worker/simhashing worker/sitemap_entries worker/sitemap_location worker/sitemap_text
    worker/sitemap_xml worker/sitemaps worker/traps worker/url_loops worker/urls worker/verdicts worker/watermark
    worker/xhtml
"""


@cache
def files() -> list[str]:
    """Every module of ours, relative to the checkout."""
    return [file.relative_to(ROOT).as_posix() for layer in LAYERS for file in sorted((ROOT / layer).rglob("*.py"))]


@cache
def imports(file: str, *, at_run_time: bool = False) -> frozenset[str]:
    """What a module imports, wherever in it; with ``at_run_time`` without what only type checkers see."""
    found: set[str] = set()
    for node in nodes(ast.parse((ROOT / file).read_text()), at_run_time):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def nodes(tree: ast.AST, at_run_time: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if at_run_time and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from nodes(node, at_run_time)


def ours(names: frozenset[str], below: str) -> set[str]:
    """The names that are in a package of ours."""
    return {name for name in names if f"{name}.".startswith(f"gregor.{below}.")}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_knows_only_those_below_it(layer: str) -> None:
    above = LAYERS[LAYERS.index(layer) + 1 :]
    for file in files():
        if file.startswith(f"{layer}/"):
            assert not [name for other in above for name in ours(imports(file), other)], file
            assert not {name for name in imports(file) if name.split(".")[0] in (*LAYERS, "tests", "benchmarks")}, file


def test_adapters_are_known_to_the_composition_root_alone() -> None:
    for file in files():
        if file not in COMPOSITION and not file.startswith("worker/adapters/"):
            assert not ours(imports(file, at_run_time=True), "worker.adapters"), file


def test_the_engine_is_asked_for_in_one_place() -> None:
    engines = ("worker.adapters.cluster", "worker.adapters.embedded")
    outside = [file for file in files() if not file.startswith("worker/adapters/")]
    choosers = {file for file in outside for engine in engines if ours(imports(file, at_run_time=True), engine)}
    assert choosers == {"worker/composition.py"}


@pytest.mark.parametrize("module", _PURE.split())
def test_what_decides_is_pure(module: str) -> None:
    assert not {name.split(".")[0] for name in imports(f"{module}.py")} & EFFECTS


def test_imports_are_found_wherever_they_are() -> None:
    root, at_run_time = imports("worker/composition.py"), imports("worker/composition.py", at_run_time=True)
    for_types_only = {"gregor.worker.adapters.cluster.engine.ClusterEngine"}
    assert {"asyncio", "gregor.worker.adapters.embedded", "gregor.worker.adapters.cluster.engine"} <= at_run_time
    assert for_types_only <= root - at_run_time
