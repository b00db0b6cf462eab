"""Who owns each content, packed into Redis: 14 bytes a content, claims atomic and in one round trip.

A content is named by 59 bits of its fingerprint: its group, the highest 11 bits, which is the hash tag of its keys, as
of URLs (`redis_scripts`), and a member, the 48 bits below. The owner is the 64-bit fingerprint of a page's URL, never
0; the key that it stands for is in Cassandra, under the whole fingerprint. So two contents that agree in 59 bits, one
pair in a crawl of a billion pages, cost a duplicate that is not told, never one that is none.

The members of a group lie in buckets, whose number grows as that of URLs does, by linear hashing. A bucket is one
value, its entries sorted: 6 bytes of the member, then 8 of the owner. A value of some KiB is copied for each claim,
which takes a few microseconds; a hash of Redis would take 20 to 80 bytes an entry.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gregor.worker.adapters.cluster.redis_client import RedisClient, RedisCommand
from gregor.worker.adapters.cluster.redis_scripts import MEMBER_BITS, Script, group_key, script

LIMIT: Final = 256
"""Entries of a bucket at which one is split."""
NOBODY: Final = 0
_USED: Final = 8
"""Bytes of a fingerprint that are looked at."""
_DROPPED_BITS: Final = MEMBER_BITS - 48
_SUFFIX: Final = "c"
# Redis does nothing else while a script runs: some milliseconds at most.
_LONGEST_SCRIPT: Final = 500

# Items are 10 bytes (group, member) and what each script says behind them.
_LOOK: Final = """
local answers, held = {}, {}
local function look(at)
  local number, member = unpacked('<I4>I6', packed, at)
  local group, key = find(number, member)
  local data = held[key]
  if not data then
    data = call('GET', key) or ''
    held[key] = data
  end
  local low, high = 0, #data / 14
  while low < high do
    local middle = floor((low + high) / 2)
    local there = unpacked('>I6', data, middle * 14 + 1)
    if there == member then return group, key, data, middle * 14, sub(data, middle * 14 + 7, middle * 14 + 14) end
    if there < member then low = middle + 1 else high = middle end
  end
  return group, key, data, low * 14, nil
