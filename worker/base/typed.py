"""How the command is typed here: hints name it so that they can be copied."""

import re
import shutil
import sys
from pathlib import Path
from typing import Final

_HINT: Final = re.compile(r"`gregor (?=[a-z])")
_MODULES: Final = (("__main__.py", "gregor"), ("__main__.py", "demo"))
"""Files and folders of what `python -m` starts."""


def as_typed(text: str) -> str:
    """A text for a person at this machine, the hints in it (`gregor COMMAND …` in backquotes) as they work here."""
    return _HINT.sub(f"`{command()} ", text) if "`gregor " in text else text


def command(started: str | None = None, python: str | None = None, here: Path | None = None) -> str:
    """What to type for "gregor": by how this process was ``started`` (its ``argv[0]``), and by which ``python``.

    ``here`` is the working directory.
    """
    place = Path(started if started is not None else sys.argv[0] if sys.argv else "")
    if place.name != "gregor" and (place.name, place.parent.name) not in _MODULES:
        return "gregor"  # not by a person: a test, a program of its own
    interpreter, here = Path(python or sys.executable), here or Path.cwd()
    script = place if place.name == "gregor" else interpreter.with_name("gregor")
    in_path = shutil.which("gregor")
    if in_path is not None and Path(in_path).absolute() == script.absolute():
        return "gregor"
    return _near(script, here) if script.is_file() else f"{_near(interpreter, here)} -m gregor"


def _near(path: Path, here: Path) -> str:
    """A path as one types it in a folder: without what leads to the folder."""
    absolute = path.absolute()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)
