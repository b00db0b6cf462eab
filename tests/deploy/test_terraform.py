"""Terraform's files through a whole life, offline: what they would make is closed, encrypted, no wider than needed.

The stand-in provider knows the real one's schema and no cloud: see docs/deployment.md for what that does not prove.
"""

import base64
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gregor.worker.config_sources import load
from tests.deploy import values_schema
from tests.deploy.tools import ROOT, SHARED, missing, must, run

TF = SHARED / "tools/terraform-offline/tf"
PASSWORD = "0123456789abcdefXY"
SETTINGS = {"delay": 2.5, "scope": "domain", "stop_grace": 20}
GIVEN = {
    "user_agent": "test/1.0 (+https://example.org/bot)",
    "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/gregor:0.1.0",
    "repository_arn": "arn:aws:ecr:us-east-1:123456789012:repository/gregor",
    "redis_password": PASSWORD,
    "mail": ["crawl@example.org"],
    "settings": SETTINGS,
}
# Actions and resources that may end in or be a star, and why.
WIDE = {
    "LogInToRegistry": "AWS knows no narrower resource for it",
    "Account": "in a key's policy the star is the key, and without it nobody could administer it",
    "LogsAndAlarms": "in a key's policy the star is the key",
    "AutoScaling": "in a key's policy the star is the key",
    "AutoScalingGrants": "in a key's policy the star is the key",
}


def tf(folder: Path, *words: str, timeout: float = 120, variables: Mapping[str, object] = GIVEN) -> Any:
    """Run terraform in a root with the given variables."""
    (folder / "given.auto.tfvars.json").write_text(json.dumps(variables))
    return run(TF, f"-chdir={folder}", *words, timeout=timeout)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files: init writes into them."""
    if not TF.exists():
        pytest.skip(f"{TF} is not there")
    if not (shutil.which("terraform") and shutil.which("go")):
        missing("terraform and go")
    path = tmp_path_factory.mktemp("terraform")
    return Path(shutil.copytree(ROOT / "terraform", path, dirs_exist_ok=True))


class Applied(NamedTuple):
    """A root after apply: its folder, all its resources, its outputs."""

    folder: Path
    resources: list[dict[str, Any]]
    outputs: dict[str, Any]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The values of all resources of a type."""
        return [one["values"] for one in self.resources if one["type"] == kind]


@pytest.fixture(scope="module", params=["small", "cluster"])
def applied(copy: Path, request: pytest.FixtureRequest) -> Iterator[Applied]:
    folder = copy / "examples" / request.param
    must(tf(folder, "init", timeout=400))  # the first one builds the stand-in
    must(tf(folder, "apply", "-auto-approve"))
    state = json.loads(must(tf(folder, "show", "-json")))["values"]
    outputs = {name: output["value"] for name, output in state["outputs"].items()}
    yield Applied(folder, list(_resources(state["root_module"])), outputs)
    must(tf(folder, "destroy", "-auto-approve"))


