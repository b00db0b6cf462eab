"""The import graph: layers, the wings of the worker, purity; and that names and lengths can be read."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("schemas", "partitioner", "worker")

WINGS = (
    *("base", "web", "config", "orders", "read", "borders", "topic", "links", "extract", "observe", "frontier"),
    *("fetch", "politeness", "robots", "settle", "examine", "crawl", "operate", "run"),
    *("adapters", "archives", "inspect", "capacity", "api"),
    *("compose", "library", "commands", "demo"),
)
"""The wings of worker/ from ground to roof: what is in one imports from those before it alone."""

ENGINES = {
    "worker.adapters.cluster": {
        "worker/compose/cluster.py",
        "worker/compose/index_worker.py",
        "worker/compose/rebuilding.py",
        "worker/compose/search_cluster.py",
    },
    "worker.adapters.embedded": {
        "worker/compose/embedded.py",
        "worker/compose/kept.py",
        "worker/compose/one_of_several.py",
        "worker/compose/open_folder.py",
        "worker/compose/processes.py",
        "worker/compose/words.py",
    },
}
"""The engines, each with the modules that put it together."""

CHOOSER = "worker/compose/engine.py"
"""Where the engine is asked for."""

EFFECTS = {"asyncio", "concurrent", "multiprocessing", "os", "socket", "subprocess", "threading", "time", "uvloop"}
"""What a module that decides does without: time comes in as an argument, and nothing is waited for."""

PURE = {
    "partitioner": set[str](),
    "schemas": set[str](),
    "worker/borders": {"effects"},
    "worker/capacity": set[str](),
    "worker/extract": set[str](),
    "worker/fetch": {"address_gate", "fetcher", "names"},
    "worker/frontier": set[str](),
    "worker/links": set[str](),
    "worker/orders": set[str](),
    "worker/politeness": set[str](),
    "worker/read": {"read", "pdf"},
    "worker/robots": set[str](),
    "worker/settle": set[str](),
    "worker/topic": set[str](),
    "worker/web": set[str](),
}
"""The folders that decide, each with the modules in it that also wait, or keep threads."""

TICKETS = "worker/links/tickets.py"
"""Where tickets are made."""

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
    return [file.relative_to(ROOT).as_posix() for layer in LAYERS for file in sorted((ROOT / layer).rglob("*.py"))]


@cache
def parsed(file: str) -> tuple[ast.AST, ...]:
    """Every node of a module."""
    return tuple(ast.walk(ast.parse((ROOT / file).read_text())))


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


def wing(file: str) -> str:
    """The wing of a module of worker/: a folder, or a file that is a room of its own. "" for the map itself."""
    return file.removeprefix("worker/").split("/")[0].removesuffix(".py").replace("__init__", "")


def module_file(name: str) -> str | None:
    """The file of a module, or of the module that a name is imported from; None when it is no module of worker/."""
    path = name.removeprefix("gregor.").replace(".", "/")
    for candidate in (f"{path}.py", f"{path}/__init__.py", f"{path.rpartition('/')[0]}.py"):
        if (ROOT / candidate).is_file():
            return candidate
    return f"{path.rpartition('/')[0]}/__init__.py" if name.startswith("gregor.worker") else None


def test_every_wing_is_known() -> None:
    assert {wing(file) for file in files() if file.startswith("worker/")} - {""} == set(WINGS)


def test_a_wing_imports_from_those_below_it_alone() -> None:
    upwards = [
        f"{file} imports {target}"
        for file in files()
        if file.startswith("worker/") and wing(file)
        for name in sorted(ours(imports(file), "worker"))
        if (target := module_file(name)) is not None and wing(target)
        if WINGS.index(wing(target)) > WINGS.index(wing(file))
    ]
    assert not upwards


def test_the_picture_of_the_wings_has_them_in_their_order() -> None:
    """Each row of it is above all that stands in the rows below."""
    picture = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    rows = [[WINGS.index(word) for word in re.findall(r"\b[a-z]+\b", row) if word in WINGS] for row in _cells(picture)]
    assert sorted(place for row in rows for place in row) == list(range(len(WINGS)))
    assert all(min(above) > max(below) for above, below in pairwise(filter(None, rows)))


def _cells(picture: str) -> Iterator[str]:
    """The rows of the picture, each with the names in its two columns, what is said of them left out."""
    for row in picture.splitlines():
        yield f"{row[12:23]} {row[58:69]}".replace(".py", "")


def test_every_wing_says_what_it_is() -> None:
    """A wing what it imports, too; a folder within one what it has."""
    for file in (file for file in files() if file.startswith("worker/") and file.endswith("/__init__.py")):
        text = ast.get_docstring(ast.parse((ROOT / file).read_text()))
        assert text and (len(text.splitlines()) >= 2 or len(Path(file).parts) > 3), file


def test_adapters_are_known_to_those_who_compose_alone() -> None:
    for file in files():
        if not file.startswith(("worker/adapters/", "worker/compose/")):
            assert not ours(imports(file, at_run_time=True), "worker.adapters"), file


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_is_used_by_those_who_compose_it(engine: str) -> None:
    outside = [file for file in files() if not file.startswith("worker/adapters/")]
    assert {file for file in outside if ours(imports(file, at_run_time=True), engine)} == ENGINES[engine]


def test_the_engine_is_asked_for_in_one_place() -> None:
    asking = {file for file in files() if file.startswith("worker/") if any(map(asks_which, parsed(file)))}
    assert asking == {CHOOSER}


def asks_which(node: ast.AST) -> bool:
    """Whether an expression depends on which engine runs: by its setting, or by the class of the object."""
    if isinstance(node, ast.Attribute):  # `self.engine` would be an engine, not its name
        return node.attr == "engine" and ast.unparse(node.value) != "self"
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
        return bool(re.search(r"Engine\b|\bEmbedded\b|\bCluster\b|OpenFolder|OpenServers", ast.unparse(node)))
    return isinstance(node, ast.MatchClass) and ast.unparse(node.cls).endswith(("Engine", "Embedded", "Cluster"))


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        ("config.engine == 'cluster'", True),
        ("place(self._config.engine)", True),
        ("isinstance(engine, embedded.EmbeddedEngine)", True),
        ("match it:\n case Embedded(): pass", True),
        ("self.engine.close()", False),
        ("isinstance(status, ClusterStatus)", False),
    ],
)
def test_who_asks_for_the_engine_is_seen(code: str, asks: bool) -> None:
    assert any(map(asks_which, ast.walk(ast.parse(code)))) is asks


def test_no_private_name_crosses_modules() -> None:
    """A name with an underscore is its module's own: neither imported nor reached by the module's name."""
    crossing = []
    for file in files():
        modules = {name.rpartition(".")[2]: name for name in imports(file) if name.startswith("gregor.")}
        crossing += [f"{file}: {name}" for name in modules.values() if private(name.rpartition(".")[2])]
        crossing += [
            f"{file}: {ast.unparse(node)}"
            for node in parsed(file)
            if isinstance(node, ast.Attribute) and private(node.attr)
            if isinstance(node.value, ast.Name) and module_file(modules.get(node.value.id, "")) is not None
        ]
    assert not crossing


def private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


@pytest.mark.parametrize("folder", PURE)
def test_what_decides_is_pure(folder: str) -> None:
    for file in files():
        if file.startswith(f"{folder}/") and Path(file).stem not in PURE[folder]:
            assert not {name.split(".")[0] for name in imports(file)} & EFFECTS, file


def test_exceptions_from_purity_are_needed() -> None:
    for folder, stems in PURE.items():
        for stem in stems:
            assert {name.split(".")[0] for name in imports(f"{folder}/{stem}.py")} & EFFECTS, f"{folder}/{stem}.py"


def test_imports_are_found_wherever_they_are() -> None:
    chooser, keeping = imports(CHOOSER, at_run_time=True), "worker/compose/housekeeping.py"
    assert {"gregor.worker.compose.cluster.Cluster", "gregor.worker.compose.embedded.Embedded"} <= chooser
    for_types_only = {"gregor.worker.adapters.cluster.engine.ClusterEngine"}
    assert for_types_only <= imports(keeping) - imports(keeping, at_run_time=True)


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


def named() -> list[str]:
    """The modules whose names are looked at: the product's, and those that search, measure and show it."""
    folders = ("search", "monitoring", "benchmarks")
    others = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    return [*files(), *(file.relative_to(ROOT).as_posix() for file in others)]


