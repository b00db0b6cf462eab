"""How the user who runs a process opens its API: by a token of their own, on a loopback address.

Where no token is configured there, one is minted and kept in the data folder (of a crawl on servers: in a folder of the
user's for what runs), readable by that user alone; beside it stands where the API is and of which process, so that
commands of the same user find both. A token is sent only to a process that still runs.
"""

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.replaced import replaced
from gregor.worker.config.api import address, is_loopback
from gregor.worker.config.settings import Config, replace

_TOKEN: Final = "console-token"
_PLACE: Final = "console.json"


class ApiPlace(msgspec.Struct, frozen=True):
    """Where an API is, and the process that serves it: its id and when it began, in ticks since the machine's start."""

    url: str
    pid: int
    born: str


def folder_of(config: Config) -> Path:
    """Where token and place are kept."""
    if config.on_one_machine:
        return Path(config.data)
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"gregor-{os.getuid()}" / config.crawl


def has_tokens(config: Config) -> bool:
    """Whether any token is configured."""
    names = [f"{role}_token_{source}" for role in ("viewer", "operator") for source in ("env", "file")]
    return any(getattr(config, name) for name in names)


def with_token(config: Config) -> Config:
    """The configuration with a token of the user's own, if it listens on loopback and has none. Raises `BadInput`.

    Where everybody may read, it runs without one in a folder in which no token is safe: nobody gives orders there.
    """
    if not config.listen or has_tokens(config) or not is_loopback(address(config)[0]):
        return config
    folder = folder_of(config)
    if config.anonymous_read and not _is_safe(folder):
        return config
    return replace(config, operator_token_file=str(_minted(folder)))


def key(config: Config) -> str:
    """What follows the URL of an API to open its console, where the token is the user's own: see `with_token`."""
    path = folder_of(config) / _TOKEN
    return f"#token={path.read_text().strip()}" if config.operator_token_file == str(path) else ""


def place_and_token(config: Config) -> tuple[str, str]:
    """The URL and the token of an API of this user's that runs; both empty when none does."""
    folder = folder_of(config)
    try:
        place = msgspec.json.decode((folder / _PLACE).read_bytes(), type=ApiPlace)
        token = (folder / _TOKEN).read_text("ascii").strip() if (folder / _TOKEN).exists() else ""
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return "", ""
    return (place.url, token) if place.born and _born(place.pid) == place.born else ("", "")


def same(first: str, other: str) -> bool:
    """Whether two URLs are of the same loopback address, however it is written."""
    places = [urlsplit(url) for url in (first, other)]
    try:
        return places[0].port == places[1].port and all(is_loopback(place.hostname or "") for place in places)
    except ValueError:
        return False


@contextmanager
def announced(config: Config, url: str) -> Iterator[None]:
    """Let commands of the same user find the API while the block runs."""
    path = folder_of(config) / _PLACE
    place = ApiPlace(url, os.getpid(), _born(os.getpid()))
    with contextlib.suppress(OSError), replaced(path, 0o600) as file:  # else they have to be told by --api
        file.write(msgspec.json.encode(place))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if path.read_bytes() == msgspec.json.encode(place):  # not of one that came later
                path.unlink()


def _is_safe(folder: Path) -> bool:
    """Whether nobody but this user and root can put another token in the place of ours: a folder that is this user's,
    or a volume of root's that not everybody may write to. One that is not there yet will be ours."""
    try:
        status = folder.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return status.st_uid == os.getuid() or (status.st_uid == 0 and not status.st_mode & stat.S_IWOTH)


def _minted(folder: Path) -> Path:
    """The file with the token: what is there, else a new one."""
    path = folder / _TOKEN
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_safe(folder):
            raise BadInput(f"{folder} is not yours: set operator_token_file")
        if not path.is_file() or path.is_symlink() or not path.read_bytes().strip():
            with replaced(path, 0o600) as file:
                file.write(secrets.token_urlsafe(24).encode() + b"\n")
        path.chmod(0o600)
    except OSError as error:
        raise BadInput(
            f"no token for the console can be kept in {folder}: {why(error)}; set operator_token_file"
        ) from None
    return path


def _born(process: int) -> str:
    """When a process began; empty when it is gone. Tells it from a later one of the same id."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
