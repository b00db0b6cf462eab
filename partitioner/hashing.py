"""Which partition a host has: the default partitioner of every Kafka client, so that other tools agree."""

import struct
from functools import lru_cache
from typing import Final

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The signed 32-bit MurmurHash2 of Kafka (org.apache.kafka.common.utils.Utils.murmur2)."""
    words_end = len(data) & ~3
    hashed = _SEED ^ len(data)
    for (word,) in struct.iter_unpack("<I", data[:words_end]):
        word = word * _M & _MASK
        word ^= word >> 24
        hashed = (hashed * _M & _MASK) ^ (word * _M & _MASK)
    if words_end < len(data):
        hashed = (hashed ^ int.from_bytes(data[words_end:], "little")) * _M & _MASK
    hashed ^= hashed >> 13
    hashed = hashed * _M & _MASK
    hashed ^= hashed >> 15
    return hashed - (1 << 32) if hashed >> 31 else hashed


# A page links to the same hosts again and again; the bound keeps the memory below some 10 MB.
@lru_cache(maxsize=1 << 16)
def partition_of(host: str, partitions: int) -> int:
    """The partition of a host, from 0 to ``partitions`` - 1."""
    return (murmur2(host.encode()) & 0x7FFFFFFF) % partitions
