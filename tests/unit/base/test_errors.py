"""What goes wrong is told in one line, and worded in one place."""

import ast
import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from gregor.worker.base.errors import why

ROOT = Path(__file__).parents[3]
FOLDERS = ("worker", "docker", "benchmarks")


async def refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = server.getsockname()
    await asyncio.open_connection(*where)


async def taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        await asyncio.start_server(lambda _, writer: writer.close(), *server.getsockname())


@pytest.mark.parametrize(("attempt", "number"), [(refused, errno.ECONNREFUSED), (taken, errno.EADDRINUSE)])
def test_a_library_adds_nothing_to_what_the_system_says(attempt: Callable[[], Awaitable[None]], number: int) -> None:
    async def tried() -> None:
        await attempt()

    with pytest.raises(OSError, match=r"127\.0\.0\.1") as failed:
        asyncio.run(tried())
    assert why(failed.value) == os.strerror(number)


def test_errors_that_are_numbered_otherwise_keep_their_words(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(ssl.SSLError) as failed:
        ssl.create_default_context(cafile=str(tmp_path / "empty"))
    assert "certificate" in why(failed.value)
    assert why(socket.gaierror(socket.EAI_NONAME, "Name or service not known")) == "Name or service not known"


def test_what_has_no_words_is_told_by_its_name() -> None:
    assert why(TimeoutError()) == "TimeoutError"
    assert why(OSError("a\nb")) == "a\\nb"
    assert why(OSError("no number", "but words")) == "but words"
    assert why(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")) == "it is not text in UTF-8"


def worded(tree: ast.AST) -> Iterator[int]:
    """The lines of what words an error of the operating system otherwise than by `why`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "strerror":
            yield node.lineno
        if isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            caught = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
            if "OSError" in caught:
                yield from (node.lineno for told in ast.walk(node) if _tells(told, node.name))


def _tells(node: ast.AST, name: str) -> bool:
    told: ast.expr | None = None
    if isinstance(node, ast.FormattedValue):
        told = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
        told = next(iter(node.args), None)
    return isinstance(told, ast.Name) and told.id == name


def test_every_error_of_the_system_is_worded_in_one_place() -> None:
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    found = {file.relative_to(ROOT).as_posix() for file in files if any(worded(ast.parse(file.read_text())))}
    assert found == {"worker/base/errors.py"}


@pytest.mark.parametrize("told", ["f'{error}'", "str(error)", "error.strerror"])
def test_another_wording_is_found(told: str) -> None:
    assert list(worded(ast.parse(f"try: pass\nexcept (ValueError, OSError) as error:\n    print({told})")))
