"""Secrets of the servers: from where they come, and that no message shows them."""

import asyncio
from pathlib import Path

import pytest

from gregor.worker import composition
from gregor.worker.adapters.cluster.kafka_client import client_settings
from gregor.worker.config import Config
from gregor.worker.config_servers import Servers, password
from gregor.worker.errors import BadInput


def test_a_password_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("from file\n\n")
    assert password(Servers(), "kafka", {}) == ""
    assert password(Servers(redis_password_env="SECRET"), "redis", {"SECRET": "x y"}) == "x y"
    assert password(Servers(cassandra_password_file=str(path)), "cassandra", {}) == "from file"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"kafka_password_env": "SECRET"}, "kafka_password_env: set the environment variable SECRET"),
        (
            {"kafka_password_file": "/nowhere/x"},
            "kafka_password_file: cannot read /nowhere/x: No such file or directory",
        ),
        ({"kafka_password_file": "/dev/null"}, "the first line of /dev/null is empty"),
        ({"kafka_password_env": "A", "kafka_password_file": "b"}, "exclude each other"),
    ],
)
def test_a_password_that_cannot_be_had_is_named(fields: dict[str, str], text: str) -> None:
    with pytest.raises(BadInput, match=text):
        password(Servers(**fields), "kafka", {})  # type: ignore[arg-type]


def test_kafka_is_spoken_to_as_configured() -> None:
    assert "sasl.mechanism" not in client_settings(Servers(), {})
    servers = Servers(
        kafka=("a:1", "b:2"),
        kafka_security="sasl_ssl",
        kafka_username="gregor",
        kafka_password_env="SECRET",
        kafka_ca_file="/ca.pem",
    )
    found = client_settings(servers, {"SECRET": "hidden"})
    assert found["bootstrap.servers"] == "a:1,b:2"
    assert found["security.protocol"] == "sasl_ssl"
    assert found["ssl.ca.location"] == "/ca.pem"
    assert (found["sasl.mechanism"], found["sasl.username"]) == ("SCRAM-SHA-512", "gregor")
    assert found["sasl.password"] == "hidden"


@pytest.mark.parametrize("field", ["redis_password_file", "cassandra_password_file", "operator_token_file"])
def test_a_missing_secret_is_named_before_a_server_is_waited_for(field: str) -> None:
    config = Config(engine="cluster", listen="127.0.0.1:0", cassandra=("127.0.0.1:1",), **{field: "/nowhere/x"})  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=f"{field}.*cannot.*read"):
        asyncio.run(composition.init(config))
