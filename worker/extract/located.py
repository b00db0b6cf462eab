"""A file of tables, TOML or YAML, with the line at which each key stands: for one line that says what is wrong."""

import re
import tomllib
from bisect import bisect_left
from pathlib import Path
from typing import Any, Final

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line

ValuePath = tuple[str | int, ...]
"""The keys and indices that lead to a value."""

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
_PART: Final = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")
_YAML: Final = (".yaml", ".yml")
_MOST: Final = 4 << 20
"""Bytes of a rules file that are read: beyond it is no such file."""
_NESTED: Final = 64
_TEXT: Final = "tag:yaml.org,2002:str"


class Located:
    """What a file says, and where."""

    def __init__(self, path: Path, data: dict[str, Any], lines: dict[ValuePath, int]) -> None:
        self.path = path
        self.data = data
        self._lines = lines

    def line(self, place: ValuePath) -> int:
        """The line, from 1, at which a value stands, or what it is in as far as that is known."""
        while place and place not in self._lines:
            place = place[:-1]
        return self._lines.get(place, 1)

    def refuse(self, place: ValuePath, reason: str) -> BadInput:
        """What a person is told of a value that cannot be used."""
        return BadInput(f"{one_line(str(self.path))}, line {self.line(place)}: {reason}")


def load(path: Path) -> Located:
    """Read a file: YAML by its name (.yaml, .yml), else TOML. Raises `BadInput`, with the line where there is one."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST + 1)
        if len(raw) > _MOST:
            raise BadInput(f"cannot read {one_line(str(path))}: it has more than {_MOST >> 20} MiB")
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{one_line(str(path))}, line {line}: it is not text in UTF-8") from None
    except OSError as error:
        raise BadInput(f"cannot read {one_line(str(path))}: {why(error)}") from None
    return _yaml(path, text) if path.suffix.lower() in _YAML else _toml(path, text)


def _toml(path: Path, text: str) -> Located:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = at[1] if at else str(text.count("\n") + 1)
        reason = str(error)[: at.start()] if at else str(error).removesuffix(" (at end of document)")
        raise BadInput(f"{one_line(str(path))}, line {line}: it is no TOML: {one_line(reason)}") from None
    except RecursionError:
        line = bisect_left(range(text.count("\n") + 1), True, key=lambda last: _is_too_deep(text, last)) + 1
        raise BadInput(f"{one_line(str(path))}, line {line}: it is nested too deep") from None
    return Located(path, data, _toml_lines(text))


def _is_too_deep(text: str, last: int) -> bool:
    """Whether TOML is nested too deep in its lines up to one, from 0."""
    try:
        tomllib.loads("".join(text.splitlines(keepends=True)[: last + 1]))
    except (RecursionError, tomllib.TOMLDecodeError) as error:  # most have no end there
        return isinstance(error, RecursionError)
    return False


def _toml_lines(text: str) -> dict[ValuePath, int]:
    """Where the tables and keys of a valid TOML document stand; those within inline tables are in their line."""
    lines: dict[ValuePath, int] = {}
    counts: dict[ValuePath, int] = {}
    table: ValuePath = ()
    quote = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not quote:
            if header := _HEADER.match(line):
                table = _table(header[2], counts, is_array=header[1] == "[[")
                lines.setdefault(table, number)
            elif key := _KEY.match(line):
                lines.setdefault((*table, *_parts(key[1])), number)
        quote = _open_quote(line, quote)
    return lines


def _parts(dotted: str) -> ValuePath:
    return tuple(next(filter(None, part.groups()), "") for part in _PART.finditer(dotted))


def _table(dotted: str, counts: dict[ValuePath, int], *, is_array: bool) -> ValuePath:
    """The place that a header opens: names, and after those of arrays the index of their last element."""
    place: ValuePath = ()
    names = _parts(dotted)
    for name in names[:-1]:
        place = (*place, name)
        if place in counts:
            place = (*place, counts[place])
    place = (*place, names[-1])
    if is_array:
        counts[place] = counts.get(place, -1) + 1
        place = (*place, counts[place])
    return place


def _open_quote(line: str, quote: str) -> str:
    """The quotes of a text over several lines that is open behind a line."""
    for marks in re.findall(r'"""|\'\'\'', line):
        if not quote:
            quote = marks
        elif quote == marks:
            quote = ""
    return quote


def _yaml(path: Path, text: str) -> Located:
    try:
        import yaml
    except ModuleNotFoundError:
        raise BadInput(
            f"{one_line(str(path))}: rules in YAML need a package more: pip install 'gregor-crawler[extract]'"
        ) from None
    lines: dict[ValuePath, int] = {}
    try:
        _check_yaml(path, text, yaml)
        _yaml_lines(yaml.compose(text, Loader=yaml.SafeLoader), (), lines, yaml)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(f"{one_line(str(path))}, line {line}: it is no YAML: {one_line(str(error.problem))}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadInput(f"{one_line(str(path))}, line {line}: it is no YAML: {one_line(str(error))}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(f"{one_line(str(path))}: it is no YAML: {one_line(str(error))}") from None
    if not isinstance(data, dict):
        raise BadInput(f"{one_line(str(path))}, line 1: it has no table: it begins with `item:` and a list")
    return Located(path, data, lines)


def _check_yaml(path: Path, text: str, yaml: Any) -> None:
    """Raises `BadInput` for what would be read again and again, or not to its end, before anything of it is made."""
    begin = (
        yaml.BlockMappingStartToken,
        yaml.BlockSequenceStartToken,
        yaml.FlowMappingStartToken,
        yaml.FlowSequenceStartToken,
    )
    end = yaml.BlockEndToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken
    depth = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        depth += isinstance(token, begin) - isinstance(token, end)
        if isinstance(token, yaml.AliasToken):
            problem = "aliases (*name) are not read: write the value again"
        elif depth > _NESTED:
            problem = "it is nested too deep"
        else:
            continue
        raise BadInput(f"{one_line(str(path))}, line {token.start_mark.line + 1}: {problem}")


def _yaml_lines(node: Any, place: ValuePath, lines: dict[ValuePath, int], yaml: Any) -> None:
    """Where the keys stand; a key that comes twice in one table is an error of the file."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = (*place, str(key.value))
            if key.tag != _TEXT:
                said = one_line(str(key.value), 100) if isinstance(key, yaml.ScalarNode) else "what stands here"
                raise yaml.MarkedYAMLError(problem=f"{said} is no text as a key: quote it", problem_mark=key.start_mark)
            if below in lines:
                raise yaml.MarkedYAMLError(problem=f"{key.value} stands twice", problem_mark=key.start_mark)
            lines[below] = key.start_mark.line + 1
            _yaml_lines(value, below, lines, yaml)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[(*place, index)] = value.start_mark.line + 1
            _yaml_lines(value, (*place, index), lines, yaml)
