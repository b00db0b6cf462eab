"""The seen set in Redis: 64-bit fingerprints of URLs, and who owns a content.

Who owns a content is decided in Redis, in one round trip; what the owner is called is written to Cassandra before that,
when its page is stored. So a fingerprint names a stored page, whenever a worker dies.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final, Self

from gregor.worker.adapters.cluster.contents import Claimants, number_of
from gregor.worker.adapters.cluster.redis_addresses import RedisAddresses, probe_addresses
from gregor.worker.adapters.cluster.redis_client import RedisClient, RedisCommand
from gregor.worker.adapters.cluster.redis_contents import NOBODY, Claim, RedisContents
from gregor.worker.adapters.cluster.redis_scripts import FORGET, MARK, SEEN, Script, group_key, group_of, pack
from gregor.worker.config.servers import Servers

# Redis does nothing else while a script runs: some milliseconds at most.
_LONGEST_SCRIPT: Final = 2000
_YES: Final = ord("1")


class RedisSeen:
    """`SeenSet`. Any number of fingerprints is one round trip (to each node of a cluster)."""

    def __init__(self, client: RedisClient, crawl: str, claimants: Claimants) -> None:
        """``crawl`` is the crawl's random id: a crawl that is made anew sees nothing of the one before."""
        self._client = client
        self._crawl = crawl
        self._contents = RedisContents(client, crawl)
        self.addresses = RedisAddresses(client, crawl)
        """What the same server knows of whose turn each address is."""
        self._claimants = claimants

    @classmethod
    async def open(
        cls, servers: Servers, crawl: str, claimants: Claimants, environ: Mapping[str, str] = os.environ
    ) -> Self:
        """Connect and check. Raises `Unavailable`, BadInput when Redis is set up to lose what is stored."""
        client = RedisClient(servers, environ)
        opened = cls(client, crawl, claimants)
        try:
            await client.check()
            await probe(client, crawl)
        except BaseException:
            await client.close()
            raise
        return opened

    async def seen(self, fingerprints: Sequence[int]) -> list[bool]:
        if not fingerprints:
            return []
        shares = self._shares(fingerprints)
        answers = await self._client.read([_call(self._crawl, SEEN, share) for share in shares])
        is_seen: dict[int, bool] = {}
        for share, answer in zip(shares, answers, strict=True):
            is_seen.update(zip(share, (bit == _YES for bit in answer), strict=True))
        return [is_seen[fingerprint] for fingerprint in fingerprints]

    async def mark(self, fingerprints: Sequence[int]) -> None:
        if fingerprints:
            await self._client.write([_call(self._crawl, MARK, share) for share in self._shares(fingerprints)])

    async def forget(self, fingerprints: Sequence[int]) -> None:
        if fingerprints:
            await self._client.write([_call(self._crawl, FORGET, share) for share in self._shares(fingerprints)])

    async def content(self, fingerprint: bytes) -> str | None:
        (owner,) = await self._contents.owners([fingerprint])
        return None if owner == NOBODY else await self._claimants.key(fingerprint, owner)

    async def claim(self, fingerprint: bytes, key: str) -> str:
        """As the border says. An owner whose page is no longer kept is replaced."""
        claimant = number_of(key)
        await self._claimants.put(fingerprint, key)
        (owner,) = await self._contents.claim([Claim(fingerprint, claimant)])
        while owner != claimant:
            if (named := await self._claimants.key(fingerprint, owner)) is not None:
                return named
            (owner,) = await self._contents.claim([Claim(fingerprint, claimant, replaces=owner)])
        return key

    async def disown(self, fingerprint: bytes, key: str) -> None:
        """The page that owns a content, or would, is deleted."""
        await self._contents.release(fingerprint, number_of(key))
        await self._claimants.drop(fingerprint, key)

    async def close(self) -> None:
        await self._client.close()

    def _shares(self, fingerprints: Sequence[int]) -> list[Sequence[int]]:
        """The fingerprints for one script call each: of one group, where groups may be on different nodes."""
        if not self._client.split:
            return [fingerprints[at : at + _LONGEST_SCRIPT] for at in range(0, len(fingerprints), _LONGEST_SCRIPT)]
        groups: dict[int, list[int]] = {}
        for fingerprint in fingerprints:
            groups.setdefault(group_of(fingerprint), []).append(fingerprint)
        return list(groups.values())


async def probe(client: RedisClient, crawl: str) -> None:
    """See that this user may do what a crawl does, beside what it has. Raises `Unavailable`."""
    beside = f"probe:{crawl}"
    contents = RedisContents(client, beside)
    await client.write([_call(beside, MARK, [0])])
    await client.write([_call(beside, FORGET, [0])])
    await client.read([_call(beside, SEEN, [0])])
    await contents.claim([Claim(b"", 1)])
    await contents.owners([b""])
    await contents.release(b"", 1)
    await probe_addresses(client, beside)


def _call(crawl: str, script: Script, share: Sequence[int]) -> RedisCommand:
    return RedisCommand(group_key(crawl, group_of(share[0])), (crawl, pack(share)), script)
