"""The import graph: schemas ← partitioner ← worker; adapters known to those who put a worker together; pure modules."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("schemas", "partitioner", "worker")
COMPOSITION = {"worker/compose/worker.py", "worker/compose/network.py"}
"""The composition root: the engine is chosen in the first file, the network in the second."""

EFFECTS = {"asyncio", "concurrent", "multiprocessing", "os", "socket", "subprocess", "threading", "time", "uvloop"}
"""What a module that decides does without: time comes in as an argument, and nothing is waited for."""

_PURE = """
    partitioner/assignment partitioner/hashing schemas/messages schemas/topics worker/operate/about worker/fetch/address_policy
    worker/fetch/address_limit worker/inspect/audit worker/frontier/back_queue worker/frontier/calendar worker/web/canonical worker/capacity/model
    worker/capacity/types worker/capacity/text worker/capacity/deploy_values worker/web/encodings/sniff worker/fetch/cookies
    worker/read/css worker/web/domains worker/fetch/host_table worker/frontier/host worker/read/html/parse worker/read/html/guard worker/web/http_headers
    worker/web/encodings/query worker/link_header worker/web/media_type worker/robots/meta worker/orders/model worker/fetch/outcomes
    worker/frontier/partition worker/politeness/delays worker/links/priority worker/read/html/references worker/settle/revisits worker/robots/file
    worker/robots/agents worker/robots/copies worker/robots/match worker/robots/lines worker/links/configured worker/frontier/schedule
    worker/links/scope worker/read/fingerprints worker/read/sitemaps/entries  worker/read/sitemaps/mend
    worker/read/sitemaps/xml worker/read/sitemaps/parse worker/links/traps worker/links/url_loops worker/web/urls worker/settle/verdicts worker/frontier/watermark
    worker/read/html/xhtml
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
    assert choosers == {"worker/compose/worker.py"}


@pytest.mark.parametrize("module", _PURE.split())
def test_what_decides_is_pure(module: str) -> None:
    assert not {name.split(".")[0] for name in imports(f"{module}.py")} & EFFECTS


def test_imports_are_found_wherever_they_are() -> None:
    root, at_run_time = imports("worker/compose/worker.py"), imports("worker/compose/worker.py", at_run_time=True)
    for_types_only = {"gregor.worker.adapters.cluster.engine.ClusterEngine"}
    assert {"asyncio", "gregor.worker.adapters.embedded", "gregor.worker.adapters.cluster.engine"} <= at_run_time
    assert for_types_only <= root - at_run_time
