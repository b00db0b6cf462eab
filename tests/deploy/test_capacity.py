"""What `gregor plan` writes is what the chart's schema allows and renders, and what Terraform plans."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from gregor.worker.commands import cli
from tests.deploy.terraform import EXAMPLES, beside, tf
from tests.deploy.tools import ROOT, must, run

CHART = ROOT / "helm/gregor"


@pytest.mark.parametrize("pages", ["1e4", "1e6", "1e9"])
def test_the_chart_takes_what_is_planned(helm: Path, pages: str, tmp_path: Path) -> None:
    assert cli.main(["plan", "--pages", pages, "--days", "7", "--delay", "2.5", "--write", str(tmp_path)]) == 0
    values = tmp_path / "values.yaml"
    must(run(helm, "lint", CHART, "--strict", "-f", values, timeout=60))
    made = run(helm, "template", "crawl", CHART, "--kube-version", "1.33.0", "-f", values, timeout=60)
    resources = [one for one in yaml.safe_load_all(must(made)) if one]
    (workers,) = (one for one in resources if one["kind"] == "Deployment" and one["metadata"]["name"] == "crawl-gregor")
    terraform = json.loads((tmp_path / "terraform.tfvars.json").read_text())
    assert workers["spec"]["replicas"] == terraform["workers_min"]
    texts = [text for one in resources if one["kind"] == "ConfigMap" for text in one["data"].values()]
    configs = [found for text in texts if "partitions" in (found := _toml(text))]
    assert configs
    for config in configs:  # that of workers, and that of the init Job
        assert (config["partitions"], config["delay"]) == (terraform["partitions"], 2.5)


def test_terraform_takes_what_is_planned(examples: Callable[[str], Path]) -> None:
    folder = beside(examples("cluster"), "planned")
    assert cli.main(["plan", "--pages", "1e9", "--days", "7", "--write", str(folder)]) == 0
    must(tf(folder, "plan", "-out=planned", variables=EXAMPLES["cluster"]))
    planned = json.loads(must(tf(folder, "show", "-json", "planned")))["variables"]
    written = json.loads((folder / "terraform.tfvars.json").read_text())
    assert {name: planned[name]["value"] for name in written} == written


def _toml(text: str) -> dict[str, object]:
    """The settings in it, if it is TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
