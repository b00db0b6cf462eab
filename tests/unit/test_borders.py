"""What an engine promises stands in the borders, and what a message means at its fields."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BORDERS = sorted((ROOT / "worker" / "borders").glob("*.py"))
MESSAGES = [ROOT / "schemas" / name for name in ("messages.py", "parts.py")]


@pytest.mark.parametrize("file", BORDERS, ids=lambda file: file.stem)
def test_every_method_of_a_border_says_what_it_does(file: Path) -> None:
    protocols = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)]
    protocols = [node for node in protocols if "Protocol" in map(ast.unparse, node.bases)]
    methods = [
        node for one in protocols for node in one.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not [node.name for node in methods if len(ast.get_docstring(node) or "") < len("Replace it.")]


def test_every_field_of_a_message_says_what_it_is() -> None:
    lines = [line for file in MESSAGES for line in file.read_text().splitlines()]
    structs = [node for node in ast.parse("\n".join(lines)).body if isinstance(node, ast.ClassDef)]
    fields = [(one.name, node) for one in structs for node in one.body if isinstance(node, ast.AnnAssign)]
    assert len(fields) > 100
    silent = [f"{name}.{ast.unparse(node.target)}" for name, node in fields if "  # " not in lines[node.lineno - 1]]
    assert not silent


def test_what_an_empty_text_means_is_said() -> None:
    """An empty default stands for something: that the field is not there, or nothing of it."""
    lines = [line for file in MESSAGES for line in file.read_text().splitlines()]
    lines = [line for line in lines if re.match(r'    \w+: str = ""', line)]
    assert len(lines) > 20
    assert not [line for line in lines if '"":' not in line and '"" for' not in line and "see `" not in line]
