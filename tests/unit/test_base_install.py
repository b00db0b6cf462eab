"""What an install for one machine takes: the distributions that the crawler needs without any extra."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

_ROOT: Final = Path(__file__).parents[2]
_BAR: Final = 100 * 2**20
_HEAVY: Final = {"numpy", "scipy", "tantivy", "duckdb", "pyarrow", "confluent-kafka", "uvloop", "cassandra-driver"}


def _base() -> set[str]:
    """The distributions, by what each says it needs."""
    names: set[str] = set()
    waiting = list(tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    while waiting:
        needed = Requirement(waiting.pop())
        name = needed.name.lower()
        if name not in names and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            names.add(name)
            waiting += distribution(name).requires or ()
    return names


def _size(name: str) -> int:
    files = (Path(str(file.locate())) for file in distribution(name).files or ())
    return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.exists())


def test_an_install_for_one_machine_stays_small() -> None:
    sizes = {name: _size(name) for name in _base()}
    assert not _HEAVY & set(sizes)
    assert sum(sizes.values()) < _BAR, sorted(sizes.items(), key=lambda item: -item[1])[:8]
