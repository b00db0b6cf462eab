"""The majority vote of a simhash: all runs of four letters of a block are hashed and counted in a few long integers.

A long integer is lanes of 128 bits, one for each run, of which the low 64 are a number: a multiplication of the
whole then multiplies each number, and what goes beyond 64 bits is masked. Letters that lie next to each other in
memory are in the same lane, so a block is as many integers as a lane has letters, each with every so-manieth run. GMP
works on them at the speed of the processor's own words.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from gmpy2 import from_binary, mpz, to_binary

SHINGLE: Final = 4
"""Letters of a shingle."""

_LANE: Final = 128
_ONES: Final = (1 << 64) - 1
PRIME: Final = 0x100000001B3
MIXED: Final = ((0x9E3779B97F4A7C15, 33), (0xC2B2AE3D27D4EB4F, 29), (0x9E3779B97F4A7C15, 32))
"""Factors, and how far each product is shifted to the right and mixed with itself."""
_PRIME: Final = mpz(PRIME)
_PRIME_SQUARED: Final = _PRIME**2 % 2**64
_MIX: Final = tuple((mpz(factor), shift) for factor, shift in MIXED)
_POSITIVE: Final = b"\x01\x01"
"""How GMP's integers begin that are written with their low octet first."""
_LANES: Final = 512
"""Lanes of a block: what is made of them stays in the first cache of a processor."""
NUMBERS: Final = 2 * _LANES
"""64-bit numbers that one long integer holds at most."""

Planes = list[mpz]
"""Counters of 64-bit lanes, bit by bit: the first has the lowest bit of each."""


def hashed(letters: bytes, width: int) -> tuple[int, bytes]:
    """The 64 bits of which each is set in more than half of the hashes of all runs of four letters; and the highest
    octet of each hash, in the order of the text.

    The letters are code points of ``width`` octets each (1 or 4), low octet first; there are at least four. For
    letters a, b, c and d the hash is ((a·p + b)·p + c)·p + d with a prime p, then mixed.
    """
    runs = len(letters) // width - SHINGLE + 1
    step = _LANE // 8 // width
    tops = bytearray()
    simhash = majority(_noting_tops(_blocks(letters, width, runs, step), runs, step, tops), runs)
    return simhash, bytes(tops)


def _noting_tops(blocks: Iterable[list[mpz]], runs: int, step: int, tops: bytearray) -> Iterator[list[mpz]]:
    """The blocks, whose highest octets are added to ``tops``."""
    for numbers in blocks:
        size = min(_LANES * step, runs - len(tops))
        lanes = -(-size // step)
        octets = bytearray(lanes * step)
        for place, number in enumerate(numbers):
            lane = to_binary(number)[len(_POSITIVE) :].ljust(_LANE // 8 * lanes, b"\0")
            octets[2 * place :: step] = lane[7::16]
            octets[2 * place + 1 :: step] = lane[15::16]
        tops += octets[:size]
        yield numbers


def majority(blocks: Iterable[list[mpz]], count: int) -> int:
    """The 64 bits of which each is set in more than half of so many numbers: at most `NUMBERS` in each long integer."""
    counted: Planes = []
    for numbers in blocks:
        counted = _sums([[*counted[:1], *numbers], *([plane] for plane in counted[1:])])
    lanes = NUMBERS
    while lanes > 1:
        lanes //= 2
        low = _low(64 * lanes)
        counted = _sums([[plane & low, plane >> 64 * lanes] for plane in counted])
    return _above(list(map(int, counted)), count // 2)


def _blocks(letters: bytes, width: int, runs: int, step: int) -> Iterator[list[mpz]]:
    block = _LANES * step
    for start in range(0, runs, block):
        size = min(block, runs - start)
        part = letters[start * width : (start + size + SHINGLE - 1) * width]
        yield _hashes(from_binary(_POSITIVE + part), size, step)


def _hashes(letters: mpz, runs: int, step: int) -> list[mpz]:
    """The hashes of so many runs, in lanes of 64 bits; lanes for which there is no run are zero."""
    width = _LANE // step
    letter = _mask(-(-runs // step) + 1, width)
    singles = [letters >> width * place & letter for place in range(step)]
    singles.append(singles[0] >> _LANE)
    pairs = [singles[place] * _PRIME + singles[place + 1] for place in range(step)]
    pairs += [pairs[0] >> _LANE, pairs[1] >> _LANE]
    numbers = []
    for place in range(min(step, runs)):
        mask = _mask(-(-(runs - place) // step), 64)
        number = pairs[place] * _PRIME_SQUARED + pairs[place + 2] & mask
        for factor, shift in _MIX:
            number = number * factor & mask
            number = (number ^ number >> shift) & mask
        numbers.append(number)
    numbers += [mpz()] * (len(numbers) % 2)
    return [low | high << 64 for low, high in zip(numbers[::2], numbers[1::2], strict=True)]


@cache
def _mask(lanes: int, bits: int) -> mpz:
    """So many lanes with their low bits set."""
    lane = ((1 << bits) - 1).to_bytes(_LANE // 8, "little")
    return from_binary(_POSITIVE + lane * lanes)


@cache
def _low(bits: int) -> mpz:
    return mpz((1 << bits) - 1)


def _sums(weighed: list[list[mpz]]) -> Planes:
    """What numbers amount to, bit by bit: they come by the power of two that a bit of theirs stands for."""
    planes: Planes = []
    carried: list[mpz] = []
    while weighed or carried:
        waiting, carried = carried + (weighed.pop(0) if weighed else []), []
        while len(waiting) > 2:  # a full adder: of three bits one of their weight and one of twice the weight
            a, b, c = waiting.pop(), waiting.pop(), waiting.pop()
            either = a ^ b
            waiting.append(either ^ c)
            carried.append(a & b | either & c)
        if len(waiting) == 2:
            a, b = waiting
            waiting = [a ^ b]
            if both := a & b:
                carried.append(both)
        planes += waiting
    return planes


def _above(planes: list[int], limit: int) -> int:
    """Where the number whose bits the planes have is above a limit."""
    above, alike = 0, _ONES
    for place in reversed(range(max(len(planes), limit.bit_length()))):
        plane = planes[place] if place < len(planes) else 0
        if limit >> place & 1:
            alike &= plane
        else:
            above |= alike & plane
            alike &= ~plane
    return above
