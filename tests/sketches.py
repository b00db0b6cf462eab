"""Sketches that no text has: alike to a known degree."""

import random


def sketch(number: int, differing: int = 0, *, keys: int = 6) -> bytes:
    """That of a text; with so many of its 64 marks changed, and so many of its six keys left as they were."""
    made = random.Random(number)
    first = bytearray(b"".join(made.getrandbits(31).to_bytes(4, "little") for _ in range(6)) + made.randbytes(32))
    for key in range(keys, 6):
        first[4 * key] ^= 1
    for mark in range(differing):
        first[24 + mark // 2] ^= 0x70 >> 4 * (mark % 2)
    return bytes(first)
