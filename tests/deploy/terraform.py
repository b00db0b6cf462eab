"""Terraform's roots, copied and applied with the stand-in provider: see docs/deployment.md for what that proves."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.deploy.stand_in import GIVEN as STAND_IN
from tests.deploy.stand_in import extended
from tests.deploy.tools import ROOT, missing, must, run

PASSWORD = "0123456789abcdefXY"
SETTINGS = {"delay": 2.5, "scope": "domain", "stop_grace": 20}
GIVEN: dict[str, Any] = {
    "user_agent": "test/1.0 (+https://example.org/bot)",
    "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/gregor:0.1.0",
    "redis_password": PASSWORD,
    "mail": ["crawl@example.org"],
    "settings": SETTINGS,
}
ON_EC2: dict[str, Any] = {"repository_arn": "arn:aws:ecr:us-east-1:123456789012:repository/gregor"}
WITH_SEARCH: dict[str, Any] = {"opensearch_nodes": 3, "index_workers": 2}
WITH_DOMAIN: dict[str, Any] = {"opensearch_domain_nodes": 3, "opensearch_password": f"{PASSWORD}!", "index_workers": 2}
EXAMPLES: dict[str, dict[str, Any]] = {
    "small": GIVEN | ON_EC2,
    "cluster": GIVEN | ON_EC2 | WITH_SEARCH,
    "kubernetes": GIVEN | WITH_DOMAIN,
}
"""The roots, and variables for each."""


class Applied(NamedTuple):
    """A root after apply: its name, its folder, all its resources, its outputs."""

    name: str
    folder: Path
    resources: list[dict[str, Any]]
    outputs: dict[str, Any]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The values of all resources of a type."""
        return [one["values"] for one in self.resources if one["type"] == kind]

    def boots(self, kind: str) -> list[str]:
        """Boot scripts of the machines whose name has ``kind`` in it."""
        return [one["user_data"] for one in self.of("aws_launch_template") if kind in one["name_prefix"]]


def copied(to: Path) -> Path:
    """A copy of the files, into which init may write. Skips where the stand-in cannot run."""
    if not STAND_IN.exists():
        pytest.skip(f"{STAND_IN} is not there")
    if not (shutil.which("terraform") and shutil.which("go")):
        missing("terraform and go")
    return Path(shutil.copytree(ROOT / "terraform", to, dirs_exist_ok=True))


def unguarded(folder: Path) -> Path:
    """The same folder, in which everything may be destroyed, as docs/deployment.md says for the end of a crawl."""
    for path in folder.glob("modules/*/*.tf"):
        path.write_text(path.read_text().replace("prevent_destroy = true", "prevent_destroy = false"))
    return folder


def tf(folder: Path, *words: str, variables: Mapping[str, object] | None = None) -> Any:
    """Run terraform in a folder, with the given variables."""
    if variables is not None:
        (folder / "given.auto.tfvars.json").write_text(json.dumps(variables))
    # The first init builds the stand-in.
    return run(
        extended(), f"-chdir={folder}", *words, timeout=400, env={"TF_IN_AUTOMATION": "1", "TF_CLI_ARGS": "-no-color"}
    )


def initialised(folder: Path) -> Path:
    """The folder of a root or module, after init."""
    must(tf(folder, "init"))
    return folder


def beside(folder: Path, name: str) -> Path:
    """A copy of an initialised root with its state, where the paths to its modules lead."""
    return Path(shutil.copytree(folder, folder.with_name(f"{folder.name}-{name}"), symlinks=True))


def applied(folder: Path, variables: Mapping[str, object]) -> Applied:
    """Apply a root that is initialised."""
    must(tf(folder, "apply", "-auto-approve", variables=variables))
    state = json.loads(must(tf(folder, "show", "-json")))["values"]
    outputs = {name: output["value"] for name, output in state["outputs"].items()}
    return Applied(folder.name, folder, list(_resources(state["root_module"])), outputs)


def _resources(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from module.get("resources", ())
    for child in module.get("child_modules", ()):
        yield from _resources(child)
