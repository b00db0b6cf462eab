"""A kazoo client as the coordinator needs it: how it connects, who it is, how long it waits."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from kazoo.client import KazooClient
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.serialization import Connect
from kazoo.security import CREATOR_ALL_ACL

from gregor.worker.config.servers import Servers, password

PATIENCE: Final = 1 / 4
"""How long an answer, or a connection, is waited for, as a part of the session's time-out."""
_RECONNECT: Final = {"max_tries": -1, "delay": 0.1, "backoff": 2, "max_delay": 1.0}


class _Handler(SequentialThreadingHandler):  # type: ignore[misc]
    """Gives each server of several its chance within one session: kazoo waits for one as long as a session lasts."""

    def __init__(self, limit: float) -> None:
        super().__init__()
        self._limit = limit

    def create_connection(self, *arguments: Any, timeout: float, **named: Any) -> Any:
        return super().create_connection(*arguments, timeout=min(timeout, self._limit), **named)


def make_client(servers: Servers, environ: Mapping[str, str], granted: Callable[[float], None]) -> KazooClient:
    """A client that is not started. Raises BadInput when a secret cannot be had.

    ``granted`` is called on kazoo's thread with the session's time-out, seconds, each time that a server grants one,
    before the client tells of the connection. A server that says the session is over grants none.
    """
    # It warns of every failed attempt to connect; what matters reaches the caller as a state.
    logging.getLogger("kazoo").setLevel(logging.ERROR)
    options: dict[str, Any] = {}
    if servers.zookeeper_username:
        secret = password(servers, "zookeeper", environ)
        options = {
            "auth_data": [("digest", f"{servers.zookeeper_username}:{secret}")],
            "default_acl": CREATOR_ALL_ACL,
        }
    if servers.zookeeper_ca_file:
        options |= {"use_ssl": True, "ca": servers.zookeeper_ca_file, "check_hostname": True}
    limit = servers.session_timeout * PATIENCE
    client = KazooClient(
        ",".join(servers.zookeeper),
        timeout=servers.session_timeout,
        connection_retry=_RECONNECT,
        handler=_Handler(limit),
        **options,
    )
    invoke = client._connection._invoke

    def invoked(timeout: float, request: Any, xid: int | None = None) -> Any:
        """kazoo has the granted time-out here and nowhere else."""
        result = invoke(min(timeout, limit), request, xid)
        if isinstance(request, Connect) and result[0].time_out > 0:
            granted(result[0].time_out / 1000)
        return result

    client._connection._invoke = invoked
    return client
