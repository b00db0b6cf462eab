"""The chart, rendered by helm over several values: it runs what they say, confined, and with time to give way."""

import ipaddress
import json
import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gregor.schemas import topics
from gregor.worker.capacity import deploy_values, inputs
from gregor.worker.capacity.model import plan
from gregor.worker.capacity.types import Wish
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import load
from monitoring.servers import JOBS
from tests.deploy import values_schema
from tests.deploy.tools import ROOT, must, run

CHART = ROOT / "helm/gregor"
VALUES = {path.stem: path for path in sorted((ROOT / "tests/deploy/values").glob("*.yaml"))}
Resource = dict[str, Any]


@pytest.fixture(scope="module", params=[None, *VALUES])
def name(request: pytest.FixtureRequest) -> Iterator[str | None]:
    found: str | None = request.param
    yield found


@pytest.fixture(scope="module")
def resources(helm: Path, name: str | None) -> list[Resource]:
    """What is rendered with the values of that name, or with the chart's own."""
    given = ("-f", VALUES[name]) if name else ()
    words = ("template", "crawl", CHART, "--namespace", "web", "--kube-version", "1.33.0", *given)
    return [one for one in yaml.safe_load_all(must(run(helm, *words, timeout=30))) if one]


def of(resources: list[Resource], kind: str) -> list[Resource]:
    return [one for one in resources if one["kind"] == kind]


def workers_of(resources: list[Resource]) -> Resource:
    """The workers' Deployment."""
    (found,) = (one for one in of(resources, "Deployment") if one["metadata"]["name"] == "crawl-gregor")
    return found


def pods(resources: list[Resource]) -> list[Resource]:
    """The specs of the crawl's own pods, by whatever makes them."""
    made = [one["spec"]["template"]["spec"] for one in resources if one["kind"] in ("Deployment", "Job")]
    return made + [one["spec"] for one in of(resources, "Pod")]


def servers(resources: list[Resource]) -> list[Resource]:
    """The specs of the pods of the servers that the chart brings."""
    return [one["spec"]["template"]["spec"] for one in of(resources, "StatefulSet")]


def rendered(helm: Path, *words: str | Path) -> list[Resource]:
    """What is rendered with the chart's own values but for some."""
    made = must(run(helm, "template", "crawl", CHART, "--kube-version", "1.33.0", *words, timeout=30))
    return [one for one in yaml.safe_load_all(made) if one]


def test_the_schema_is_the_configs() -> None:
    assert values_schema.PATH.read_text() == values_schema.text(), "run python -m tests.deploy.values_schema"


@pytest.mark.parametrize("values", [None, *VALUES.values()])
def test_lint(helm: Path, values: Path | None) -> None:
    must(run(helm, "lint", "--strict", CHART, *(("-f", values) if values else ()), timeout=30))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("config.max_page=1", "max_page"),
        ("config.max_pages=-1", "max_pages"),
        ("config.scope=hosts", "scope"),
        ("config.listen=0.0.0.0:1", "listen"),
        ("config.kafka_password_env=X", "kafka_password_env"),
        ("config.kafka=broker:9092", "kafka"),
        ("config.kafka={broker}", "kafka"),
        ("config.zookeeper={server:65536}", "zookeeper"),
        ("config=null", "config is required"),
        ("config.partitions=many", "partitions"),
        ("config.crawl=Crawl", "crawl"),
        ("config.hosts[0].hosts=x", "hosts"),
        ("worker.replicas=1", "worker"),
        ("workers.replicas=-1", "replicas"),
        ("autoscaling.kind=vpa", "kind"),
        ("files.kafka_pasword_file.secret=x", "kafka_pasword_file"),
        ("files.kafka_password_file.value=secret", "value"),
        ("image.digest=latest", "digest"),
        ("image.repository=Registry", "repository"),
        ("image.tag=a b", "tag"),
        ("workers.resources.limits.memory=1.", "memory"),
        ("workers.resources.limits.memory=1K", "memory"),
        ("workers.priority_class=A", "priority_class"),
        ("network_policy.servers={10.0.0.256/8}", "servers"),
        ("network_policy.closed={10.0.0.0/33}", "closed"),
        ("network_policy.closed6={fc00::/129}", "closed6"),
    ],
)
def test_a_wrong_value_is_refused_by_name(helm: Path, wrong: str, named: str) -> None:
    refused = run(helm, "lint", CHART, "--set", wrong, timeout=30)
    assert refused.returncode
    assert named in refused.stdout


