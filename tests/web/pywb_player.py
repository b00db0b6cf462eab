"""pywb, which plays archives as the Internet Archive does, in an environment of its own: it wants an older redis.

The environment lies below ``$XDG_CACHE_HOME`` (``~/.cache``) and is made once, by the package index that pip and uv are
set up for.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

VERSION: Final = "2.10.0"
_SETUPTOOLS: Final = "setuptools<80"
"""pywb asks for `pkg_resources`, which later ones have no more."""
_INSTALL_SECONDS: Final = 300
_START_SECONDS: Final = 60
COLLECTION: Final = "crawl"


def environment() -> Path:
    """The folder of its programs. Skips the test where it can't be installed, as without a network."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gregor-tests"
    home = cache / f"pywb-{VERSION}-{sys.version_info.major}.{sys.version_info.minor}"
    if not (home / "bin" / "wb-manager").exists():
        made = home.with_name(f"{home.name}.{os.getpid()}")
        try:
            _install(made)
        except (subprocess.SubprocessError, OSError) as error:
            shutil.rmtree(made, ignore_errors=True)
            pytest.skip(f"pywb {VERSION} cannot be installed: {error}")
        shutil.rmtree(home, ignore_errors=True)
        made.rename(home)
    return home / "bin"


def _install(home: Path) -> None:
    packages = [f"pywb=={VERSION}", _SETUPTOOLS]
    subprocess.run([sys.executable, "-m", "venv", home], check=True, capture_output=True, timeout=_INSTALL_SECONDS)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
    subprocess.run(pip, check=True, capture_output=True, timeout=_INSTALL_SECONDS)


@contextmanager
def playing(archive: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """Plays a WARC file as the collection `COLLECTION` while the block runs: address and port of the server."""
    python = str(environment() / "python")
    manager = "from pywb.manager.manager import main_wrap_exc; main_wrap_exc()"
    for words in (["init", COLLECTION], ["add", COLLECTION, str(archive)]):
        subprocess.run([python, "-c", manager, *words], cwd=folder, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    player = "from pywb.apps.cli import wayback; wayback()"
    words = [python, "-c", player, "--bind", "127.0.0.1", "--port", str(port)]
    with (folder / "pywb.log").open("wb") as log:
        server = subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)
    try:
        _listening(server, port)
        yield "127.0.0.1", port
    finally:
        server.terminate()
        server.wait()


def _listening(server: "subprocess.Popen[bytes]", port: int) -> None:
    ends = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert server.poll() is None and time.monotonic() < ends, "pywb does not start, see pywb.log"
            time.sleep(0.1)
