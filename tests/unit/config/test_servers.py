"""Secrets of the servers: from where they come, and that no message shows them."""

import asyncio
from pathlib import Path

import pytest

from gregor.worker.adapters.cluster.kafka_client import client_settings
from gregor.worker.base.errors import BadInput
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.servers import SERVERS, Servers, address, check_server, password
from gregor.worker.config.settings import Config

WRONG = (
    "",
    ":9",
    "a:",
    "a:b",
    "a:0",
    "a:65536",
    "a:-1",
    "a:١",
    "::1:9",
    "a b:9",
    "a:b:9",
    "kafka://a:9",
    "a\n:9",
    "[a]:9",
    "[]:9",
)


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
        asyncio.run(engine_of(config).init())


NO_PEM = "/dev/null"
UNUSABLE: list[tuple[str, dict[str, object], str]] = [
    ("kafka", {"kafka": ()}, "kafka: at least one server"),
    ("zookeeper", {"zookeeper": ()}, "zookeeper: at least one server"),
    ("kafka", {"kafka_security": "ssl", "kafka_ca_file": NO_PEM}, f"kafka_ca_file: cannot read {NO_PEM}: "),
    ("redis", {"redis_tls": True, "redis_ca_file": "/nowhere/x"}, "redis_ca_file: cannot read .*: No such file"),
    ("zookeeper", {"zookeeper_ca_file": "/nowhere/x"}, "zookeeper_ca_file: cannot read .*: No such file"),
    ("cassandra", {"cassandra_tls": True, "cassandra_ca_file": NO_PEM}, "cassandra_ca_file: cannot read"),
    ("kafka", {"kafka_security": "sasl_ssl", "kafka_username": "gregor"}, "needs .* kafka_password_env"),
    ("kafka", {"kafka_security": "sasl_plaintext", "kafka_password_env": "SECRET"}, "needs kafka_username"),
    ("zookeeper", {"zookeeper_root": "/a/../b"}, "zookeeper_root: /a/../b must be an absolute path"),
]


UNUSABLE += [
    (server, {server: ("a:1", wrong)}, f"{server}: .* must be HOST:PORT") for server in SERVERS for wrong in WRONG
]


@pytest.mark.parametrize(("server", "fields", "told"), UNUSABLE)
def test_what_cannot_be_used_is_one_line_before_a_server_is_asked(
    server: str, fields: dict[str, object], told: str
) -> None:
    with pytest.raises(BadInput, match=told):
        check_server(Servers(**fields), server, {"SECRET": "hidden"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.example:9092", ("a.example", 9092)),
        ("192.0.2.1", ("192.0.2.1", None)),
        ("[::1]:9043", ("::1", 9043)),
        ("[::1]", ("::1", None)),
    ],
)
def test_an_address_has_a_host_and_perhaps_a_port(text: str, found: tuple[str, int | None]) -> None:
    assert address("kafka", text) == found


def test_what_is_not_spoken_needs_no_certificate() -> None:
    for server in SERVERS:
        check_server(Servers(kafka_ca_file="/nowhere", redis_ca_file="/nowhere"), server, {})
    iam = Servers(kafka_security="sasl_ssl", kafka_sasl_mechanism="AWS_MSK_IAM")
    check_server(iam, "kafka", {})
