"""docs/operations.md and docs/runbook.md: their commands are commands, its settings settings, paths are served."""

import re
import shlex
from pathlib import Path

import pytest

from gregor.worker.api.endpoints import ENDPOINTS
from gregor.worker.commands.cli import parser
from gregor.worker.commands.common import settings
from gregor.worker.config.settings import Config
from gregor.worker.observe.bottleneck import ADVICE

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
RUNBOOK = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text()
SHELL = "\n".join(line[4:] for line in PAGE.splitlines() if line.startswith("    "))
COMMANDS = [line for line in SHELL.replace("\\\n", " ").splitlines() if line.startswith("gregor ")]
COMMANDS += re.findall(r"`(gregor [^`]+)`", PAGE + RUNBOOK)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_is_one(line: str) -> None:
    words = shlex.split(line)[1:]
    arguments = parser(words[0]).parse_args(words)
    assert settings(arguments).config


def test_every_setting_is_one() -> None:
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE + RUNBOOK)) | set(re.findall(r"--set ([a-z_]+)=", PAGE))
    others = {name for name in named if name.startswith("gregor_")} | {"runbook_url"}  # metrics, labels, values
    assert named - others <= set(Config.__struct_fields__)


def test_every_path_is_served_and_told() -> None:
    told = set(re.findall(r"`(/[a-z0-9/.]*)", PAGE))
    served = {one.path for one in ENDPOINTS} | {"/", "/api/v1/openapi.json"}
    assert {path for path in told if not path.startswith("/etc")} <= served | {"/api/v1/orders/"}
    assert {one.path for one in ENDPOINTS if "/api/" not in one.path} <= told


def test_every_limit_is_explained() -> None:
    table = PAGE[PAGE.index("| limited by") : PAGE.index("## Steer")]
    named = set(re.findall(r"\w+", " ".join(row.split("|")[1] for row in table.splitlines() if row.startswith("|"))))
    assert set(ADVICE) - {"starting"} <= named
