"""A kazoo client as the coordinator needs it: how it connects, who it is, how long it waits."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionDropped, SessionExpiredError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.serialization import Connect
from kazoo.security import CREATOR_ALL_ACL

from gregor.worker.config.servers import Servers, password
from gregor.worker.observe.logging import logs

_LOG = logs("steering")
SHARE_OF_SESSION: Final = 1 / 4
"""How long an answer, or a connection, is waited for, as a part of the session's time-out."""
_RECONNECT: Final = {"max_tries": -1, "delay": 0.1, "backoff": 2, "max_delay": 1.0}


class _Handler(SequentialThreadingHandler):  # type: ignore[misc]
    """Gives each server of several its chance within one session: kazoo waits for one as long as a session lasts."""

    def __init__(self, limit: float) -> None:
        super().__init__()
        self._limit = limit

    def create_connection(self, *arguments: Any, timeout: float, **named: Any) -> Any:
        return super().create_connection(*arguments, timeout=min(timeout, self._limit), **named)


class Refusals:
    """When a session has to be given up that no server takes.

    A server refuses whoever has seen more than it has itself, since another one of the ensemble may be further. When
    all have come back without their data, none ever is. The session's time is over by then: no lease is lost by it.
    """

    def __init__(self, seconds: float) -> None:
        """``seconds``: seconds for which refusals in a row are borne."""
        self._seconds = seconds
        self._since: float | None = None

    def taken(self) -> None:
        """A server has answered."""
        self._since = None

    def refused(self, now: float) -> bool:
        """A server hung up on the request for a session; whether a new one has to be asked for."""
        if self._since is None:
            self._since = now
        if now - self._since < self._seconds:
            return False
        self._since = None
        return True


def make_client(
    servers: Servers,
    environ: Mapping[str, str],
    granted: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> KazooClient:
    """A client that is not started. Raises BadInput when a secret cannot be had.

    ``clock``: seconds that only go on.

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
    limit = servers.session_timeout * SHARE_OF_SESSION
    client = KazooClient(
        ",".join(servers.zookeeper),
        timeout=servers.session_timeout,
        connection_retry=_RECONNECT,
        handler=_Handler(limit),
        **options,
    )
    invoke, refusals = client._connection._invoke, Refusals(servers.session_timeout)

    def invoked(timeout: float, request: Any, xid: int | None = None) -> Any:
        """kazoo has the granted time-out here and nowhere else, and hears here that it is refused."""
        if not isinstance(request, Connect):
            return invoke(min(timeout, limit), request, xid)
        try:
            result = invoke(min(timeout, limit), request, xid)
        except ConnectionDropped:
            if refusals.refused(clock()):
                _LOG.warning("ZooKeeper takes the session no more: its data may be gone; another session is begun")
                client.last_zxid = 0  # as a new process would ask: else every server without the data hangs up
                raise SessionExpiredError from None
            raise
        refusals.taken()
        if result[0].time_out > 0:
            granted(result[0].time_out / 1000)
        return result

    client._connection._invoke = invoked
    return client
