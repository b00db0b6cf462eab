"""A wrong value fails the plan, by name: nothing is made before."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.deploy import values_schema
from tests.deploy.terraform import EXAMPLES, tf

Refusal = Callable[[str, dict[str, object]], str]
WRONG: dict[str, object] = {
    "crawl": "Crawl",
    "partitions": 0,
    "user_agent": "anonymous",
    "image": "gregor:latest",
    "redis_password": "short",
    "mail": ["nobody"],
}
OF_CLUSTERS: dict[str, object] = {
    "kafka_brokers": 4,
    "cassandra_instance_type": "t3.large",
    "cassandra_nodes": 3.5,
    "cassandra_volume_size": 8.5,
    "kafka_volume_size": 1.5,
    "redis_node_type": "large",
    "redis_nodes": 2.5,
    "budget": 0,
}


@pytest.fixture(scope="module")
def refusal(examples: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Refusal:
    """What a plan of an example with wrong values says, its lines joined."""
    given = tmp_path_factory.mktemp("given") / "wrong.tfvars.json"

    def refusal(example: str, wrong: dict[str, object]) -> str:
        given.write_text(json.dumps({**EXAMPLES[example], **wrong}))
        refused = tf(examples(example), "plan", "-refresh=false", "-lock=false", f"-var-file={given}")
        assert refused.returncode == 1
        return " ".join(refused.stderr.split())

    return refusal


@pytest.mark.parametrize(
    ("root", "wrong"),
    [
        ("small", WRONG),
        (
            "cluster",
            WRONG
            | OF_CLUSTERS
            | {
                "schedules": {"night": {"recurrence": "at night", "workers": 0}},
                "repository_arn": "gregor",
            },
        ),
        (
            "kubernetes",
            WRONG | OF_CLUSTERS | {"namespace": "Web", "workers": 0, "index_workers": 1.5, "api_cidrs": ["0.0.0.0/0"]},
        ),
    ],
)
def test_every_wrong_value_is_refused_by_name(refusal: Refusal, root: str, wrong: dict[str, object]) -> None:
    said = refusal(root, wrong)
    for name in wrong:
        inner = name.removeprefix("kafka_").removeprefix("cassandra_").removeprefix("redis_")
        assert f"{name} must " in said or f"{inner} must " in said, name


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"region": "here"}, "region must be an AWS region"),
        ({"name": "Not Good"}, "name must begin with a letter"),
        ({"zones": ["us-east-1a"]}, "zones must be two or three"),
        ({"zones": ["eu-west-1a", "eu-west-1b"]}, "zones must be availability zones of the region"),
        ({"cassandra_nodes": 2}, "cassandra_replication must be a whole number from 1 to the number of nodes"),
        ({"workers_min": 0.5}, "workers_min must be a whole number"),
        ({"workers_min": 50}, "workers_min must be a whole number from 0 to workers_max"),
        ({"partitions": "many"}, "a number is required"),
    ],
)
def test_a_wrong_value_is_refused_by_what_it_may_be(refusal: Refusal, wrong: dict[str, object], said: str) -> None:
    assert said in refusal("cluster", wrong)


def test_every_setting_is_checked(refusal: Refusal) -> None:
    """By the type, limits and choices that the worker's own config has."""
    rules = values_schema.rules()
    wrong = {name: _wrong(rule) for name, rule in rules.items()} | {"no_such": 1, "kafka": ["a:9092"]}
    said = refusal("small", {"settings": wrong})
    for name, rule in rules.items():
        assert f"{name} must {' '.join(rule['must'].split())}" in said, name
    for name in ("no_such", "kafka"):
        assert f"{name} is unknown or made by the modules" in said


def _wrong(rule: dict[str, object]) -> object:
    """The nearest value that it may not be."""
    if isinstance(most := rule.get("maximum"), int):
        return most + 1
    if isinstance(least := rule.get("minimum"), int):
        return least - 1
    if "exclusiveMinimum" in rule:
        return rule["exclusiveMinimum"]
    other = " not such a value"
    if rule["among"] or rule["like"]:
        return [other] if str(rule["must"]).startswith("be a list") else other
    return 1.5 if str(rule["must"]).startswith(("be a text", "be a list", "be true")) else other
