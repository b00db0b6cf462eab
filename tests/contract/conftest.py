"""Every case runs over every engine, and again with a reopen in its middle."""

from pathlib import Path

import pytest

from tests.contract.engines import FACTORIES
from tests.contract.world import World


@pytest.fixture(params=[False, True], ids=["plain", "reopen"])
def reopens(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=list(FACTORIES))
def world(request: pytest.FixtureRequest, reopens: bool, tmp_path: Path) -> World:
    return World(FACTORIES[request.param](tmp_path), reopens=reopens)
