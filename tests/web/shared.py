"""Where the shared folder of recorded webs and published cases is, for tests that are skipped without it."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("GREGOR_SHARED", Path(__file__).resolve().parents[2].parent / "shared"))


def needs(relative: str) -> pytest.MarkDecorator:
    """Skips a test, visibly, when a part of the shared folder is missing."""
    path = SHARED / relative
    return pytest.mark.skipif(not path.exists(), reason=f"{path} is missing (GREGOR_SHARED names the folder)")
