"""Which pages claimed each content, by name, in Cassandra: Redis decides which of them owns it, and knows numbers."""

from typing import Final, Protocol

from gregor.schemas.messages import url_fingerprint
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.store_pages import signed

_PUT: Final = "INSERT INTO contents (fingerprint, owner, key) VALUES (?, ?, ?) USING TTL ?"
_KEY: Final = "SELECT key FROM contents WHERE fingerprint = ? AND owner = ?"
_DROP: Final = "DELETE FROM contents USING TIMESTAMP ? WHERE fingerprint = ? AND owner = ?"
_WRITTEN: Final = "SELECT WRITETIME(key) FROM contents WHERE fingerprint = ? AND owner = ?"


class Claimants(Protocol):
    """Who claimed a content, by number. Every method may raise `Unavailable`."""

    async def put(self, fingerprint: bytes, key: str) -> None:
        """A stored page claims a content."""

    async def key(self, fingerprint: bytes, owner: int) -> str | None:
        """The key of a claimant; None when its page is no longer kept."""

    async def drop(self, fingerprint: bytes, key: str) -> None:
        """The page of a claimant is deleted."""


def number_of(key: str) -> int:
    """By which Redis names the owner of a content; never 0."""
    return url_fingerprint(key) or 1


class Contents:
    """`Claimants`. ``retention``: seconds that pages are kept; 0: for ever."""

    def __init__(self, cassandra: Cassandra, retention: int = 0) -> None:
        self._cassandra = cassandra
        self._retention = retention

    async def put(self, fingerprint: bytes, key: str) -> None:
        values = (fingerprint, signed(number_of(key)), key, self._retention)
        await self._cassandra.write_at_once([(_PUT, values)])

    async def key(self, fingerprint: bytes, owner: int) -> str | None:
        found = await self._cassandra.find(_KEY, (fingerprint, signed(owner)))
        return found[0][0] if found else None

    async def drop(self, fingerprint: bytes, key: str) -> None:
        """With the write timestamp of what it deletes: what is written later stays."""
        place = (fingerprint, signed(number_of(key)))
        for (written,) in await self._cassandra.find(_WRITTEN, place):
            await self._cassandra.write(_DROP, (written, *place))