end
"""
_OWNERS: Final = """
for at = 1, #packed, 10 do
  local _, _, _, _, owner = look(at)
  answers[#answers + 1] = owner or string.rep('\\0', 8)
end
return table.concat(answers)
"""
# Behind each item: the claimant, and the owner that it replaces. Answers the owner of each from now on. A bucket is
# written once, when it is split or at the end: of many claims some are in one.
_CLAIM: Final = """
local changed = {}
local function split(group)
  local old = split_next(group)
  local data = held[old] or call('GET', old) or ''
  local keep, move = {}, {}
  for at = 1, #data, 14 do
    local side = goes_to_new(group, unpacked('>I6', data, at)) and move or keep
    side[#side + 1] = sub(data, at, at + 13)
  end
  if #move > 0 then
    call('SET', group.key .. group.count, table.concat(move))
    if #keep > 0 then call('SET', old, table.concat(keep)) else call('DEL', old) end
    held[old], changed[old], held[group.key .. group.count] = nil, nil, nil
  end
  grow(group)
end
for at = 1, #packed, 26 do
  local group, key, data, place, owner = look(at)
  local claimant = sub(packed, at + 10, at + 17)
  if not owner then
    data = sub(data, 1, place) .. sub(packed, at + 4, at + 17) .. sub(data, place + 1)
    held[key], changed[key] = data, true
    if #data > LIMIT * 14 then split(group) end
    owner = claimant
  elseif owner == sub(packed, at + 18, at + 25) then
    held[key], changed[key] = sub(data, 1, place + 6) .. claimant .. sub(data, place + 15), true
    owner = claimant
  end
  answers[#answers + 1] = owner
end
for key in pairs(changed) do call('SET', key, held[key]) end
return table.concat(answers)
"""
# Behind each item: the owner that gives it up.
_RELEASE: Final = """
for at = 1, #packed, 18 do
  local _, key, data, place, owner = look(at)
  if owner == sub(packed, at + 10, at + 17) then
    local rest = sub(data, 1, place) .. sub(data, place + 15)
    if rest == '' then call('DEL', key) else call('SET', key, rest) end
    held[key] = rest
  end
end
return redis.status_reply('OK')
"""
OWNERS: Final = script(_LOOK + _OWNERS, _SUFFIX)
CLAIM: Final = script(_LOOK + _CLAIM.replace("LIMIT", str(LIMIT)), _SUFFIX)
RELEASE: Final = script(_LOOK + _RELEASE, _SUFFIX)


class Claim(NamedTuple):
    """A content, who claims it, and the owner that is replaced if it is the owner still."""

    fingerprint: bytes
    claimant: int
    replaces: int = NOBODY


class RedisContents:
    """The owners of contents in Redis. Each call is one round trip (to each node of a cluster)."""

    def __init__(self, client: RedisClient, crawl: str) -> None:
        self._client = client
        self._crawl = crawl

    async def owners(self, fingerprints: Sequence[bytes]) -> list[int]:
        """The owner of each, or `NOBODY`. Raises `Unavailable`."""
        shares = list(self._shares(fingerprints))
        commands = [self._command(OWNERS, [_place(fingerprints[at]) for at in share]) for share in shares]
        return _in_order(len(fingerprints), shares, await self._client.read(commands))

    async def claim(self, claims: Sequence[Claim]) -> list[int]:
        """Make each claimant the owner of what has none, or only the one that it replaces; who the owner is now."""
        shares = list(self._shares([claim.fingerprint for claim in claims]))
        commands = [self._command(CLAIM, [_claim(claims[at]) for at in share]) for share in shares]
        return _in_order(len(claims), shares, await self._client.write(commands))

    async def release(self, fingerprint: bytes, owner: int) -> None:
        """Nobody owns it, if this is its owner."""
        await self._client.write([self._command(RELEASE, [_place(fingerprint) + _number(owner)])])

    def _command(self, wanted: Script, items: Sequence[bytes]) -> RedisCommand:
        group = int.from_bytes(items[0][:4], "little")
        return RedisCommand(group_key(self._crawl, group), (self._crawl, b"".join(items)), wanted)

    def _shares(self, fingerprints: Sequence[bytes]) -> Iterator[Sequence[int]]:
        """Which go into one script call: of one group, where groups may be on different nodes."""
        if not self._client.split:
            everything = sorted(range(len(fingerprints)), key=fingerprints.__getitem__)  # those of a group together
            yield from (everything[at : at + _LONGEST_SCRIPT] for at in range(0, len(everything), _LONGEST_SCRIPT))
            return
        groups: dict[int, list[int]] = {}
        for at, fingerprint in enumerate(fingerprints):
            groups.setdefault(_split(fingerprint)[0], []).append(at)
        yield from groups.values()


def _split(fingerprint: bytes) -> tuple[int, int]:
    """The group and the member of a content."""
    number = int.from_bytes(fingerprint[:_USED], "big")
    return number >> MEMBER_BITS, (number & (1 << MEMBER_BITS) - 1) >> _DROPPED_BITS


def _place(fingerprint: bytes) -> bytes:
    group, member = _split(fingerprint)
    return group.to_bytes(4, "little") + member.to_bytes(6, "big")


def _claim(claim: Claim) -> bytes:
    return _place(claim.fingerprint) + _number(claim.claimant) + _number(claim.replaces)


def _number(owner: int) -> bytes:
    return owner.to_bytes(8, "big")


def _in_order(count: int, shares: Sequence[Sequence[int]], answers: Sequence[bytes]) -> list[int]:
    """Owners as they were asked for, of answers of 8 bytes each."""
    owners = [NOBODY] * count
    for share, answer in zip(shares, answers, strict=True):
        for number, at in enumerate(share):
            owners[at] = int.from_bytes(answer[8 * number : 8 * number + 8], "big")
    return owners
