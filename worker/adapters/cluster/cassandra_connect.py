"""How Cassandra is reached, and which of its failures pass."""

import logging
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from cassandra import (
    AuthenticationFailed,
    ConsistencyLevel,
    DriverException,
    UnresolvableContactPoints,
    UnsupportedOperation,
)
from cassandra import RequestValidationException as Refused
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionBusy, ConnectionException, ProtocolVersionUnsupported
from cassandra.policies import DCAwareRoundRobinPolicy, ExponentialReconnectionPolicy, TokenAwarePolicy
from cassandra.protocol import ErrorMessage
from cassandra.protocol import RequestValidationException as RefusedMessage
from cassandra.query import tuple_factory

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers, address, password, trusting

_PORT: Final = 9042
# Version 5 frames messages with checksums that the driver computes in Python: a third of a request's cost.
_PROTOCOL: Final = 4
_PASSING: Final = (DriverException, ConnectionException, ConnectionBusy, NoHostAvailable, ErrorMessage)
_LASTING: Final = (Refused, RefusedMessage, AuthenticationFailed, UnsupportedOperation, ProtocolVersionUnsupported)
_RECONNECT: Final = (0.1, 2.0)
_DETAIL: Final = 200


def make_cluster(settings: Servers, environ: Mapping[str, str]) -> Cluster:
    """A driver that is not connected yet; it has looked up names. Reads and writes are at quorum.

    Raises `BadInput`, and `Unavailable` when no name is known.
    """
    # It tells of every failed attempt to reconnect; what matters reaches the caller as an exception.
    logging.getLogger("cassandra").setLevel(logging.CRITICAL)
    profile = ExecutionProfile(
        load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy(settings.cassandra_datacenter)),
        consistency_level=ConsistencyLevel.QUORUM,
        serial_consistency_level=ConsistencyLevel.SERIAL,
        # The driver's timers cost another third: whoever waits keeps the time, heartbeats end what hangs.
        request_timeout=None,
        row_factory=tuple_factory,
    )
    user = settings.cassandra_username
    secret = password(settings, "cassandra", environ)
    points = [(host, port or _PORT) for host, port in (address("cassandra", text) for text in settings.cassandra)]
    options = {
        "port": points[0][1],
        "protocol_version": _PROTOCOL,
        "auth_provider": PlainTextAuthProvider(user, secret) if user else None,
        "ssl_context": _tls(settings) if settings.cassandra_tls else None,
        "execution_profiles": {EXEC_PROFILE_DEFAULT: profile},
        "reconnection_policy": ExponentialReconnectionPolicy(*_RECONNECT, max_attempts=None),
        "connect_timeout": settings.server_timeout,
        "control_connection_timeout": settings.server_timeout,
        # A cut connection is noticed by this, and opened anew.
        "idle_heartbeat_interval": settings.server_timeout / 2,
        "idle_heartbeat_timeout": settings.server_timeout / 2,
        "monitor_reporting_enabled": False,
    }
    try:
        return Cluster(points, **options)
    except UnresolvableContactPoints:
        names = ", ".join(host for host, _ in points)
        raise Unavailable("Cassandra", f"no address is known for {one_line(names, _DETAIL)}") from None


@contextmanager
def translated() -> Iterator[None]:
    """Raise `Unavailable` for what passes, `BadInput` for a name or password that was refused."""
    try:
        yield
    except (*_PASSING, TimeoutError) as error:
        meaning = translation(error)
        if meaning is error:
            raise
        raise meaning from error


def translation(error: BaseException) -> BaseException:
    """What a failure of the driver is to a caller; itself when it says that a statement is wrong."""
    causes = _causes(error)
    if any(isinstance(cause, AuthenticationFailed) for cause in [error, *causes.values()]):
        points = ", ".join(map(str, causes)) or "a node"
        return BadInput(f"Cassandra at {points} refused the user name and password: see cassandra_username")
    lasting: bool = isinstance(error, _LASTING)
    if lasting:
        return error
    details = [f"{point}: {_words(cause)}" for point, cause in causes.items()] or [_words(error)]
    return Unavailable("Cassandra", one_line("; ".join(details), _DETAIL))


def _causes(error: BaseException) -> dict[object, object]:
    """What went wrong at each node."""
    found = error.errors if isinstance(error, NoHostAvailable) else {}
    return dict(found) if isinstance(found, dict) else {}


def _words(error: object) -> str:
    first = error.args[0] if isinstance(error, NoHostAvailable) else error
    return str(first) or type(error).__name__


def _tls(settings: Servers) -> ssl.SSLContext:
    """Nodes are known to each other, and so to the driver, by address, which certificates seldom name.

    So who has a certificate of the crawl's own authority is trusted; a public one signs for anybody.
    """
    path = settings.cassandra_ca_file
    context = trusting("cassandra", path)
    context.check_hostname = not path
    return context