def test_the_workers_read_what_the_values_say(resources: list[Resource], name: str | None, tmp_path: Path) -> None:
    """The rendered file is read by the worker's own code."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())["config"]
    values |= yaml.safe_load(VALUES[name].read_text()).get("config", {}) if name else {}
    for rendered in of(resources, "ConfigMap"):
        if "gregor.toml" not in rendered["data"]:
            continue
        path = tmp_path / "gregor.toml"
        path.write_text(rendered["data"]["gregor.toml"])
        config = load(str(path), {}).config
        assert config.engine == "cluster"
        table = tomllib.loads(path.read_text())
        if of(resources, "StatefulSet"):
            names = {one["metadata"]["name"] for one in of(resources, "Service")}
            for server in ("kafka", "zookeeper", "redis", "cassandra"):
                (address,) = table[server]
                assert address.split(":")[0] in names
                values.pop(server)
            assert (config.kafka_replication, config.cassandra_replication) == (1, 1)
        assert {key: table["host" if key == "hosts" else key] for key in values} == values


def test_secrets_are_references_only(resources: list[Resource]) -> None:
    assert of(resources, "Secret") == []
    for pod in pods(resources):
        mounted = {
            item["path"]
            for volume in pod["volumes"]
            for source in volume.get("projected", {}).get("sources", ())
            for item in source["secret"]["items"]
        }
        assert mounted <= set(Config.__struct_fields__)
    for rendered in of(resources, "ConfigMap"):
        table = tomllib.loads(rendered["data"].get("gregor.toml", ""))
        assert all(value.startswith("/etc/gregor/files/") for key, value in table.items() if key.endswith("_file"))


def test_pods_are_restricted(resources: list[Resource]) -> None:
    """What the pod-security standard "restricted" asks for, and a read-only file system."""
    for pod in pods(resources):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
        assert all(set(volume) - {"name"} <= {"configMap", "projected", "emptyDir"} for volume in pod["volumes"])
        for container in [*pod["containers"], *pod.get("initContainers", ())]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["readOnlyRootFilesystem"] is True
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert "memory" in container["resources"]["limits"]
            assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"
            assert {mount["name"] for mount in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}


def test_servers_of_the_chart_are_restricted(resources: list[Resource]) -> None:
    for pod in servers(resources):
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        for container in pod.get("initContainers", []) + pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert "memory" in container["resources"]["limits"]


def test_servers_of_the_chart_are_reached_by_the_crawl_alone(resources: list[Resource]) -> None:
    if not of(resources, "StatefulSet"):
        return
    policies = {one["metadata"]["name"]: one["spec"] for one in of(resources, "NetworkPolicy")}
    closed = policies["crawl-gregor-servers"]
    labels = [one["spec"]["template"]["metadata"]["labels"].items() for one in of(resources, "StatefulSet")]
    assert len(labels) == 4
    assert all(closed["podSelector"]["matchLabels"].items() <= one for one in labels)
    crawl = policies["crawl-gregor"]["podSelector"]["matchLabels"]
    assert not any(crawl.items() <= one for one in labels)
    assert {"podSelector": {"matchLabels": crawl}} in closed["ingress"][0]["from"]
    allowed = [peer for rule in policies["crawl-gregor"]["egress"] for peer in rule["to"]]
    assert {"podSelector": closed["podSelector"]} in allowed


def test_the_crawl_is_set_up_before_a_worker_works(resources: list[Resource]) -> None:
    """By a hook where the servers are there before the install, by each pod where they come with it."""
    first = workers_of(resources)["spec"]["template"]["spec"].get("initContainers", [])
    inits = [*of(resources, "Job"), *first]
    assert len(inits) == 1
    assert bool(first) == bool(of(resources, "StatefulSet"))


def test_a_failed_hook_leaves_nothing_behind(resources: list[Resource]) -> None:
    hooks = [one for one in resources if "helm.sh/hook" in one["metadata"].get("annotations", {})]
    for hook in hooks:
        annotations = hook["metadata"]["annotations"]
        if annotations["helm.sh/hook"] != "test":
            policies = annotations["helm.sh/hook-delete-policy"].split(",")
            assert {"before-hook-creation", "hook-succeeded", "hook-failed"} == set(policies)


def test_where_pods_may_run_holds_for_every_pod(helm: Path) -> None:
    values = "node_selector.pool=crawl,tolerations[0].key=crawl,tolerations[0].operator=Exists,priority_class=low"
    words = ("--set", values, "--set-json", 'affinity={"nodeAffinity":{"x":1}}')
    for brings in ("false", "true"):
        made = rendered(helm, *words, "--set", f"servers.enabled={brings}", "--set", "console.node_selector.pool=tools")
        found = pods(made) + servers(made)
        assert len(found) == (7 if brings == "true" else 4)
        for pod in found:
            console = pod["containers"][0]["name"] == "console"
            assert pod["nodeSelector"] == {"pool": "tools" if console else "crawl"}
            assert pod["tolerations"] == [{"key": "crawl", "operator": "Exists"}]
            assert pod["affinity"] == {"nodeAffinity": {"x": 1}}
            assert pod["priorityClassName"] == "low"


def test_all_is_visited_again_on_a_schedule_where_one_is_set(helm: Path) -> None:
    assert not of(rendered(helm), "CronJob")
    words = ("--set", "recrawl.schedule=0 3 * * *,recrawl.time_zone=Europe/Rome,node_selector.pool=crawl")
    made = rendered(helm, *words)
    (cron,) = of(made, "CronJob")
    assert (cron["spec"]["schedule"], cron["spec"]["timeZone"]) == ("0 3 * * *", "Europe/Rome")
    assert cron["spec"]["concurrencyPolicy"] == "Forbid"
    pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == ["recrawl", "--all"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert (pod["nodeSelector"], pod["restartPolicy"]) == ({"pool": "crawl"}, "Never")
    for wrong in ("soon", "0 3 * *", "@never"):
        refused = run(helm, "template", "crawl", CHART, "--set", f"recrawl.schedule={wrong}", timeout=30)
        assert refused.returncode
        assert "recrawl" in refused.stderr


def test_there_is_time_for_the_hand_over(resources: list[Resource]) -> None:
    workers = workers_of(resources)
    pod = workers["spec"]["template"]["spec"]
    (config,) = (one for one in of(resources, "ConfigMap") if one["metadata"]["name"] == "crawl-gregor")
    table = tomllib.loads(config["data"]["gregor.toml"])
    (container,) = pod["containers"]
    left = float(container["lifecycle"]["preStop"]["exec"]["command"][1])  # until Services have forgotten the pod
    assert pod["terminationGracePeriodSeconds"] >= left + table["stop_grace"] + 3 * table["server_timeout"]
    probe = container["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] > math.ceil(table["start_timeout"])
    assert workers["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}


def test_the_longest_fetch_may_end_before_a_pod_does() -> None:
    config = Config(**yaml.safe_load((CHART / "values.yaml").read_text())["config"])
    assert config.stop_grace >= 2 * config.connect_timeout + config.total_timeout


def test_workers_are_spread_over_zones_and_go_one_by_one(resources: list[Resource]) -> None:
    spec = workers_of(resources)["spec"]["template"]
    spread = spec["spec"]["topologySpreadConstraints"]
    assert [one["topologyKey"] for one in spread] == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    for one in spread:
        assert one["labelSelector"]["matchLabels"].items() <= spec["metadata"]["labels"].items()
    (budget,) = of(resources, "PodDisruptionBudget")
    assert budget["spec"]["maxUnavailable"] == 1


def test_a_worker_has_what_was_measured() -> None:
    """What the plan says that one needs is what the chart asks for where nobody says otherwise."""
    read = inputs.read()
    planned = deploy_values.helm(plan(Wish(1e6, 7), read.costs, read.prices), read.costs.worker_memory)["workers"]
    given = yaml.safe_load((CHART / "values.yaml").read_text())["workers"]["resources"]
    assert isinstance(planned, dict)
    memory = planned["resources"]["limits"]["memory"]
    assert (given["requests"]["cpu"], given["limits"]["memory"]) == ("1", "1Gi")
    assert memory == "1024Mi"


def test_selectors_find_the_workers_alone(resources: list[Resource]) -> None:
    workers = workers_of(resources)
    labels = workers["spec"]["template"]["metadata"]["labels"].items()
    makers = [one for kind in ("Job", "StatefulSet") for one in of(resources, kind)]
    others = [one["spec"]["template"]["metadata"]["labels"].items() for one in makers]
    (service,) = (one for one in of(resources, "Service") if one["metadata"]["name"] == "crawl-gregor")
    (budget,) = of(resources, "PodDisruptionBudget")
    for selector in (
        workers["spec"]["selector"]["matchLabels"],
        service["spec"]["selector"],
        budget["spec"]["selector"]["matchLabels"],
    ):
        assert selector.items() <= labels
        assert not any(selector.items() <= one for one in others)


def test_the_console_is_found_by_its_own_service(resources: list[Resource], name: str | None) -> None:
    found = [one for one in of(resources, "Deployment") if one["metadata"]["name"] == "crawl-gregor-console"]
    services = [one for one in of(resources, "Service") if one["metadata"]["name"] == "crawl-gregor-console"]
    assert len(found) == len(services) == 1
    template = found[0]["spec"]["template"]
    assert template["spec"]["containers"][0]["args"] == ["console"]
    assert services[0]["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert (
        not services[0]["spec"]["selector"].items()
        <= workers_of(resources)["spec"]["template"]["metadata"]["labels"].items()
    )


def test_workers_of_the_index_come_where_it_lies(helm: Path) -> None:
    wanted = ["--set", "index.replicas=2", "--set", "network_policy.enabled=true"]
    made = rendered(helm, *wanted, "--set", "config.opensearch={search-1:9243,search-2:9243}")
    (found,) = (one for one in of(made, "Deployment") if one["metadata"]["name"] == "crawl-gregor-index")
    template = found["spec"]["template"]
    assert found["spec"]["replicas"] == 2
    assert template["spec"]["containers"][0]["args"] == ["index", "--metrics", "0.0.0.0:9100"]
    assert not workers_of(made)["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    (policy,) = of(made, "NetworkPolicy")
    assert {"protocol": "TCP", "port": 9243} in [port for rule in policy["spec"]["egress"] for port in rule["ports"]]
    refused = run(helm, "template", "crawl", CHART, "--set", "index.replicas=1", timeout=30)
    assert refused.returncode and "config.opensearch" in refused.stderr


def test_what_scales_is_the_only_one_that_says_how_many(resources: list[Resource]) -> None:
    workers = workers_of(resources)
    scalers = of(resources, "ScaledObject") + of(resources, "HorizontalPodAutoscaler")
    assert len(scalers) + ("replicas" in workers["spec"]) == 1
    for scaler in scalers:
        spec = scaler["spec"]
        assert spec["scaleTargetRef"]["name"] == workers["metadata"]["name"]
        down = spec.get("advanced", {}).get("horizontalPodAutoscalerConfig", spec)["behavior"]["scaleDown"]
        longest = workers["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        assert down["stabilizationWindowSeconds"] > longest, "one hand-over is over before the next is thought of"
        assert down["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 60}]


def test_lag_is_that_of_the_frontiers_group(resources: list[Resource]) -> None:
    for scaler in of(resources, "ScaledObject"):
        asked = {(one["metadata"]["consumerGroup"], one["metadata"]["topic"]) for one in scaler["spec"]["triggers"]}
        assert asked == {(topics.group("web"), topics.frontier("web", priority)) for priority in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    ("address", "port", "open_"),
    [
        ("93.184.215.14", 443, True),
        ("93.184.215.14", 8080, True),
        ("2606:2800:21f::1", 443, True),
        ("10.0.1.10", 2181, True),
        ("10.0.1.20", 9042, True),
        ("10.0.1.10", 22, False),
        ("10.0.1.10", 80, False),
        ("169.254.169.254", 80, False),
        ("fd00:ec2::254", 80, False),
        ("127.0.0.1", 80, False),
        ("::1", 80, False),
        ("fe80::1", 80, False),
    ],
)
def test_a_worker_reaches_the_web_and_its_servers(
    resources: list[Resource], name: str | None, address: str, port: int, open_: bool
) -> None:
    for policy in (one for one in of(resources, "NetworkPolicy") if one["metadata"]["name"] == "crawl-gregor"):
        assert {"Ingress", "Egress"} == set(policy["spec"]["policyTypes"])
        assert _reached(policy["spec"]["egress"], ipaddress.ip_address(address), port) == open_
        names = [peer.get("namespaceSelector") for rule in policy["spec"]["egress"] for peer in rule["to"]]
        assert {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}} in names  # DNS


def _reached(rules: list[Resource], address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> bool:
    """Whether TCP to that port of a machine outside the cluster is let out."""
    blocks = [
        peer["ipBlock"]
        for rule in rules
        if any(
            one["protocol"] == "TCP" and one["port"] <= port <= one.get("endPort", one["port"]) for one in rule["ports"]
        )
        for peer in rule["to"]
        if "ipBlock" in peer
    ]
    return any(
        address in ipaddress.ip_network(block["cidr"])
        and not any(address in ipaddress.ip_network(one) for one in block.get("except", ()))
        for block in blocks
    )


def test_the_network_policy_closes_the_metadata_address(resources: list[Resource]) -> None:
    for policy in of(resources, "NetworkPolicy"):
        for rule in policy["spec"]["egress"]:
            assert {port["protocol"] for port in rule["ports"]} <= {"TCP", "UDP"}
            assert all(port["port"] == 53 for port in rule["ports"] if port["protocol"] == "UDP")
            for block in (peer["ipBlock"] for peer in rule["to"] if "ipBlock" in peer):
                for address in map(ipaddress.ip_address, ("169.254.169.254", "fd00:ec2::254")):
                    closed = [ipaddress.ip_network(one) for one in block.get("except", ())]
                    assert address not in ipaddress.ip_network(block["cidr"]) or any(address in one for one in closed)
                    assert all(one.subnet_of(ipaddress.ip_network(block["cidr"])) for one in closed)  # type: ignore[arg-type]


def test_monitoring_carries_our_rules_and_dashboards(resources: list[Resource]) -> None:
    rules = of(resources, "PrometheusRule")
    for rule in rules:
        assert rule["spec"] == yaml.safe_load((ROOT / "monitoring/alerts.yml").read_text())
    dashboards = [one for one in of(resources, "ConfigMap") if one["metadata"]["name"].endswith("-dashboards")]
    assert len(rules) == len(dashboards) == len(of(resources, "ServiceMonitor"))
    for one in dashboards:
        assert len(one["data"]) == len(list((ROOT / "monitoring/dashboards").glob("*.json")))


def test_the_servers_metrics_are_scraped_under_the_jobs_that_are_asked_for(helm: Path) -> None:
    token = ("--set", "files.viewer_token_file.secret=gregor", "--set", "files.viewer_token_file.key=viewer-token")
    brings = ("--set", "servers.enabled=true", "--set", "monitoring.enabled=true", *token)
    made = rendered(helm, *brings, "--set", "network_policy.clients={watch}")
    monitors = of(made, "PodMonitor")
    assert jobs_of(monitors) == set(JOBS) - {"gregor-node"}
    for one in monitors:
        labels = one["spec"]["selector"]["matchLabels"].items()
        (pod,) = (
            one["spec"]["template"]
            for one in of(made, "StatefulSet")
            if labels <= one["spec"]["template"]["metadata"]["labels"].items()
        )
        ports = [port["name"] for container in pod["spec"]["containers"] for port in container["ports"]]
        assert ports.count("metrics") == 1
    closed = next(one["spec"] for one in of(made, "NetworkPolicy") if one["metadata"]["name"].endswith("-servers"))
    assert closed["ingress"][1]["ports"] == [{"protocol": "TCP", "port": "metrics"}]
    (away,) = (rule for rule in closed["egress"] if any("ipBlock" in peer for peer in rule["to"]))
    assert away["ports"] == [{"protocol": "TCP", "port": 443}]
    without = rendered(helm, *brings, "--set", "servers.agent.image=")
    assert jobs_of(of(without, "PodMonitor")) == {"gregor-zookeeper", "gregor-redis"}
    assert not any("initContainers" in pod or "javaagent" in json.dumps(pod) for pod in servers(without))
    assert not of(rendered(helm, "--set", "monitoring.enabled=true", *token), "PodMonitor")


def jobs_of(monitors: list[Resource]) -> set[str]:
    return {one["spec"]["podMetricsEndpoints"][0]["relabelings"][0]["replacement"] for one in monitors}


@pytest.mark.parametrize("storage", ["", "8Gi"])
def test_kafka_and_cassandra_load_an_agent_that_is_held_against_its_checksum(helm: Path, storage: str) -> None:
    token = ("--set", "files.viewer_token_file.secret=gregor", "--set", "files.viewer_token_file.key=viewer-token")
    words = ("--set", "servers.enabled=true", "--set", f"servers.storage={storage}", "--set", "monitoring.enabled=true")
    made = rendered(helm, *words, *token)
    configs = {one["metadata"]["name"]: one["data"] for one in of(made, "ConfigMap")}
    told = [pod for pod in servers(made) if "initContainers" in pod]
    assert [pod["containers"][0]["name"] for pod in told] == ["cassandra", "kafka"]
    for pod in told:
        (fetching,), server = pod["initContainers"], pod["containers"][0]
        assert fetching["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert fetching["securityContext"]["readOnlyRootFilesystem"] is True
        assert next(one["value"] for one in server["env"] if one["name"].endswith("_OPTS") and "@" in one["value"])
        (options,) = re.findall(r"-javaagent:\S+", fetching["args"][0])
        file = options.strip('"').rpartition("/")[2]
        assert configs["crawl-gregor-exporters"][file] == (ROOT / "monitoring/exporters" / file).read_text()
        volumes = {volume["name"] for volume in pod["volumes"]} | ({"data"} if storage else set())
        assert {mount["name"] for mount in server["volumeMounts"]} == volumes == {"agent", "exporter", "data"}


@pytest.mark.parametrize("kind", ["hpa", "keda"])
def test_what_contradicts_itself_is_refused_by_name(helm: Path, kind: str) -> None:
    wrong = f"--set=autoscaling.kind={kind},autoscaling.minimum=5,autoscaling.maximum=4"
    refused = run(helm, "template", CHART, "--kube-version=1.33.0", wrong, timeout=30)
    assert refused.returncode
    assert "autoscaling.minimum must be at most autoscaling.maximum" in refused.stderr


def test_monitoring_without_a_token_is_refused(helm: Path) -> None:
    refused = run(helm, "template", CHART, "--kube-version=1.33.0", "--set=monitoring.enabled=true", timeout=30)
    assert refused.returncode
    assert "viewer_token_file" in refused.stderr
