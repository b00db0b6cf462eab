"""Terraform's roots through a whole life, offline: what they would make is closed, encrypted, no wider than needed."""

import base64
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gregor.worker.config.sources import load
from tests.deploy import values_schema
from tests.deploy.terraform import EXAMPLES, PASSWORD, SETTINGS, Applied, applied, beside, copied, initialised, tf
from tests.deploy.tools import ROOT, must, run

MODULES = sorted(path.name for path in (ROOT / "terraform/modules").iterdir())
# Statements whose resource or actions may be a star, and why.
WIDE = {
    "LogInToRegistry": "AWS knows no narrower resource for it",
    "FindWorkers": "AWS knows no narrower resource for it",
    "Shell": "AWS knows no narrower resource for it",
    "LookAtDisks": "AWS knows no narrower resource for it",
    "Account": "in a key's policy the star is the key, and without it nobody could administer it",
    "Logs": "in a key's policy the star is the key",
    "Alarms": "in a key's policy the star is the key",
    "AutoScaling": "in a key's policy the star is the key",
    "AutoScalingGrants": "in a key's policy the star is the key",
    "TlsOnly": "it refuses",
}


@pytest.fixture(scope="module", params=EXAMPLES)
def root(roots: Callable[[str], Applied], request: pytest.FixtureRequest) -> Applied:
    return roots(request.param)


def test_format() -> None:
    must(run("terraform", "fmt", "-check", "-recursive", "-diff", ROOT / "terraform", timeout=60))


def test_the_settings_are_the_configs() -> None:
    written = values_schema.SETTINGS_PATH.read_text()
    assert written == values_schema.settings(), "run python -m tests.deploy.values_schema"


@pytest.mark.parametrize("module", MODULES)
def test_a_modules_own_tests(terraform: Path, module: str) -> None:
    """With its claims about what is made, and a wrong value for every variable that has a rule."""
    folder = initialised(terraform / "modules" / module)
    assert re.search(r"[1-9][0-9]* passed, 0 failed", must(tf(folder, "test")))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_tries_a_wrong_value_of_each_rule(module: str) -> None:
    folder = ROOT / "terraform/modules" / module
    variables = "".join(path.read_text() for path in folder.glob("variables*.tf"))
    ruled = {block.partition('"')[0] for block in variables.split('variable "')[1:] if "validation {" in block}
    tests = "".join(path.read_text() for path in folder.glob("tests/*.tftest.hcl"))
    tried = " ".join(re.findall(r"expect_failures = \[(.*?)\]", tests, re.DOTALL))
    assert ruled <= set(re.findall(r"var\.(\w+)", tried))


def test_a_second_plan_is_empty(root: Applied) -> None:
    must(tf(root.folder, "validate"))
    must(tf(root.folder, "plan", "-detailed-exitcode"))


def test_destroy_leaves_nothing(root: Applied) -> None:
    folder = beside(root.folder, "destroyed")
    must(tf(folder, "destroy", "-auto-approve"))
    assert "resources" not in json.loads(must(tf(folder, "show", "-json"))).get("values", {})


GUARDED = {"aws_ebs_volume", "aws_msk_cluster", "aws_elasticache_replication_group", "aws_kms_key"}
"""What holds data that nothing else has, or the key to it."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example `cluster` as it is given out, applied."""
    folder = initialised(copied(tmp_path_factory.mktemp("guarded")) / "examples/cluster")
    applied(folder, {**EXAMPLES["cluster"], **THREE_ZONES})
    return folder


THREE_ZONES = {"zones": ["us-east-1a", "us-east-1b", "us-east-1c"]}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"cassandra_nodes": 2}, "prevent_destroy"),
        ({"zones": ["us-east-1a", "us-east-1b"]}, "its data would be lost"),
    ],
)
def test_no_change_deletes_data(guarded: Path, change: dict[str, object], named: str) -> None:
    folder = beside(guarded, f"changed-{len(named)}")
    refused = tf(folder, "plan", variables={**EXAMPLES["cluster"], **THREE_ZONES, "cassandra_replication": 1, **change})
    assert refused.returncode == 1
    assert named in " ".join((refused.stdout + refused.stderr).split())


def test_destroy_is_refused_while_there_is_data(guarded: Path) -> None:
    refused = tf(beside(guarded, "destroyed"), "destroy", "-auto-approve")
    assert refused.returncode == 1
    assert "prevent_destroy" in refused.stderr


