"""The compose file: what it names exists, what it sets is a setting, nothing secret is in it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gregor.worker.config.sources import load
from monitoring.servers import JOBS
from tests.deploy.tools import BIN, ROOT, fetched, missing, must, run

COMPOSE = ROOT / "docker/compose.yaml"
USER_AGENT = {"GREGOR_USER_AGENT": "test/1.0 (+https://example.org/bot)"}
_SUBSTITUTED = re.compile(r"\$\{(\w+)(?::[-?]([^}]*))?\}")


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def test_the_whole_stack_is_there(services: dict[str, dict[str, Any]]) -> None:
    servers = {"kafka", "zookeeper", "redis", "redis-replica", "redis-sentinel", "cassandra"}
    assert set(services) == servers | {"init", "worker", "console", "prometheus", "grafana"}


def test_versions_are_pinned(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert re.search(r":v?\d+\.\d+\.\d+", service["image"]), name


def test_each_is_bounded_confined_and_watched(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert set(limits) == {"cpus", "memory"}, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        # The check of these is in their image.
        assert name in ("worker", "console") or "healthcheck" in service, name


@pytest.mark.parametrize("name", ["init", "worker", "console"])
def test_the_image_runs_read_only_as_its_user(services: dict[str, dict[str, Any]], name: str) -> None:
    service = services[name]
    assert service["read_only"] is True
    assert service["user"] == "10001:0"
    assert not service.get("volumes")


def test_data_is_in_named_volumes(services: dict[str, dict[str, Any]]) -> None:
    named = yaml.safe_load(COMPOSE.read_text())["volumes"]
    mounted = [volume.split(":") for service in services.values() for volume in service.get("volumes", ())]
    assert {parts[0] for parts in mounted if not parts[0].startswith(".")} == set(named)
    assert all(parts[2] == "ro" for parts in mounted if parts[0].startswith("."))
    for stateful in ("kafka", "zookeeper", "redis", "redis-replica", "cassandra", "prometheus", "grafana"):
        assert any(volume.partition(":")[0] in named for volume in services[stateful]["volumes"]), stateful


def test_who_waits_for_whom_exists(services: dict[str, dict[str, Any]]) -> None:
    for service in services.values():
        for other, condition in service.get("depends_on", {}).items():
            assert other in services
            if condition["condition"] == "service_healthy":
                assert "test" in services[other]["healthcheck"]


@pytest.mark.parametrize("name", ["init", "worker", "console"])
def test_what_is_set_are_settings(services: dict[str, dict[str, Any]], name: str) -> None:
    environment = {key: substituted(value) for key, value in services[name]["environment"].items()}
    config = load(None, environment).config
    assert config.engine == "cluster"
    named = {
        address.partition(":")[0] for address in (*config.kafka, *config.zookeeper, *config.redis, *config.cassandra)
    }
    assert named <= set(services)


def test_a_worker_has_time_to_let_go(services: dict[str, dict[str, Any]]) -> None:
    worker = services["worker"]
    config = load(None, {key: substituted(value) for key, value in worker["environment"].items()}).config
    assert int(worker["stop_grace_period"].removesuffix("s")) > config.stop_grace + 3 * config.server_timeout


def substituted(text: str) -> str:
    """With what it says where nothing is given."""
    return _SUBSTITUTED.sub(lambda match: USER_AGENT.get(match[1], match[2]), text)


def test_nothing_secret_is_in_it(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        for variable, value in service["environment"].items() if "environment" in service else ():
            if re.search("PASSWORD|TOKEN|SECRET", variable):
                assert str(value).startswith("/run/secrets/"), f"{name}: {variable}"


def test_files_that_it_mounts_exist(services: dict[str, dict[str, Any]]) -> None:
    mounted = [volume.split(":")[0] for service in services.values() for volume in service.get("volumes", ())]
    paths = [COMPOSE.parent / path for path in mounted if path.startswith(".")]
    assert paths
    assert [path for path in paths if not path.exists()] == []


@pytest.fixture(scope="module")
def check() -> Iterator[Path]:
    """What loads a compose file as docker compose does."""
    path = BIN / "composecheck"
    if not path.exists():
        if not shutil.which("go"):
            missing("go, to build the check of compose files")
        source = ROOT / "tests/deploy/composecheck"
        built = fetched("go", "build", "-trimpath", "-o", path, ".", timeout=400, cwd=source)
        if built.returncode:
            missing(f"the check of compose files cannot be built: {built.stderr[-500:]}")
    yield path


def test_compose_itself_takes_it(check: Path) -> None:
    must(run(check, COMPOSE, timeout=30, env=USER_AGENT))
    for more in ("compose.exporters.yaml", "compose.search.yaml"):
        must(run(check, COMPOSE, COMPOSE.parent / more, timeout=30, env=USER_AGENT))


def test_the_check_can_fail(check: Path, tmp_path: Path) -> None:
    broken = tmp_path / "compose.yaml"
    broken.write_text(COMPOSE.read_text().replace("{init: {condition", "{unit: {condition"))
    assert "unit" in run(check, broken, timeout=30, env=USER_AGENT).stderr
    assert "contact" in run(check, COMPOSE, timeout=30, env={"GREGOR_USER_AGENT": ""}).stderr


def test_the_exporters_are_beside_what_they_tell_of(services: dict[str, dict[str, Any]]) -> None:
    more = yaml.safe_load((COMPOSE.parent / "compose.exporters.yaml").read_text())["services"]
    searched = yaml.safe_load((COMPOSE.parent / "compose.search.yaml").read_text())["services"]
    jobs = yaml.safe_load((COMPOSE.parent / "prometheus.yml").read_text())["scrape_configs"]
    scraped = {job["job_name"]: job["dns_sd_configs"][0]["names"] for job in jobs}
    assert set(scraped) == {"gregor", *JOBS}
    assert {name for names in scraped.values() for name in names} <= set(services) | set(more) | set(searched)
    for name, service in more.items():
        volumes = [volume.split(":") for volume in service.get("volumes", ())]
        assert all((COMPOSE.parent / parts[0]).exists() for parts in volumes if parts[0].startswith("."))
        if name not in services:
            assert re.search(r":v?\d+\.\d+\.\d+", service["image"]), name
            assert service["cap_drop"] == ["ALL"]
            assert service["read_only"] is True
            assert not service.get("ports")
    # The tools of a container read the options of its server.
    assert "KAFKA_OPTS= " in more["kafka"]["healthcheck"]["test"][1]


def test_the_search_is_beside_what_it_searches(services: dict[str, dict[str, Any]]) -> None:
    more = yaml.safe_load((COMPOSE.parent / "compose.search.yaml").read_text())
    node, index = more["services"]["opensearch"], more["services"]["index"]
    assert set(more["services"]) - set(services) == {"opensearch", "index"}
    assert re.search(r":\d+\.\d+\.\d+$", node["image"]) and node["cap_drop"] == ["ALL"] and not node.get("ports")
    assert node["networks"] == ["servers"] and node["volumes"][0].partition(":")[0] in more["volumes"]
    assert set(node["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
    assert index["extends"] == {"file": COMPOSE.name, "service": "worker"} and index["command"][0] == "index"
    for name in ("index", "worker", "console"):
        environment = services["worker"]["environment"] | more["services"][name]["environment"]
        config = load(None, {key: substituted(value) for key, value in environment.items()}).config
        assert config.opensearch == ("opensearch:9200",) and config.opensearch_replicas == 0
