"""How a process of our own that runs Python is begun: with our modules, and with none of the folder that one is in.

`python -m` puts the working directory first on its path: any file may lie there, as of a site that was mirrored.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import gregor


def python(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """The command line that runs a module."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What of an environment the process gets, and where it finds what this one has found: `python -m gregor` may have
    been typed where gregor lies, and PYTHONPATH may name packages. What is relative in it is left out."""
    home = str(Path(gregor.__file__).absolute().parents[1])
    named = (place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if Path(place).is_absolute())
    return {**inherited, "PYTHONPATH": os.pathsep.join((home, *named))}