def test_what_holds_data_is_guarded() -> None:
    text = "".join(path.read_text() for path in (ROOT / "terraform/modules").glob("*/*.tf"))
    for kind in GUARDED:
        (block,) = re.findall(rf'^resource "{kind}" .*?^}}', text, re.DOTALL | re.MULTILINE)
        assert "prevent_destroy = true" in block, kind


@pytest.mark.parametrize("root", ["cluster"], indirect=True)
def test_a_larger_disk_of_kafka_is_made(root: Applied) -> None:
    folder = beside(root.folder, "larger")
    (before,) = root.of("aws_msk_cluster")
    storage = before["broker_node_group_info"][0]["storage_info"][0]["ebs_storage_info"][0]
    larger = {**EXAMPLES[root.name], "kafka_volume_size": storage["volume_size"] + 50}
    assert tf(folder, "plan", "-detailed-exitcode", variables=larger).returncode == 2


def test_the_example_of_a_backend(terraform: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "terraform/examples/small", terraform / "examples/backed"))
    shutil.copy(ROOT / "terraform/examples/backend.tf.example", folder / "backend.tf")
    must(tf(folder, "init", "-backend=false"))
    must(tf(folder, "validate"))


def test_an_examples_own_tests(root: Applied) -> None:
    assert re.search(r"[1-9][0-9]* passed, 0 failed", must(tf(root.folder, "test")))


@pytest.mark.parametrize("root", sorted({*EXAMPLES} - {"kubernetes"}), indirect=True)  # there the chart configures
def test_its_output_is_a_workers_config(root: Applied, tmp_path: Path) -> None:
    path = tmp_path / "gregor.toml"
    path.write_text(root.outputs["gregor_toml"])
    config = load(str(path), {}).config
    assert (config.engine, config.delay, config.scope, config.stop_grace) == ("cluster", 2.5, "domain", 20)
    assert config.kafka_security == "sasl_ssl"
    assert config.redis_tls
    assert {"redis_password_file", "viewer_token_file", "operator_token_file"} <= {
        name for name in config.__struct_fields__ if str(getattr(config, name)).startswith("/run/gregor/")
    }


def test_its_output_is_what_the_chart_takes(root: Applied, helm: Path, tmp_path: Path) -> None:
    values = root.outputs.get("values") or {"config": root.outputs["settings"]}
    path = tmp_path / "values.json"
    path.write_text(json.dumps(values))
    must(run(helm, "lint", "--strict", ROOT / "helm/gregor", "-f", path, timeout=60))
    rendered = must(run(helm, "template", "crawl", ROOT / "helm/gregor", "-f", path, timeout=60))
    accounts = {one["metadata"]["name"] for one in yaml.safe_load_all(rendered) if one["kind"] == "ServiceAccount"}
    assert set(root.outputs.get("service_accounts", accounts)) == accounts


def test_nothing_is_open_to_the_world(root: Applied) -> None:
    rules = root.of("aws_vpc_security_group_ingress_rule")
    assert rules
    for rule in rules:
        assert rule["referenced_security_group_id"]
        assert not rule.get("cidr_ipv4") and not rule.get("cidr_ipv6")
        assert rule["from_port"] == rule["to_port"]
    assert root.of("aws_security_group_rule") == []
    for group in root.of("aws_security_group"):
        assert not group.get("ingress")
    for subnet in root.of("aws_subnet"):
        assert subnet["map_public_ip_on_launch"] is False
    for template in root.of("aws_launch_template"):
        assert all(one["associate_public_ip_address"] == "false" for one in template["network_interfaces"])
        assert template["metadata_options"][0]["http_tokens"] == "required"
        assert template["metadata_options"][0]["http_put_response_hop_limit"] == 1
    (kafka,) = root.of("aws_msk_cluster")
    connectivity = kafka["broker_node_group_info"][0]["connectivity_info"][0]
    assert connectivity["public_access"][0]["type"] == "DISABLED"
    assert kafka["client_authentication"][0]["unauthenticated"] is False
    for domain in root.of("aws_opensearch_domain"):
        assert domain["vpc_options"][0]["subnet_ids"] and domain["advanced_security_options"][0]["enabled"]
    for cluster in root.of("aws_eks_cluster"):
        assert cluster["vpc_config"][0]["endpoint_public_access"] is False


def test_who_has_an_endpoint_is_let_in(root: Applied) -> None:
    """Its name leads there from the whole network: who is kept out has lost the service."""
    rules = root.of("aws_vpc_security_group_ingress_rule")
    for endpoint in [one for one in root.of("aws_vpc_endpoint") if one["vpc_endpoint_type"] == "Interface"]:
        let_in = {
            rule["referenced_security_group_id"]
            for rule in rules
            if rule["security_group_id"] in endpoint["security_group_ids"] and rule["from_port"] == 443
        }
        for template in root.of("aws_launch_template"):
            for interface in template["network_interfaces"]:
                assert set(interface["security_groups"]) & let_in, (endpoint["service_name"], template["name_prefix"])


