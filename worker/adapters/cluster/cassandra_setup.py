"""The keyspace and tables of a crawl, made by `gregor init` from schemas/cassandra/*.cql, one version a file."""

import asyncio
import re
import uuid
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Final

import msgspec
from cassandra import RequestValidationException
from cassandra.cluster import Session

from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.cassandra_connect import make_cluster, translated
from gregor.worker.adapters.cluster.made_for import compare
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers

# A schema change waits for all nodes.
_TIMEOUT: Final = 60.0
_VERSIONS: Final = "CREATE TABLE IF NOT EXISTS schema_versions (version int PRIMARY KEY, name text, applied timestamp)"
_FACTS: Final = "CREATE TABLE IF NOT EXISTS facts (name text PRIMARY KEY, value text)"
_FILE: Final = re.compile(r"(\d{4})_(\w+)\.cql")


class SetUp(msgspec.Struct, frozen=True):
    """``done``: a line for each thing that was made now. ``crawl_id``: random, made with the keyspace."""

    done: tuple[str, ...]
    crawl_id: str


class Version(msgspec.Struct, frozen=True):
    """A version of the tables: its number, the name of its file, its statements."""

    number: int
    name: str
    statements: tuple[str, ...]


async def set_up(settings: Servers, keyspace: str, facts: Mapping[str, str], environ: Mapping[str, str]) -> SetUp:
    """Make the keyspace and bring its tables to this version; what is there already stays. May be repeated.

    ``facts`` are what the crawl was made for (its name, its number of partitions): kept with the keyspace. Raises
    `BadInput` when it was made for something else, or by a later version; `Unavailable`.
    """
    return await asyncio.to_thread(_set_up, settings, keyspace, facts, environ)


def reach(settings: Servers, environ: Mapping[str, str]) -> None:
    """See that a node answers. Raises `Unavailable`, `BadInput`. Blocks."""
    cluster = make_cluster(settings, environ)
    try:
        with translated():
            cluster.connect()
    finally:
        cluster.shutdown()


async def check(cassandra: Cassandra, keyspace: str, facts: Mapping[str, str]) -> str:
    """The crawl's random id. Raises `BadInput` when the keyspace is not at this version or not this crawl's."""
    tables = await cassandra.read("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", (keyspace,))
    if {("schema_versions",), ("facts",)} <= set(tables):
        applied = {number for (number,) in await cassandra.read("SELECT version FROM schema_versions")}
        if {version.number for version in versions()} <= applied:
            stored: dict[str, str] = dict(await cassandra.read("SELECT name, value FROM facts"))
            compare(f"keyspace {keyspace}", facts, stored)
            return stored["id"]
    raise BadInput(f"the tables in keyspace {keyspace} are not of this version of Gregor: run `gregor init`")


def versions() -> Iterator[Version]:
    """The versions that this package has, in order."""
    folder = resources.files("gregor.schemas") / "cassandra"
    for name in sorted(file.name for file in folder.iterdir()):
        if matched := _FILE.fullmatch(name):
            text = re.sub(r"--.*", "", (folder / name).read_text("utf-8"))
            statements = tuple(statement.strip() for statement in text.split(";") if statement.strip())
            yield Version(int(matched[1]), matched[2], statements)


def _set_up(settings: Servers, keyspace: str, facts: Mapping[str, str], environ: Mapping[str, str]) -> SetUp:
    cluster = make_cluster(settings, environ)
    try:
        with translated():
            session = cluster.connect()
            _agreed(cluster.control_connection.wait_for_schema_agreement())  # on what was made by an attempt before
            done = [*_make_keyspace(session, settings, keyspace), *_apply(session, keyspace)]
            fresh = {"contents": "whole"} if _made_now(done) else {}  # each of its pages will be there
            kept = _keep(session, {**facts, **fresh, "id": uuid.uuid4().hex})
    except RequestValidationException as error:  # a permission is missing, or a data center that is named
        raise BadInput(f"Cassandra refused to make the tables in keyspace {keyspace}: {one_line(str(error))}") from None
    finally:
        cluster.shutdown()
    compare(f"keyspace {keyspace}", facts, kept)
    return SetUp(tuple(done), kept["id"])


def _make_keyspace(session: Session, settings: Servers, keyspace: str) -> Iterator[str]:
    existing = session.execute(
        "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = %s", (keyspace,), timeout=_TIMEOUT
    ).one()
    # For the given data center, or for each that there is.
    where = settings.cassandra_datacenter or "replication_factor"
    if existing is None:
        replication = {"class": "NetworkTopologyStrategy", where: settings.cassandra_replication}
        _define(session, f"CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {replication}")
        yield f"Cassandra: keyspace {keyspace} with replication {settings.cassandra_replication}"
    session.set_keyspace(keyspace)


def _apply(session: Session, keyspace: str) -> Iterator[str]:
    for statement in (_VERSIONS, _FACTS):
        _define(session, statement)
    applied = {number for (number,) in session.execute("SELECT version FROM schema_versions", timeout=_TIMEOUT)}
    all_versions = list(versions())
    if later := applied.difference(version.number for version in all_versions):
        raise BadInput(f"keyspace {keyspace} has tables of a later version of Gregor ({max(later)})")
    for version in all_versions:
        if version.number not in applied:
            for statement in version.statements:
                _define(session, statement)
            session.execute(
                "INSERT INTO schema_versions (version, name, applied) VALUES (%s, %s, toTimestamp(now()))",
                (version.number, version.name),
                timeout=_TIMEOUT,
            )
            yield f"Cassandra: tables of version {version.number} ({version.name}) in keyspace {keyspace}"


def _define(session: Session, statement: str) -> None:
    """Change the schema, and see that every node knows."""
    asked = session.execute_async(statement, timeout=_TIMEOUT)
    asked.result()
    _agreed(asked.is_schema_agreed)


def _agreed(agreed: bool) -> None:
    """Raises `Unavailable` when the nodes did not come to know the same tables in time."""
    if not agreed:
        raise Unavailable("Cassandra", "its nodes do not agree on the schema yet")


def _made_now(done: list[str]) -> bool:
    """Whether the first version of the tables was made now, so that nothing of an earlier one is in them."""
    return any("tables of version 1 " in line for line in done)


def _keep(session: Session, facts: Mapping[str, str]) -> dict[str, str]:
    """Keep what is not there yet, as one of several that may do so at once; all that is there then."""
    for fact in facts.items():
        session.execute("INSERT INTO facts (name, value) VALUES (%s, %s) IF NOT EXISTS", fact, timeout=_TIMEOUT)
    return dict(session.execute("SELECT name, value FROM facts", timeout=_TIMEOUT))