def _resources(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from module.get("resources", ())
    for child in module.get("child_modules", ()):
        yield from _resources(child)


def test_format(copy: Path) -> None:
    must(run("terraform", "fmt", "-check", "-recursive", "-diff", ROOT / "terraform", timeout=60))


def test_the_names_of_settings_are_the_configs() -> None:
    assert values_schema.NAMES_PATH.read_text() == values_schema.names(), "run python -m tests.deploy.values_schema"


def test_a_second_plan_is_empty(applied: Applied) -> None:
    must(tf(applied.folder, "validate"))
    must(tf(applied.folder, "plan", "-detailed-exitcode"))


def test_terraforms_own_tests(copy: Path) -> None:
    folder = copy / "examples/cluster"
    must(tf(folder, "init", timeout=400))
    must(tf(folder, "test", timeout=200))


def test_its_output_is_a_workers_config(applied: Applied, tmp_path: Path) -> None:
    path = tmp_path / "gregor.toml"
    path.write_text(applied.outputs["gregor_toml"])
    config = load(str(path), {}).config
    assert (config.engine, config.delay, config.scope, config.stop_grace) == ("cluster", 2.5, "domain", 20)
    assert config.kafka_security == "sasl_ssl"
    assert config.redis_tls
    assert {"redis_password_file", "viewer_token_file", "operator_token_file"} <= {
        name for name in config.__struct_fields__ if str(getattr(config, name)).startswith("/run/gregor/")
    }


def test_its_output_is_what_the_chart_takes(applied: Applied) -> None:
    allowed = values_schema.schema()["properties"]["config"]["properties"]
    assert set(applied.outputs["settings"]) <= set(allowed)


def test_nothing_is_open_to_the_world(applied: Applied) -> None:
    for rule in applied.of("aws_vpc_security_group_ingress_rule"):
        assert rule["referenced_security_group_id"]
        assert not rule.get("cidr_ipv4") and not rule.get("cidr_ipv6")
        assert rule["from_port"] == rule["to_port"]
    assert applied.of("aws_security_group_rule") == []
    for group in applied.of("aws_security_group"):
        assert not group.get("ingress")
    for subnet in applied.of("aws_subnet"):
        assert subnet["map_public_ip_on_launch"] is False
    for template in applied.of("aws_launch_template"):
        assert [one["associate_public_ip_address"] for one in template["network_interfaces"]] == ["false"]
        assert template["metadata_options"][0]["http_tokens"] == "required"
        assert template["metadata_options"][0]["http_put_response_hop_limit"] == 1
    (kafka,) = applied.of("aws_msk_cluster")
    connectivity = kafka["broker_node_group_info"][0]["connectivity_info"][0]
    assert connectivity["public_access"][0]["type"] == "DISABLED"
    assert kafka["client_authentication"][0]["unauthenticated"] is False


def test_all_is_encrypted(applied: Applied) -> None:
    (key,) = applied.of("aws_kms_key")
    assert key["enable_key_rotation"]
    for volume in applied.of("aws_ebs_volume"):
        assert volume["encrypted"] and volume["kms_key_id"] == key["arn"]
    for template in applied.of("aws_launch_template"):
        for mapping in template["block_device_mappings"]:
            assert mapping["ebs"][0]["encrypted"] == "true"
    (kafka,) = applied.of("aws_msk_cluster")
    (encryption,) = kafka["encryption_info"]
    assert encryption["encryption_at_rest_kms_key_arn"] == key["arn"]
    assert encryption["encryption_in_transit"] == [{"client_broker": "TLS", "in_cluster": True}]
    (redis,) = applied.of("aws_elasticache_replication_group")
    assert redis["transit_encryption_enabled"] is True
    assert redis["at_rest_encryption_enabled"] in (True, "true")
    for log in applied.of("aws_cloudwatch_log_group"):
        assert log["kms_key_id"] == key["arn"]


def test_redis_evicts_nothing(applied: Applied) -> None:
    (group,) = applied.of("aws_elasticache_parameter_group")
    assert {"name": "maxmemory-policy", "value": "noeviction"} in group["parameter"]


def test_roles_have_the_least(applied: Applied) -> None:
    policies = applied.of("aws_iam_role_policy") + applied.of("aws_kms_key")
    assert policies
    for policy in policies:
        for statement in json.loads(policy["policy"])["Statement"]:
            if statement.get("Sid") in WIDE:
                continue
            assert "NotAction" not in statement and "NotResource" not in statement
            assert not [action for action in _list(statement["Action"]) if "*" in action], statement
            assert "*" not in _list(statement["Resource"]), statement


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def test_all_is_tagged(applied: Applied) -> None:
    for one in applied.resources:
        tags = one["values"].get("tags_all")
        assert tags is None or tags.get("Project") == "gregor", one["address"]


def test_a_machine_waits_for_the_hand_over(applied: Applied) -> None:
    (hook,) = applied.of("aws_autoscaling_lifecycle_hook")
    assert hook["lifecycle_transition"] == "autoscaling:EC2_INSTANCE_TERMINATING"
    assert hook["heartbeat_timeout"] >= SETTINGS["stop_grace"] + 2 * 10  # type: ignore[operator]


def test_secrets_are_not_told_at_boot(applied: Applied, tmp_path: Path) -> None:
    """And each boot script is one that bash, and shellcheck where it is, take."""
    for template in applied.of("aws_launch_template"):
        text = base64.b64decode(template["user_data"]).decode()
        assert PASSWORD not in text
        assert len(text) < 16384, "EC2 takes no more"
        for number, one in enumerate(scripts(text)):
            script = tmp_path / f"{number}.sh"
            script.write_text(one)
            must(run("bash", "-n", script, timeout=10))
            if shutil.which("shellcheck"):
                must(run("shellcheck", script, timeout=60))


def scripts(text: str) -> list[str]:
    """A boot script, and the scripts that it writes."""
    return [text, *("#!/bin/bash" + part.partition("\nEND\n")[0] for part in text.split("#!/bin/bash")[2:])]


@pytest.mark.parametrize(
    ("root", "wrong", "named"),
    [
        ("cluster", {"settings": {"max_page": 1}}, "max_page"),
        ("cluster", {"settings": {"scope": "hosts"}}, "scope"),
        ("cluster", {"partitions": 0}, "partitions"),
        ("cluster", {"partitions": "many"}, "partitions"),
        ("cluster", {"crawl": "Crawl"}, "crawl"),
        ("cluster", {"user_agent": "anonymous"}, "user_agent"),
        ("cluster", {"image": "gregor:latest"}, "image"),
        ("cluster", {"redis_password": "short"}, "redis_password"),
        ("cluster", {"cassandra_nodes": 2}, "cassandra_replication"),
        ("cluster", {"cassandra_instance_type": "t3.large"}, "instance_type"),
        ("cluster", {"workers_min": 50}, "workers_min"),
        ("cluster", {"schedules": {"night": {"recurrence": "at night", "workers": 0}}}, "schedules"),
        ("small", {"zones": ["us-east-1a"]}, "zones"),
        ("small", {"name": "Not Good"}, "name"),
    ],
)
def test_a_wrong_value_is_refused_by_name(copy: Path, root: str, wrong: dict[str, object], named: str) -> None:
    folder = copy / "examples" / root
    if not (folder / ".terraform").exists():
        must(tf(folder, "init", timeout=400))
    refused = tf(folder, "plan", variables={**GIVEN, **wrong})
    assert refused.returncode
    assert named in refused.stderr
