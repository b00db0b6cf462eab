"""Where exports go: files here, or objects elsewhere by fsspec (``s3://`` and whatever is installed for it).

A file gets its name when it is whole; whatever ends an export before leaves nothing of it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import mask_user_info, one_line
from gregor.worker.base.replaced import PartFile

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|(?:[a-z]+::)+[a-z]", re.ASCII)
_OWN: Final = ("builtins", "gregor", "pyarrow", "sqlite3", "_duckdb", "duckdb", "asyncio")
"""Packages whose errors say nothing of where something is written."""
_SPREADSHEETS: Final = (".xlsx", ".xls", ".ods", ".xlsm")


class NewFile(Protocol):
    """A file that is being written."""

    @property
    def file(self) -> BinaryIO:
        """What takes its bytes."""

    def keep(self) -> None:
        """It is whole: give it its name."""

    def drop(self) -> None:
        """Leave nothing of it, kept or not. May be repeated."""


class OutputPlace(Protocol):
    """A folder, here or elsewhere."""

    def create(self, name: str) -> NewFile:
        """A new file of this name, which may have folders in it; it takes the place of one that is there."""

    def remove(self, name: str) -> bool:
        """Remove the file of this name; false where there is none."""


def is_remote(path: str) -> bool:
    """Whether a path is a URL of another file system."""
    return _SCHEME.match(path) is not None


def refuse_spreadsheet(path: str) -> None:
    """Raises `BadInput` for the name of a spreadsheet, which nothing here writes."""
    if path.lower().endswith(_SPREADSHEETS):
        csv = path[: path.rindex(".")] + ".csv"
        raise BadInput(f"spreadsheets are not written: write CSV, which they open, as -o {one_line(csv)}")


class _Local:
    def __init__(self, target: Path) -> None:
        self._target = target
        self._part = PartFile(target)
        self._kept = False
        self.file = self._part.file

    def keep(self) -> None:
        self._part.keep()
        self._kept = True

    def drop(self) -> None:
        self._part.drop()
        if self._kept:
            with suppress(OSError):  # where nothing can be written there is nothing to remove
                self._target.unlink(missing_ok=True)


class LocalFolder:
    """`OutputPlace` in the file system. The folders of a name are made, the place itself too then."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self, name: str) -> NewFile:
        target = self._path / name
        if "/" in name:
            target.parent.mkdir(parents=True, exist_ok=True)
        return _Local(target)

    def remove(self, name: str) -> bool:
        target = self._path / name
        is_there = target.is_file()
        target.unlink(missing_ok=True)
        return is_there


class _Object:
    """A file of fsspec that exists from when it is committed on."""

    def __init__(self, system: Any, path: str) -> None:
        self._system = system
        self._path = path
        self._kept = self._over = False
        self.file = cast(BinaryIO, system.open(path, "wb", autocommit=False))

    def keep(self) -> None:
        self.file.close()
        cast(Any, self.file).commit()
        self._kept = True

    def drop(self) -> None:
        if self._over:
            return
        self._over = True
        with suppress(Exception):
            if self._kept:
                self._system.rm_file(self._path)
            else:
                cast(Any, self.file).discard()
        with suppress(Exception):  # else what is left of it would be sent when nobody holds it any more
            cast(Any, self.file).closed = True


class Remote:
    """`OutputPlace` behind fsspec."""

    def __init__(self, url: str) -> None:
        """Raises `BadInput` where the package that it needs is missing, or nobody knows such a URL."""
        try:
            import fsspec  # heavy: only where it is written to

            self._system, self._path = fsspec.core.url_to_fs(url.rstrip("/"))
        except ModuleNotFoundError:
            raise BadInput(f"{_shown(url)} needs packages more: pip install 'gregor-crawler[export]'") from None
        except ImportError as error:
            advice = "pip install 'gregor-crawler[export]'" if url.startswith(("s3:", "s3a:")) else why(error)
            raise BadInput(f"{_shown(url)} needs a package more: {advice}") from None
        except ValueError as error:
            raise BadInput(f"cannot write {_shown(url)}: {why(error)}") from None

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return bool(self._system.isfile(f"{self._path}/{name}"))

    def create(self, name: str) -> NewFile:
        path = f"{self._path}/{name}"
        if getattr(self._system, "local_file", False) or self._system.protocol in ("memory",):
            self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        return _Object(self._system, path)

    def remove(self, name: str) -> bool:
        if is_there := self.has(name):
            self._system.rm_file(f"{self._path}/{name}")
        return is_there


def split(path: str) -> tuple[str, str]:
    """The folder of a file elsewhere, and its name. Raises `BadInput` where there is none."""
    scheme, _, rest = path.rpartition("://")
    if "/" not in rest or not rest.rpartition("/")[2]:
        raise BadInput(f"{_shown(path)} names no file: write {one_line(scheme)}://BUCKET/FILE")
    folder, _, name = path.rpartition("/")
    return folder, name


def place_of(path: str) -> OutputPlace:
    """The folder that a path names."""
    return Remote(path) if is_remote(path) else LocalFolder(Path(path))


def is_file(path: str) -> bool:
    """Whether there is a file, or an object. Raises `BadInput` where that cannot be known."""
    if not is_remote(path):
        return Path(path).is_file()
    folder, name = split(path)
    with writing(path):
        return Remote(folder).has(name)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Where something is written to a path: whatever fails of it is `BadInput`, one line."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot write {_shown(path)}: {why(error)}") from None
    except NotImplementedError:
        raise BadInput(f"cannot write {_shown(path)}: {path.partition(':')[0]} is only read") from None
    except Exception as error:
        if not is_remote(path) or type(error).__module__.partition(".")[0] in _OWN or isinstance(error, BadInput):
            raise
        raise BadInput(f"cannot write {_shown(path)}: {why(error)}") from None


def _shown(path: str) -> str:
    return one_line(mask_user_info(path), 300)
