"""The settings that reach the servers of the cluster engine: one flat structure, a part of the crawl's settings.

Secrets are never in the config: ``…_password_env`` names an environment variable, ``…_password_file`` a file whose
first line is the password.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line
from gregor.worker.config.times import SECONDS

SERVERS: Final = ("kafka", "zookeeper", "redis", "cassandra")
"""As their settings begin: those that the cluster engine needs. OpenSearch is for the index alone."""


class Servers(Struct, frozen=True, kw_only=True):
    """Where Kafka, ZooKeeper, Redis, Cassandra and OpenSearch are, and how they are spoken to. Times are seconds."""

    server_timeout: Annotated[float, SECONDS, Meta(gt=0, description="one answer of a server of the cluster")] = 10.0
    start_timeout: Annotated[float, SECONDS, Meta(ge=0, description="how long servers are waited for at start")] = 60.0
    session_timeout: Annotated[
        float, SECONDS, Meta(ge=1, description="a worker's session; the longest silence of an owner")
    ] = 10.0

    # Kafka
    kafka: Annotated[tuple[str, ...], Meta(description="Kafka brokers, HOST:PORT")] = ("127.0.0.1:9092",)
    kafka_security: Annotated[
        Literal["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"], Meta(description="how Kafka is spoken to")
    ] = "plaintext"
    kafka_sasl_mechanism: Annotated[
        Literal["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN", "AWS_MSK_IAM"],
        Meta(description="how Kafka knows us, with sasl_…; AWS_MSK_IAM: by the role of the machine or pod"),
    ] = "SCRAM-SHA-512"
    kafka_username: Annotated[str, Meta(description="user of Kafka")] = ""
    kafka_password_env: Annotated[str, Meta(description="environment variable with its password")] = ""
    kafka_password_file: Annotated[str, Meta(description="file with its password")] = ""
    kafka_ca_file: Annotated[str, Meta(description="PEM file of the CAs of Kafka; default: the usual ones")] = ""
    kafka_replication: Annotated[int, Meta(ge=1, le=32767, description="replicas of each topic")] = 3

    # ZooKeeper
    zookeeper: Annotated[tuple[str, ...], Meta(description="ZooKeeper servers, HOST:PORT")] = ("127.0.0.1:2181",)
    zookeeper_root: Annotated[str, Meta(pattern=r"^(/[^/]+)+$", description="the path that holds all crawls")] = (
        "/gregor"
    )
    zookeeper_username: Annotated[str, Meta(description="user of ZooKeeper (digest)")] = ""
    zookeeper_password_env: Annotated[str, Meta(description="environment variable with its password")] = ""
    zookeeper_password_file: Annotated[str, Meta(description="file with its password")] = ""
    zookeeper_ca_file: Annotated[str, Meta(description="PEM file of the CAs of ZooKeeper; sets TLS")] = ""
    lease_margin: Annotated[
        float,
        SECONDS,
        Meta(gt=0, description="how long before its session may end a worker lets go: drift, longest pause"),
    ] = 2.0
    worker_weight: Annotated[
        int, Meta(ge=1, le=1000, description="a worker's share of the partitions, against that of the others")
    ] = 1

    # Redis
    redis: Annotated[tuple[str, ...], Meta(description="Redis servers, HOST:PORT; Sentinels with redis_sentinel")] = (
        "127.0.0.1:6379",
    )
    redis_sentinel: Annotated[str, Meta(description="the name by which the Sentinels know the primary")] = ""
    redis_cluster: Annotated[bool, Meta(description="the servers are nodes of a Redis Cluster")] = False
    redis_username: Annotated[str, Meta(description="user of Redis (ACL)")] = ""
    redis_password_env: Annotated[str, Meta(description="environment variable with its password")] = ""
    redis_password_file: Annotated[str, Meta(description="file with its password")] = ""
    redis_tls: Annotated[bool, Meta(description="speak TLS with Redis")] = False
    redis_ca_file: Annotated[str, Meta(description="PEM file of the CAs of Redis; default: the usual ones")] = ""
    redis_replicas: Annotated[
        int, Meta(ge=0, description="how many replicas of Redis must have what is written; none: nobody is asked")
    ] = 0

    # Cassandra
    cassandra: Annotated[tuple[str, ...], Meta(description="Cassandra contact points, HOST:PORT")] = ("127.0.0.1:9042",)
    cassandra_keyspace: Annotated[
        str, Meta(pattern=r"^$|^[a-z][a-z0-9_]{0,47}$", description="keyspace; default: made of the crawl's name")
    ] = ""
    cassandra_datacenter: Annotated[str, Meta(description="local data center; default: the first contact's")] = ""
    cassandra_username: Annotated[str, Meta(description="user of Cassandra")] = ""
    cassandra_password_env: Annotated[str, Meta(description="environment variable with its password")] = ""
    cassandra_password_file: Annotated[str, Meta(description="file with its password")] = ""
    cassandra_tls: Annotated[bool, Meta(description="speak TLS with Cassandra")] = False
    cassandra_ca_file: Annotated[str, Meta(description="PEM file of the CAs of Cassandra; default: the usual ones")] = (
        ""
    )
    cassandra_replication: Annotated[int, Meta(ge=1, description="replicas of each row")] = 3
    cassandra_retention: Annotated[
        int, SECONDS, Meta(ge=0, le=630_720_000, description="how long page versions and bodies are kept; 0: for ever")
    ] = 0

    # OpenSearch, which holds the index of what was crawled, if it is to be searched
    opensearch: Annotated[
        tuple[str, ...],
        Meta(description="OpenSearch nodes, HOST:PORT; none: the index lies in the data folder, on one machine only"),
    ] = ()
    opensearch_username: Annotated[str, Meta(description="user of OpenSearch")] = ""
    opensearch_password_env: Annotated[str, Meta(description="environment variable with its password")] = ""
    opensearch_password_file: Annotated[str, Meta(description="file with its password")] = ""
    opensearch_tls: Annotated[bool, Meta(description="speak TLS with OpenSearch")] = False
    opensearch_ca_file: Annotated[
        str, Meta(description="PEM file of the CAs of OpenSearch; default: the usual ones")
    ] = ""
    opensearch_documents: Annotated[
        int,
        Meta(
            ge=1, le=10_000_000_000, description="documents that are expected: the shards of an index are made for them"
        ),
    ] = 1_000_000
    opensearch_replicas: Annotated[int, Meta(ge=0, le=20, description="replicas of each shard of the index")] = 1
    opensearch_refresh: Annotated[
        float, SECONDS, Meta(ge=0.1, le=3600, description="how long until what was written to the index is found")
    ] = 1.0


def password(settings: Servers, server: str, environ: Mapping[str, str]) -> str:
    """The password for a server ("kafka", "redis", …); empty when none is set. Raises BadInput naming the setting."""
    variable: str = getattr(settings, f"{server}_password_env")
    path: str = getattr(settings, f"{server}_password_file")
    if variable and path:
        raise BadInput(f"{server}_password_env and {server}_password_file exclude each other")
    if variable:
        if not environ.get(variable):
            raise BadInput(f"{server}_password_env: set the environment variable {one_line(variable)}")
        return environ[variable]
    if not path:
        return ""
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{server}_password_file: cannot read {one_line(path)}: {why(error)}") from None
    if not lines or not lines[0]:
        raise BadInput(f"{server}_password_file: the first line of {one_line(path)} is empty")
    return lines[0]


def check_server(settings: Servers, server: str, environ: Mapping[str, str]) -> None:
    """See that the settings of a server ("kafka", …) can be used, before it is asked. Raises BadInput naming one."""
    if not (addresses := getattr(settings, server)):
        raise BadInput(f"{server}: at least one server is needed")
    for text in addresses:
        address(server, text)
    path: str = getattr(settings, f"{server}_ca_file")
    if path and _speaks_tls(settings, server):
        trusting(server, path)
    secret = password(settings, server, environ)
    if server == "zookeeper" and {".", ".."} & set(settings.zookeeper_root.split("/")):
        raise BadInput(f"zookeeper_root: {one_line(settings.zookeeper_root)} must be an absolute path")
    has_account = settings.kafka_sasl_mechanism == "AWS_MSK_IAM" or (settings.kafka_username and secret)
    if server == "kafka" and settings.kafka_security.startswith("sasl") and not has_account:
        needs = "kafka_username, and kafka_password_env or kafka_password_file"
        raise BadInput(f"kafka_security {settings.kafka_security} needs {needs}")


def trusting(server: str, path: str) -> ssl.SSLContext:
    """A context that trusts the authorities in a file, or the usual ones. Raises BadInput naming the setting."""
    try:
        return ssl.create_default_context(cafile=path or None)
    except OSError as error:
        raise BadInput(f"{server}_ca_file: cannot read {one_line(path)}: {why(error)}") from None


def address(server: str, text: str) -> tuple[str, int | None]:
    """The host and port of an address of a server; None when it has no port. Raises BadInput naming the setting."""
    head, colon, tail = text.rpartition(":")
    host, port = (head, tail) if colon and not text.endswith("]") else (text, None)
    bare = host.removeprefix("[").removesuffix("]")
    is_host = bare and bare.isprintable() and not set(bare) & set(" /[]") and (":" in bare) == (bare != host)
    is_port = port is None or (port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16)
    if not (is_host and is_port):
        raise BadInput(f"{server}: {one_line(text)} must be HOST:PORT")
    return bare, None if port is None else int(port)


def _speaks_tls(settings: Servers, server: str) -> bool:
    if server == "kafka":
        return settings.kafka_security.endswith("ssl")
    return server == "zookeeper" or bool(getattr(settings, f"{server}_tls"))
