"""Nothing is in the product for the tests' sake: what it defines, it uses."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = [
    file
    for top in ("gregor", "schemas", "partitioner", "worker", "search")
    for file in sorted((ROOT / top).rglob("*.py"))
]

CALLED_BY_LIBRARIES = {
    "_read1_chunked": "http.client",
    "_send_output": "http.client",
    "capture_signals": "uvicorn",
    "cert_verify": "requests",
    "generate_trace_id": "opentelemetry",
    "pause_writing": "asyncio",
    "resume_writing": "asyncio",
    "readinto": "io",
    "send_400_response": "uvicorn",
}
"""Methods that another library calls, by the name that it gives them."""


def defined(tree: ast.AST) -> Iterator[str]:
    """The functions, classes and methods of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("__"):
            yield node.name


def used(tree: ast.AST) -> Iterator[str]:
    """What a module names: variables, attributes, imports, and words of texts other than docstrings."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            yield from re.findall(r"\w+", node.value)


def unused(modules: dict[str, str]) -> set[str]:
    """Names that are defined in one of the modules, and used in none but by an import from where they are."""
    trees = {name: ast.parse(code) for name, code in modules.items()}
    uses = Counter(name for tree in trees.values() for name in used(tree))
    return {name for tree in trees.values() for name in defined(tree)} - uses.keys()


def idle(modules: dict[str, str]) -> set[str]:
    """Names that modules give to values, and that nobody reads: neither there nor by an import or by their module."""
    trees = {name: ast.parse(code) for name, code in modules.items()}
    elsewhere = {name for tree in trees.values() for name in read_elsewhere(tree)}
    return {name for tree in trees.values() for name in values(tree) if name not in elsewhere | set(read(tree))}


def values(tree: ast.Module) -> Iterator[str]:
    """The names that a module gives to values."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for name in (part for target in targets for part in ast.walk(target)):
            if isinstance(name, ast.Name) and not name.id.startswith("__"):
                yield name.id


def read(tree: ast.AST) -> Iterator[str]:
    """What is read by its name alone, in code or in a type that is written as a text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 100:
            yield from re.findall(r"\w+", node.value)


def read_elsewhere(tree: ast.AST) -> Iterator[str]:
    """What is imported, or read by the name of something else, be it by `getattr`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            yield from (str(word.value) for word in node.args if isinstance(word, ast.Constant))


def for_programs() -> set[str]:
    """What programs of others call, as docs/library.md tells them."""
    page = (ROOT / "docs" / "library.md").read_text()
    defining = [ROOT / "gregor" / "__init__.py", *(ROOT / "worker" / "library").glob("*.py")]
    names = {name for file in defining for name in defined(ast.parse(file.read_text()))}
    return {name for name in names if re.search(rf"\b{name}\b", page)}


def test_the_product_uses_what_it_defines() -> None:
    found = unused({str(file): file.read_text() for file in PRODUCT})
    assert found - for_programs() == CALLED_BY_LIBRARIES.keys()


def test_what_nobody_uses_is_seen() -> None:
    code = "class A:\n    def called(self): ...\n    def lost(self): ...\ndef help(): A().called()\nhelp()"
    assert unused({"a": code}) == {"lost"}


def test_the_product_reads_the_values_that_it_names() -> None:
    assert not idle({str(file): file.read_text() for file in PRODUCT})


def test_a_value_that_nobody_reads_is_seen() -> None:
    code = "A = 1\nB: int = 2\nC, D = 3, 4\nE = F = 5\nG = 6\nprint(A, D, E)"
    assert idle({"a": code, "b": "from a import B", "c": "import a\na.C"}) == {"F", "G"}
