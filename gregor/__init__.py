"""Gregor, a distributed web crawler.

``gregor.open`` reads a crawl, ``gregor.Crawl`` is one that runs (docs/library.md), ``gregor.processing`` is what
plug-ins import; these stay, and ``gregor.BadInput``, which they raise. Everything else may move between two versions.

``worker``, ``search``, ``partitioner`` and ``schemas`` beside this file are symbolic links to the folders of those
names at the top of the checkout: there the code lies, and here is the name that it is imported by, in a checkout as in
a wheel, by interpreters as by type checkers. A checkout without symbolic links (git's ``core.symlinks=false``) has
small text files in their place, and cannot be used.
"""

import sys
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if not (Path(__file__).parent / "worker").is_dir():
    sys.tracebacklimit = 0  # where in which file the import stands helps nobody
    raise ImportError(
        f"{Path(__file__).parent}/worker is no symbolic link: run `git config core.symlinks true` and "
        "`git checkout -- gregor` in the checkout (on Windows with Developer Mode on)"
    )

__version__ = "0.1.0"
"""Written here, where the wheel takes it from: to look it up among what is installed costs a tenth of a start."""

if TYPE_CHECKING:
    from gregor.worker.base.errors import BadInput as BadInput
    from gregor.worker.library.archive import Archive
    from gregor.worker.library.crawl import Crawl as Crawl


def open(data: str | PathLike[str] = "data", *, config: str | None = None, **settings: object) -> "Archive":
    """Read the crawl in a data folder, or with ``engine="cluster"`` that on servers, beside its workers or after them.

    ``settings``: by the names of the configuration, as after ``--set``; ``config``: a config file. To be used in a
    ``with`` statement. Raises `BadInput` where there is no crawl, or for a setting that cannot be used.
    """
    from gregor.worker.library.archive import Archive  # heavy: whoever imports this package need not read a crawl

    return Archive(data, settings, config)


def __getattr__(name: str) -> object:
    if name == "BadInput":
        from gregor.worker.base.errors import BadInput

        return BadInput
    if name == "Crawl":
        from gregor.worker.library.crawl import Crawl

        return Crawl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
