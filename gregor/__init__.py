"""Gregor, a distributed web crawler.

``gregor.processing`` is what plug-ins import; it stays. Everything else may move between two versions.

``worker``, ``search``, ``partitioner`` and ``schemas`` beside this file are symbolic links to the folders of those
names at the top of the checkout: there the code lies, and here is the name that it is imported by, in a checkout as in
a wheel, by interpreters as by type checkers. A checkout without symbolic links (git's ``core.symlinks=false``) has
small text files in their place, and cannot be used.
"""

import sys
from importlib.metadata import version
from pathlib import Path

if not (Path(__file__).parent / "worker").is_dir():
    sys.tracebacklimit = 0  # where in which file the import stands helps nobody
    raise ImportError(
        f"{Path(__file__).parent}/worker is no symbolic link: run `git config core.symlinks true` and "
        "`git checkout -- gregor` in the checkout (on Windows with Developer Mode on)"
    )

__version__ = version("gregor-crawler")
