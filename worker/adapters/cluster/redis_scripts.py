"""How fingerprints lie in Redis, the two scripts that read and add them, and what those of contents share with them.

A 64-bit fingerprint has a group, its highest 11 bits, and a member, the 53 bits that are left and that a number of Lua
can hold. A group is a hash tag, so that its keys are on one node of a Redis Cluster. Its members lie in buckets, each a
set of integers small enough for Redis to keep it as a sorted array of 8 bytes each ("intset").

So that buckets stay small enough, and are not too many for what they cost each, their number grows with the group, by
linear hashing (Litwin 1980): with `count` buckets and p the largest power of two up to it, a member lies in bucket
``member mod 2p`` if that is there, else in ``member mod p``. When a bucket passes its limit, bucket ``count - p`` gives
some of its members to a new bucket ``count``. A bucket then has between half its limit and the limit, whatever the size
of the crawl.

Memory, in bytes a URL, with n members in a bucket (benchmarks/redis_memory.py measures it):
8 x 1.1 for the array in jemalloc's size classes + 104 / n for the key, its dictionary entry and the object; n is 288
on average, so 9.2 (9.9 where it is worst), and more only below a million: 200 bytes a group are the least.
"""

import hashlib
import struct
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

MEMBER_BITS: Final = 53
"""Bits of a fingerprint that tell the members of a group apart; the 11 above them name the group."""
LIMIT: Final = 384
"""Members of a bucket at which one is split; Redis turns a set above 512 (``set-max-intset-entries``) into a table.
The distance is for buckets that are fuller than the average and wait for their turn to be split."""


class Script(Struct, frozen=True):
    """A script and its SHA-1, by which it is called."""

    text: str
    sha: str


# KEYS[1] routes the call and is not used; ARGV: the crawl's id; what is asked about, packed. A group's own key has its
# number of buckets; a bucket's key has its number appended. `find` gives a group and the bucket of a member in it,
# `goes_to_new` says whether a member of the bucket that is split goes to the new one, `grow` counts that one.
_BUCKETS: Final = """
local crawl, packed = ARGV[1], ARGV[2]
local call, unpacked, floor, format, sub = redis.call, struct.unpack, math.floor, string.format, string.sub
local groups = {}
local function learn(number)
  local key = '{' .. crawl .. ':' .. number .. '}SUFFIX'
  local count = tonumber(call('GET', key) or 1)
  local power = 1
  while power * 2 <= count do power = power * 2 end
  local group = {key = key, count = count, power = power}
  groups[number] = group
  return group
end
local function find(number, member)
  local group = groups[number] or learn(number)
  local bucket = member % (group.power * 2)
  if bucket >= group.count then bucket = member % group.power end
  return group, group.key .. bucket
end
local function split_next(group)
  return group.key .. (group.count - group.power)
end
local function goes_to_new(group, member)
  return member % (group.power * 2) == group.count
end
local function grow(group)
  group.count = group.count + 1
  if group.count == group.power * 2 then group.power = group.count end
  call('SET', group.key, group.count)
end
"""

# Items are fingerprints, 8 bytes each, little-endian.
_PLACE: Final = """
local function place(at)
  local low, high = unpacked('<I4I4', packed, at)
  local member = (high % 2097152) * 4294967296 + low
  local group, key = find(floor(high / 2097152), member)
  return group, key, format('%.0f', member)
end
"""

# Answers a text of 0 and 1.
_SEEN: Final = """
local answers = {}
for at = 1, #packed, 8 do
  local _, key, member = place(at)
  answers[#answers + 1] = call('SISMEMBER', key, member)
end
return table.concat(answers)
"""

# Lua passes at most some thousand arguments. A set that was ever above 512 stays a table, so a bucket that lost
# members is made anew. New before old: a script that is stopped by a full memory has then lost nothing.
_MARK: Final = """
local function add(key, members)
  for first = 1, #members, 1000 do
    call('SADD', key, unpack(members, first, math.min(first + 999, #members)))
  end
end
local function split(group)
  local old = split_next(group)
  local keep, move = {}, {}
  for _, member in ipairs(call('SMEMBERS', old)) do
    local side = goes_to_new(group, tonumber(member)) and move or keep
    side[#side + 1] = member
  end
  if #move > 0 then
    add(group.key .. group.count, move)
    call('DEL', old)
    add(old, keep)
  end
  grow(group)
end
for at = 1, #packed, 8 do
  local group, key, member = place(at)
  if call('SADD', key, member) == 1 and call('SCARD', key) > LIMIT then split(group) end
end
return redis.status_reply('OK')
"""

_FORGET: Final = """
for at = 1, #packed, 8 do
  local _, key, member = place(at)
  call('SREM', key, member)
end
return redis.status_reply('OK')
"""


def script(text: str, suffix: str = "") -> Script:
    """A script over groups whose keys have a suffix behind their hash tag."""
    text = _BUCKETS.replace("SUFFIX", suffix) + text
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


SEEN: Final = script(_PLACE + _SEEN)
FORGET: Final = script(_PLACE + _FORGET)
MARK: Final = script(_PLACE + _MARK.replace("LIMIT", str(LIMIT)))


def group_of(fingerprint: int) -> int:
    """The group of a fingerprint."""
    return fingerprint >> MEMBER_BITS


def group_key(crawl: str, group: int) -> str:
    """The key of a group's number of buckets; its buckets have the same hash tag."""
    return f"{{{crawl}:{group}}}"


def pack(fingerprints: Sequence[int]) -> bytes:
    """Fingerprints as the scripts read them."""
    return struct.pack(f"<{len(fingerprints)}Q", *fingerprints)