def test_names_say_what_they_hold() -> None:
    faults = [f"{file}:{line} {name}" for file in named() for line, name in vague((ROOT / file).read_text())]
    faults += [file for file in named() if Path(file).stem.strip("_") in VAGUE or Path(file).parent.name in VAGUE]
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


def calls(file: str, name: str) -> list[ast.Call]:
    """Where a module calls what is imported by a name."""
    nodes = (node for node in parsed(file) if isinstance(node, ast.Call))
    return [node for node in nodes if isinstance(node.func, ast.Name) and node.func.id == name]


def test_tickets_are_made_in_one_place_with_keywords() -> None:
    assert {file for file in files() if file.startswith("worker/") and calls(file, "Ticket")} == {TICKETS}
    assert not [ast.unparse(call) for call in calls(TICKETS, "Ticket") if call.args]


def defined(file: str) -> Iterator[str]:
    """The public classes of a module, and its names for types (``Kind = Literal[...]``)."""
    for node in ast.iter_child_nodes(parsed(file)[0]):
        match node:
            case ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                if name[0].isupper() and not name.isupper():
                    yield name


def test_a_class_has_its_name_alone() -> None:
    """Across the product, whose parts all meet in a process; plug-ins and libraries may have what names they like."""
    homes: dict[str, list[str]] = {}
    for file in [*files(), *(file.relative_to(ROOT).as_posix() for file in sorted((ROOT / "search").rglob("*.py")))]:
        for name in defined(file):
            homes.setdefault(name, []).append(file)
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_no_file_is_longer_than_a_reader_takes_in() -> None:
    lengths = {file: len((ROOT / file).read_text().splitlines()) for file in files()}
    assert not {file: lines for file, lines in lengths.items() if lines > LONGEST.get(file, 300)}
