"""What an install for one machine takes: the distributions that the crawler needs without any extra, and itself; it
works with them alone."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gregor.worker.base import extras
from tests.endtoend.site import site

__all__ = ["site"]
_ROOT: Final = Path(__file__).parents[2]
_BAR: Final = 100_000_000
_BYTECODE: Final = 1.6
"""Of a source, in its size: pip compiles what it installs; 1.49 on the whole (`docs/benchmarks.md`)."""
_HEAVY: Final = {"numpy", "scipy", "tantivy", "duckdb", "pyarrow", "confluent-kafka", "uvloop", "cassandra-driver"}
_AS_NOT_INSTALLED: Final = """
from importlib.machinery import PathFinder

missing, find_spec = set(%r), PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.partition(".")[0] in missing else find_spec(name, *rest)
"""
_COMMANDS: Final = """
import json, sys
from gregor.worker.commands.cli import main

for words, code in json.loads(sys.argv[1]):
    assert main(words) == code, words
"""


def _base() -> set[str]:
    """The distributions, by what each says it needs."""
    names: set[str] = set()
    waiting = list(tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    while waiting:
        needed = Requirement(waiting.pop())
        name = canonicalize_name(needed.name)
        if name not in names and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            names.add(name)
            waiting += distribution(name).requires or ()
    return names


def _size(name: str) -> int:
    return _installed(Path(str(file.locate())) for file in distribution(name).files or ())


def _installed(files: Iterable[Path]) -> int:
    """Bytes that they take, with the bytecode that is made of them."""
    sizes = [(file.suffix, file.stat().st_size) for file in files if file.suffix != ".pyc" and file.is_file()]
    return round(sum(size * (1 + _BYTECODE if suffix == ".py" else 1) for suffix, size in sizes))


def _of_others() -> set[str]:
    """The modules that are there, and would not be in an install without extras."""
    base = {*_base(), "gregor-crawler"}
    owners = packages_distributions().items()
    return {module for module, names in owners if base.isdisjoint(map(canonicalize_name, names))}


def test_an_install_for_one_machine_stays_small() -> None:
    own = (file for link in (_ROOT / "gregor").iterdir() for file in [link, *link.resolve().rglob("*")])
    sizes = {"gregor-crawler": _installed(own), **{name: _size(name) for name in _base()}}
    assert sizes["gregor-crawler"] > 5_000_000
    assert not _HEAVY & set(sizes)
    assert sum(sizes.values()) < _BAR, sorted(sizes.items(), key=lambda item: -item[1])[:8]


def test_it_crawls_and_shows_what_is_there_without_any_extra(site: list[str], tmp_path: Path) -> None:
    missing = _of_others()
    assert {module for modules in extras._EXTRAS.values() for module in modules} <= missing
    (tmp_path / "sitecustomize.py").write_text(_AS_NOT_INSTALLED % sorted(missing))
    data = ["--data", str(tmp_path / "data")]
    commands: list[tuple[list[str], int]] = [
        (["crawl", "http://www.test/", *site, "--console", "127.0.0.1:0"], 0),
        (["doctor", *data], 0),
        (["status", *data], 0),
        (["pages", *data], 0),
        (["search", "page", *data], 2),
    ]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GREGOR_")}
    ended = subprocess.run(
        [sys.executable, "-c", _COMMANDS, json.dumps(commands)],
        env={**environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("http://www.test/") >= 10
    assert "pip install 'gregor-crawler[search]'" in ended.stderr.splitlines()[-1]
