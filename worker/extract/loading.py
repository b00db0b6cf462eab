"""Plug-ins as they are found: made of FILE.py:CLASS or an entry point, with the place that messages about them name."""

import ast
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Final

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line

_UNREADABLE: Final = (OSError, SyntaxError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Found:
    """A plug-in that was made. ``source``: as it was named; ``place``: for people, with the line if that is known."""

    source: str
    place: str
    plugin: Any

    @property
    def name(self) -> str:
        """Its own, or that of its class. Raises `BadInput`."""
        name = self.text("name", type(self.plugin).__name__)
        if not name.strip():
            raise BadInput(f"{self.place}: name wants a text")
        return name

    def is_a(self, kind: Any) -> bool:
        """Whether it has what a protocol asks for. Raises `BadInput`."""
        return bool(self._asked("it", lambda: isinstance(self.plugin, kind)))

    def text(self, key: str, default: str) -> str:
        """A text that it may have. Raises `BadInput`."""
        return str(self._asked(key, lambda: str(getattr(self.plugin, key, default))))

    def texts(self, key: str) -> tuple[str, ...]:
        """A text, or several, that it may have. Raises `BadInput`."""
        texts = self._asked(key, lambda: getattr(self.plugin, key, ()))
        if isinstance(texts, str):
            return (texts,)
        if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
            raise BadInput(f"{self.place}: {key} wants a text, or several")
        return tuple(texts)

    def _asked(self, what: str, answer: Callable[[], Any]) -> Any:
        try:
            return answer()
        except (Exception, SystemExit) as error:
            raise BadInput(f"{self.place}: {what}: {type(error).__name__}: {one_line(str(error), 300)}") from error


def from_point(point: EntryPoint) -> Found:
    """That of an entry point. Raises `BadInput`."""
    place = f"plug-in {point.name!r} ({point.value})"
    return Found(point.name, place, _made(point.load, lambda _: place))


def from_file(text: str) -> Found:
    """That of FILE.py:CLASS. Raises `BadInput`."""
    name, separator, attribute = text.rpartition(":")
    if not separator or not name or not attribute.isidentifier():
        raise BadInput(f"plug-in {one_line(text)!r}: write FILE.py:CLASS")
    if not Path(name).is_file():
        raise BadInput(f"plug-in {one_line(text)}: there is no file {one_line(name)}")

    def attribute_of() -> Any:
        spec = importlib.util.spec_from_file_location(f"gregor_plugin_{Path(name).stem}", Path(name).absolute())
        if spec is None or spec.loader is None:
            raise ImportError("it is no file of Python: its name ends in .py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # where dataclasses look for it
        spec.loader.exec_module(module)
        if not hasattr(module, attribute):
            classes = [_with_line(name, key) for key, value in vars(module).items() if isinstance(value, type)]
            raise AttributeError(f"it has no {attribute}; there are {', '.join(classes) or 'no classes'}")
        return getattr(module, attribute)

    def place(error: BaseException | None) -> str:
        line = (error and _failed_at(error, name)) or _defined_at(name, attribute)
        return f"plug-in {one_line(text)}{f', line {line}' if line else ''}"

    return Found(text, place(None), _made(attribute_of, place))


def _made(loaded: Callable[[], Any], place: Callable[[BaseException], str]) -> Any:
    """A class, called without arguments, or an instance."""
    try:
        plugin = loaded()
        return plugin() if isinstance(plugin, type) else plugin
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {one_line(str(error), 300)}"
        raise BadInput(f"{place(error)} cannot be loaded: {reason}") from error


def _failed_at(error: BaseException, file: str) -> int | None:
    """The line of the file that it came from."""
    if isinstance(error, SyntaxError):
        before_null, null, _ = Path(file).read_bytes().partition(b"\0")  # of which Python says no line
        return error.lineno or (before_null.count(b"\n") + 1 if null else None)
    absolute = str(Path(file).absolute())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == absolute]
    return lines[-1] if lines else None


def _with_line(file: str, attribute: str) -> str:
    line = _defined_at(file, attribute)
    return f"{attribute} (line {line})" if line else attribute


def _defined_at(file: str, attribute: str) -> int | None:
    """The line of the file that gives the attribute its last meaning; None where that cannot be seen."""
    try:
        statements = ast.parse(Path(file).read_bytes()).body
    except _UNREADABLE:
        return None
    return next((each.lineno for each in reversed(statements) if attribute in _bound(each)), None)


def _bound(statement: ast.stmt) -> set[str]:
    """Names that a statement of a module may give a meaning."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {statement.name}
    parts = [*ast.walk(statement)]
    imported = {part.asname or part.name for part in parts if isinstance(part, ast.alias)}
    return imported | {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