def test_all_is_encrypted(root: Applied) -> None:
    (key,) = root.of("aws_kms_key")
    assert key["enable_key_rotation"]
    for domain in root.of("aws_opensearch_domain"):
        assert domain["encrypt_at_rest"] == [{"enabled": True, "kms_key_id": key["arn"]}]
        assert domain["node_to_node_encryption"] == [{"enabled": True}]
        assert domain["domain_endpoint_options"][0]["enforce_https"]
    for kind, attribute in [
        ("aws_ebs_volume", "kms_key_id"),
        ("aws_cloudwatch_log_group", "kms_key_id"),
        ("aws_secretsmanager_secret", "kms_key_id"),
        ("aws_elasticache_replication_group", "kms_key_id"),
        ("aws_sns_topic", "kms_master_key_id"),
    ]:
        assert root.of(kind) and all(one[attribute] == key["arn"] for one in root.of(kind)), kind
    for template in root.of("aws_launch_template"):
        for mapping in template["block_device_mappings"]:
            assert mapping["ebs"][0]["encrypted"] == "true" and mapping["ebs"][0]["kms_key_id"] == key["arn"]
    (kafka,) = root.of("aws_msk_cluster")
    (encryption,) = kafka["encryption_info"]
    assert encryption["encryption_at_rest_kms_key_arn"] == key["arn"]
    assert encryption["encryption_in_transit"] == [{"client_broker": "TLS", "in_cluster": True}]


def test_roles_have_the_least(root: Applied) -> None:
    policies = [one for kind in ("aws_iam_role_policy", "aws_kms_key", "aws_s3_bucket_policy") for one in root.of(kind)]
    assert policies
    for statement in [one for policy in policies for one in json.loads(policy["policy"])["Statement"]]:
        if statement.get("Sid") not in WIDE:
            assert "NotAction" not in statement and "NotResource" not in statement
            assert not [action for action in _list(statement["Action"]) if "*" in action], statement
            assert "*" not in _list(statement["Resource"]), statement
        if "*" in _list(_principals(statement)):
            assert statement["Effect"] == "Deny" or "aws:PrincipalArn" in json.dumps(statement["Condition"]), statement


def _principals(statement: dict[str, Any]) -> Any:
    principal = statement.get("Principal", {})
    return principal.get("AWS", []) if isinstance(principal, dict) else principal


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def test_policies_of_others_are_those_that_eks_wants(root: Applied) -> None:
    attached = {one["policy_arn"].rpartition("/")[2] for one in root.of("aws_iam_role_policy_attachment")}
    wanted = {f"Amazon{name}" for name in ("EKSClusterPolicy", "EKSWorkerNodePolicy", "EKS_CNI_Policy")}
    assert attached == (wanted | {"AmazonEC2ContainerRegistryPullOnly"} if root.name == "kubernetes" else set())


def test_all_is_tagged(root: Applied) -> None:
    for one in root.resources:
        tags = one["values"].get("tags_all")
        assert tags is None or tags.get("Project") == "gregor", one["address"]
    for template in root.of("aws_launch_template"):
        made = {one["resource_type"]: one["tags"] for one in template["tag_specifications"]}
        assert {"instance", "volume"} <= set(made)
        assert all(tags.get("Project") == "gregor" for tags in made.values()), template["name_prefix"]


def test_a_machine_waits_for_the_hand_over(root: Applied) -> None:
    for hook in root.of("aws_autoscaling_lifecycle_hook"):
        assert hook["lifecycle_transition"] == "autoscaling:EC2_INSTANCE_TERMINATING"
        assert hook["heartbeat_timeout"] >= SETTINGS["stop_grace"] + 3 * 10  # type: ignore[operator]


def test_secrets_are_told_to_nobody(root: Applied) -> None:
    """Redis and Amazon OpenSearch alone have their passwords in the state: the provider knows no other way."""
    for one in root.resources:
        kept = {"auth_token", "advanced_security_options"}
        values = {name: value for name, value in one["values"].items() if name not in kept}
        if user_data := values.get("user_data"):
            values["user_data"] = base64.b64decode(user_data).decode()
            assert len(user_data) * 3 // 4 < 16384, "EC2 takes no more"
        assert PASSWORD not in json.dumps(values), one["address"]
    assert PASSWORD not in json.dumps(root.outputs)
