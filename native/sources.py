"""Third-party sources: fetched once, by the versions and hashes of sources.txt, and unpacked below build/."""

import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
PINNED = HERE / "sources.txt"
UNPACKED = HERE / "build/sources"


def pinned() -> dict[str, str]:
    """Distribution → version."""
    lines = (line.split()[0] for line in PINNED.read_text("ascii").splitlines() if line and not line.startswith("#"))
    return dict(line.split("==") for line in lines)


def unpacked() -> dict[str, Path]:
    """Distribution → the folder of its sources. Raises `subprocess.CalledProcessError` if they can't be had."""
    folders = {name: UNPACKED / f"{name}-{version}" for name, version in pinned().items()}
    if not all((folder / "PKG-INFO").exists() for folder in folders.values()):
        _fetch(list(folders.values()))
    return folders


def _fetch(folders: list[Path]) -> None:
    archives = UNPACKED / "archives"
    options = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--require-hashes", "--quiet")
    pip = (sys.executable, "-m", "pip", "download", "--disable-pip-version-check", *options)
    subprocess.run((*pip, "--dest", str(archives), "--requirement", str(PINNED)), check=True)
    for folder in folders:
        with tarfile.open(archives / f"{folder.name}.tar.gz") as archive:
            archive.extractall(UNPACKED, filter="data")
