"""The connection to ZooKeeper, through kazoo. Its threads end here: all that is heard comes on the event loop."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self

from kazoo.client import KazooState
from kazoo.exceptions import (
    BadVersionError,
    KazooException,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    RolledBackError,
    RuntimeInconsistency,
)
from kazoo.protocol.connection import _CONNECTION_DROP
from kazoo.protocol.states import KeeperState, ZnodeStat

from gregor.worker.adapters.cluster.closing import ended
from gregor.worker.adapters.cluster.lease import Session
from gregor.worker.adapters.cluster.zookeeper_connect import SHARE_OF_SESSION, make_client
from gregor.worker.adapters.cluster.zookeeper_tree import CheckVersion, Create, Delete, Operation, PutNode, Stat
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers

SERVICE: Final = "ZooKeeper"
_REFUSALS: Final = (BadVersionError, NodeExistsError, NoNodeError, RolledBackError, RuntimeInconsistency)

Call = Callable[..., Any]


class ZooKeeperFailed(Exception):
    """kazoo's connection ended by itself, for good: the worker must end too."""


class ZooKeeper:
    """`ZooKeeperNodes`. `open` it.

    ``on_event`` is called on the event loop with the path of a node whose watch fired, or None when the session or the
    connection changed: then all watches are gone.
    """

    def __init__(self, servers: Servers, clock: Clock, environ: Mapping[str, str]) -> None:
        self._servers = servers
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self.granted = 0.0
        """The session's time-out as the server gives it, seconds."""
        self._closing = False
        self._connected = asyncio.Event()
        self.session: Session | None = None
        self.on_event: Callable[[str | None], None] = lambda _: None
        self._client = make_client(servers, environ, self._grant, clock.monotonic)
        self._client.add_listener(self._listen)

    @classmethod
    async def open(cls, servers: Servers, clock: Clock, environ: Mapping[str, str] = os.environ) -> Self:
        """Connect. Raises `Unavailable` when no server answers within the settings' time, BadInput."""
        opened = cls(servers, clock, environ)
        opened._client.start_async()
        try:
            async with asyncio.timeout(servers.server_timeout):
                await opened._connected.wait()
            if opened.granted <= servers.lease_margin:
                granted = f"a session of {opened.granted:g} seconds"
                raise BadInput(f"lease_margin {servers.lease_margin:g} leaves nothing of {granted}")
        except TimeoutError:
            await opened.close()
            raise Unavailable(SERVICE, f"no answer from {', '.join(servers.zookeeper)}") from None
        except BaseException:
            await opened.close()
            raise
        return opened

    async def close(self) -> None:
        """End the session, if a server can be told, and kazoo's threads. May be repeated."""
        self._closing = True
        await ended(SERVICE, asyncio.to_thread(self._end))

    def _end(self) -> None:
        self._client.stop()
        self._client.close()

    async def get(self, path: str, *, watch: bool = False) -> tuple[bytes, Stat] | None:
        try:
            data, stat = await self._call(self._client.get_async, path, watch=self._watch if watch else None)
        except NoNodeError:
            return None
        return data, _stat(stat)

    async def exists(self, path: str, *, watch: bool = False) -> Stat | None:
        stat = await self._call(self._client.exists_async, path, watch=self._watch if watch else None)
        return None if stat is None else _stat(stat)

    async def children(self, path: str, *, watch: bool = False) -> list[str]:
        try:
            names = await self._call(self._client.get_children_async, path, watch=self._watch if watch else None)
        except NoNodeError:
            return []
        return list(names)

    async def create(self, path: str, data: bytes, *, ephemeral: bool = False, sequence: bool = False) -> str | None:
        try:
            made = await self._call(self._client.create_async, path, data, ephemeral=ephemeral, sequence=sequence)
        except NodeExistsError:
            return None
        except NoNodeError:
            raise Unavailable(SERVICE, f"the node above {path} is gone: run `gregor init`") from None
        return str(made).rpartition("/")[2]

    async def set(self, path: str, data: bytes) -> Stat | None:
        try:
            return _stat(await self._call(self._client.set_async, path, data))
        except NoNodeError:
            return None

    async def delete(self, path: str) -> None:
        with contextlib.suppress(NoNodeError):
            await self._call(self._client.delete_async, path)

    async def commit(self, operations: Sequence[Operation]) -> bool:
        transaction = self._client.transaction()
        for operation in operations:
            match operation:
                case CheckVersion(path, version):
                    transaction.check(path, version)
                case Create(path, data):
                    transaction.create(path, data, ephemeral=True)
                case PutNode(path, data, version):
                    transaction.set_data(path, data, version)
                case Delete(path):
                    transaction.delete(path)
        results = await self._call(transaction.commit_async)
        errors = [result for result in results if isinstance(result, Exception)]
        if other := next((error for error in errors if not isinstance(error, _REFUSALS)), None):
            raise _unavailable(other)
        return not errors

    async def ensure(self, path: str) -> None:
        """Have a persistent node, with all above it."""
        await self._call(self._client.ensure_path_async, path)

    async def _call(self, call: Call, *arguments: Any, **named: Any) -> Any:
        """Ask ZooKeeper. Raises `Unavailable`, and what ZooKeeper answers about nodes.

        Without a connection nothing is asked: kazoo would keep it and ask later, maybe in another session.
        """
        self.check()
        seconds = min(self._servers.server_timeout, self.granted * SHARE_OF_SESSION)
        try:
            async with asyncio.timeout(seconds):
                await self._connected.wait()
                return await self._ask(call, *arguments, **named)
        except TimeoutError:
            self._reconnect()
            raise Unavailable(SERVICE, f"no answer within {seconds:g} s") from None
        except (NoNodeError, NodeExistsError):
            raise
        except KazooException as error:
            raise _unavailable(error) from None

    async def _ask(self, call: Call, *arguments: Any, **named: Any) -> Any:
        """An answer counts for the session it was asked in; what was made in another session ends with that."""
        session, sent = self.session, self._clock.monotonic()
        assert session is not None
        answer: asyncio.Future[Any] = self._loop.create_future()

        def arrive(result: Any) -> None:
            if result.successful():
                session.answered(sent)
            if not answer.done():
                if result.successful():
                    answer.set_result(result.value)
                else:
                    answer.set_exception(result.exception)

        call(*arguments, **named).rawlink(lambda result: self._soon(partial(arrive, result)))
        value = await answer
        if session.lost:
            raise Unavailable(SERVICE, "the session ended")
        return value

    def _reconnect(self) -> None:
        """Leave a server that does not answer, in the same session. kazoo would stay for most of the session."""
        if self._client.connected:
            self._client._call(_CONNECTION_DROP, self._client.handler.async_result())

    def check(self) -> None:
        """Raises `ZooKeeperFailed` when kazoo has given up."""
        if not self._closing and self._client.client_state in _GIVEN_UP:
            raise ZooKeeperFailed(f"kazoo gave up: {self._client.client_state}")

    def _grant(self, timeout: float) -> None:
        self.granted = timeout

    def _listen(self, state: str) -> None:
        """On kazoo's thread, between any answer of one session and any request of the next."""
        if state == KazooState.CONNECTED:
            number = self._client.client_id[0]
            length = self.granted - self._servers.lease_margin
            if self.session is None or self.session.lost or self.session.number != number:
                self._lose()
                self.session = Session(number, length)
            else:
                self._soon(partial(self.session.grant, length))
            self._soon(self._connected.set)
        else:
            self._soon(self._connected.clear)
        if state == KazooState.LOST:
            self._lose()
        self._soon(lambda: self.on_event(None))

    def _lose(self) -> None:
        if self.session is not None:
            self.session.lose()

    def _watch(self, event: Any) -> None:
        """On kazoo's thread. A path of None means that the connection is gone, which `_listen` tells."""
        if event.path is not None:
            self._soon(lambda: self.on_event(event.path))

    def _soon(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is closed: nobody is left to hear it
            self._loop.call_soon_threadsafe(call)


_GIVEN_UP: Final = (KeeperState.CLOSED, KeeperState.AUTH_FAILED)


def _stat(stat: ZnodeStat) -> Stat:
    return Stat(version=stat.version, mtime=stat.mtime / 1000, owner=stat.ephemeralOwner)


def _unavailable(error: Exception) -> Unavailable:
    if isinstance(error, NoAuthError):
        return Unavailable(SERVICE, "the crawl's nodes are another user's: see zookeeper_username and its password")
    return Unavailable(SERVICE, one_line(f"{type(error).__name__} {error}".strip(), 300))
