"""How the command is typed here: hints name it so that they can be copied."""

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_HINT: Final = re.compile(r"`gregor (?P<words>[a-z][^`]*)`")
_MODULES: Final = (("__main__.py", "gregor"), ("__main__.py", "demo"))
"""Files and folders of what `python -m` starts."""
_WHICH: Final = ("--data", "--config")
"""Options that say which crawl is meant."""


def as_typed(text: str) -> str:
    """A text for a person at this machine, the hints in it (`gregor COMMAND …` in backquotes) as they work here.

    A hint is about the crawl that this process was told of: it has the options that say which.
    """
    if "`gregor " not in text:
        return text
    place = Path(sys.argv[0] if sys.argv else "")
    typed, options = command(), crawl_given(sys.argv[1:]) if _is_command(place) else []

    def hint(found: re.Match[str]) -> str:
        words = found["words"]
        wanted = [] if "--help" in words else [pair for pair in options if pair[0] not in words]
        missing = "".join(f" {option} {shlex.quote(value)}" for option, value in wanted)
        return f"`{typed} {words}{missing}`"

    return _HINT.sub(hint, text)


def crawl_given(words: Sequence[str]) -> list[tuple[str, str]]:
    """The options among a command's words that say which crawl is meant, each with its last value."""
    options: dict[str, str] = {}
    for word, following in zip(words, (*words, "")[1:], strict=True):
        option, assigned, value = word.partition("=")
        if option in _WHICH and (assigned or following):
            options[option] = value if assigned else following
    return list(options.items())


def command(started: str | None = None, python: str | None = None, here: Path | None = None) -> str:
    """What to type for "gregor": by how this process was ``started`` (its ``argv[0]``), and by which ``python``.

    ``here`` is the working directory.
    """
    place = Path(started if started is not None else sys.argv[0] if sys.argv else "")
    if not _is_command(place):
        return "gregor"  # not by a person: a test, a program of its own
    interpreter, here = Path(python or sys.executable), here or Path.cwd()
    script = place if place.name == "gregor" else interpreter.with_name("gregor")
    in_path = shutil.which("gregor")
    if in_path is not None and Path(in_path).absolute() == script.absolute():
        return "gregor"
    return _near(script, here) if script.is_file() else f"{_near(interpreter, here)} -m gregor"


def _is_command(place: Path) -> bool:
    return place.name == "gregor" or (place.name, place.parent.name) in _MODULES


def _near(path: Path, here: Path) -> str:
    """A path as one types it in a folder: without what leads to the folder."""
    absolute = path.absolute()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)
