"""The connection to Redis: one server, a primary that Sentinels name, or a Redis Cluster."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, OutOfMemoryError, RedisClusterException, RedisError, ResponseError

from gregor.worker.adapters.cluster.closing import ended
from gregor.worker.adapters.cluster.coalesce import Coalesced
from gregor.worker.adapters.cluster.redis_scripts import Script
from gregor.worker.base.batches import in_batches
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers, address, password

SERVICE: Final = "Redis"
_SCANNED: Final = 1000
_TOGETHER: Final = 64
"""Calls in one round trip, of each of which most have a command or two."""
# Answers that say "not now" (no memory, no disk, no replica, a failover, a slow script) rather than "not like this".
_NOT_NOW: Final = ("OOM", "MISCONF", "NOREPLICAS", "BUSY", "UNBLOCKED", "CLUSTERDOWN", "TRYAGAIN", "LOADING")
# What a script may not do for want of a permission, as Redis 7.0 and later ones say it: NOPERM is for commands alone.
_FORBIDDEN: Final = ("The user executing the script can't", "ACL failure in script")


# uvloop answers a write to a connection that ended in this moment with a RuntimeError, which redis-py lets pass. That
# no node of a cluster can be reached is no RedisError of redis-py.
AWAY: Final = (RedisError, RedisClusterException, OSError, RuntimeError)


class RedisCommand(Struct, frozen=True):
    """A command on one key, or a script on the keys of one hash tag. ``key`` says on which node of a cluster."""

    key: str | bytes
    arguments: tuple[Any, ...]
    script: Script | None = None

    def words(self) -> tuple[Any, ...]:
        """As it is sent."""
        return self.arguments if self.script is None else ("EVALSHA", self.script.sha, 1, self.key, *self.arguments)


_Calls = Coalesced[Sequence[RedisCommand], list[Any]]


class RedisClient:
    """Sends commands in one round trip (to each node), and waits for replicas if so configured. `open` it."""

    def __init__(self, servers: Servers, environ: Mapping[str, str]) -> None:
        """Connects at the first command. Raises BadInput."""
        self._replicas = servers.redis_replicas
        self._patience_ms = int(servers.server_timeout * 1000)
        self._reads: _Calls = Coalesced(lambda calls: self._run(calls, 0), _TOGETHER)
        self._writes: _Calls = Coalesced(lambda calls: self._run(calls, self._replicas), _TOGETHER)
        self._sentinel: Sentinel | None = None
        self._client = self._connect(servers, _options(servers, environ))

    @property
    def split(self) -> bool:
        """Whether keys of different hash tags may be on different nodes."""
        return isinstance(self._client, RedisCluster)

    async def check(self) -> list[str]:
        """See that nothing that is stored will be evicted, and that replicas are there; a line for each primary.

        Raises BadInput when Redis is set up otherwise, `Unavailable` when it or a replica is away.
        """
        lines = []
        for memory, replication in await self._infos():
            if replication["role"] != "master":
                raise BadInput("redis: this server is a replica; name its primary, or Sentinels and redis_sentinel")
            if memory["maxmemory_policy"] != "noeviction":
                policy = one_line(str(memory["maxmemory_policy"]))
                raise BadInput(f"Redis may evict what is stored: set its maxmemory-policy to noeviction, not {policy}")
            if replication["connected_slaves"] < self._replicas:
                raise Unavailable(SERVICE, f"{replication['connected_slaves']} of {self._replicas} replicas connected")
            most = int(memory.get("maxmemory") or 0)
            if most and memory["used_memory"] >= most:
                raise _full()
            replicas = (
                f"{replication['connected_slaves']} replicas connected, {self._replicas} must have what is written"
            )
            lines.append(f"Redis: nothing is evicted (maxmemory-policy noeviction); {replicas}")
        return lines

    async def read(self, commands: Sequence[RedisCommand]) -> list[Any]:
        """The answers in order. Raises `Unavailable`."""
        return _answered(await self._reads.ask(commands))

    async def write(self, commands: Sequence[RedisCommand]) -> list[Any]:
        """As `read`, and replicas have it too. Raises `Unavailable`, then perhaps after the effect."""
        return _answered(await self._writes.ask(commands))

    async def forget(self, pattern: str) -> None:
        """Delete every key that a pattern fits. Raises `Unavailable`."""
        try:
            nodes: dict[str, Any] = {}
            if isinstance(self._client, RedisCluster):
                nodes = {"target_nodes": self._client.get_primaries()}
            keys = self._client.scan_iter(match=pattern, count=_SCANNED, **nodes)
            async for some in in_batches(keys, _SCANNED):
                await self.write([RedisCommand(key, ("UNLINK", key)) for key in some])
        except AWAY as error:
            raise _translated(error) from None

    async def close(self) -> None:
        """End the connections."""
        for client in (self._client, self._sentinel):
            if client is not None:
                await ended(SERVICE, client.aclose())

    async def _run(self, calls: Sequence[Sequence[RedisCommand]], replicas: int) -> list[list[Any]]:
        """The answers to each call; one may be an error of its own. Raises `Unavailable` when all are in doubt."""
        commands = [command for call in calls for command in call]
        try:
            answers = await self._send(commands, replicas)
            if any(isinstance(answer, NoScriptError) for answer in answers):
                # Redis has restarted, or another primary has taken over.
                for script in {command.script for command in commands if command.script is not None}:
                    await self._client.script_load(script.text)
                answers = await self._send(commands, replicas)
            for acknowledged in answers[len(commands) :]:
                if isinstance(acknowledged, Exception):
                    raise acknowledged
                if acknowledged < replicas:
                    raise Unavailable(SERVICE, f"{acknowledged} of {replicas} replicas acknowledged a write")
        except AWAY as error:
            raise _translated(error) from None
        ordered = iter(answers)
        return [[next(ordered) for _ in call] for call in calls]

    async def _send(self, commands: Sequence[RedisCommand], replicas: int) -> list[Any]:
        """The commands and, behind them on the same connections, the wait for replicas."""
        pipeline = self._client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command.words())
        if replicas:
            wait = ("WAIT", replicas, self._patience_ms // 2)
            if isinstance(self._client, RedisCluster):
                for node in await self._nodes_of(commands):
                    pipeline.execute_command(*wait, target_nodes=node)
            else:
                pipeline.execute_command(*wait)
        answers: list[Any] = await pipeline.execute(raise_on_error=False)
        return answers

    async def _nodes_of(self, commands: Sequence[RedisCommand]) -> list[ClusterNode]:
        assert isinstance(self._client, RedisCluster)
        await self._client.initialize()
        found = (self._client.get_node_from_key(command.key) for command in commands)  # type: ignore[arg-type]
        return list({node.name: node for node in found if node is not None}.values())

    async def _infos(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """INFO of each primary: its sections memory and replication."""
        try:
            if isinstance(self._client, RedisCluster):
                await self._client.initialize()
                nodes = self._client.get_primaries()
                sections = [
                    await self._client.info(section, target_nodes=nodes) for section in ("memory", "replication")
                ]
                memory, replication = (_by_node(section, nodes) for section in sections)
                return [(memory[node.name], replication[node.name]) for node in nodes]
            return [(await self._client.info("memory"), await self._client.info("replication"))]
        except AWAY as error:
            translated = _translated(error)
            if translated is error:
                kinds = "Sentinels with redis_sentinel, nodes of a cluster with redis_cluster"
                raise BadInput(f"Redis refuses: {one_line(str(error), 200)}; redis names {kinds}") from None
            raise translated from None

    def _connect(self, servers: Servers, options: dict[str, Any]) -> Redis | RedisCluster:
        addresses = [_address(text) for text in servers.redis]
        if servers.redis_sentinel and servers.redis_cluster:
            raise BadInput("redis_sentinel and redis_cluster exclude each other")
        if servers.redis_cluster:
            return RedisCluster(startup_nodes=[ClusterNode(host, port) for host, port in addresses], **options)
        if servers.redis_sentinel:
            own = {name: value for name, value in options.items() if name not in ("username", "password")}
            self._sentinel = Sentinel(addresses, sentinel_kwargs=own, **options)  # type: ignore[no-untyped-call]
            client: Redis = self._sentinel.master_for(servers.redis_sentinel)
            return client
        if len(addresses) != 1:
            raise BadInput("redis: several servers need redis_sentinel or redis_cluster")
        return Redis(host=addresses[0][0], port=addresses[0][1], **options)


def _options(servers: Servers, environ: Mapping[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {
        "socket_timeout": servers.server_timeout,
        "socket_connect_timeout": servers.server_timeout,
        # Once more, at once: a connection from before a restart fails at its next use. Every effect may be repeated.
        "retry": Retry(NoBackoff(), 1),
        "protocol": 2,
    }
    if servers.redis_username:
        options["username"] = servers.redis_username
    if secret := password(servers, "redis", environ):
        options["password"] = secret
    if servers.redis_tls:
        options |= {"ssl": True, "ssl_check_hostname": True}
        if servers.redis_ca_file:
            options["ssl_ca_certs"] = servers.redis_ca_file
    return options


def _address(text: str) -> tuple[str, int]:
    host, port = address("redis", text)
    if port is None:
        raise BadInput(f"redis: {one_line(text)} must be HOST:PORT")
    return host, port


def _by_node(answer: dict[str, Any], nodes: Sequence[ClusterNode]) -> dict[str, Any]:
    """An answer by the name of the node; with one node redis-py gives its answer only."""
    return answer if len(nodes) > 1 else {nodes[0].name: answer}


def _answered(answers: list[Any]) -> list[Any]:
    for answer in answers:
        if isinstance(answer, AWAY):
            raise _translated(answer) from None
    return answers


def _translated(error: Exception) -> Exception:
    """`Unavailable`, or the error itself when Redis says that the command is wrong."""
    if type(error) is ResponseError and not str(error).startswith(_NOT_NOW + _FORBIDDEN):
        return error
    # redis-py appends the client's settings to some messages.
    detail = str(error).partition(" : <")[0]
    if isinstance(error, OutOfMemoryError) or "OOM command" in detail:
        return _full()
    if "No space left" in detail:
        return Unavailable(SERVICE, f"its disk has no space left ({one_line(detail, 200)})", "full")
    return Unavailable(SERVICE, one_line(f"{type(error).__name__}: {detail}", 300))


def _full() -> Unavailable:
    return Unavailable(SERVICE, "all of its maxmemory is used; give it more, or a larger node", "full")
