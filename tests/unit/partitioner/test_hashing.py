"""The partition of a host is the one that Kafka's own clients compute."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.partitioner.hashing import murmur2, partition_of

# UtilsTest.testMurmur2 in Kafka's clients.
KAFKA = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


@pytest.mark.parametrize(("text", "expected"), KAFKA.items())
def test_murmur2_gives_the_values_of_kafkas_tests(text: str, expected: int) -> None:
    assert murmur2(text.encode()) == expected


def test_a_negative_hash_is_masked_not_negated() -> None:
    assert partition_of("21", 1000) == (-973932308 & 0x7FFFFFFF) % 1000


@given(st.text(), st.integers(1, 4096))
def test_every_host_has_one_partition_in_range(host: str, partitions: int) -> None:
    assert 0 <= partition_of(host, partitions) < partitions


@given(st.binary())
def test_the_hash_is_a_signed_32_bit_number(data: bytes) -> None:
    assert -(1 << 31) <= murmur2(data) < 1 << 31


def test_hosts_spread_over_all_partitions() -> None:
    counts = [0] * 64
    for number in range(6400):
        counts[partition_of(f"host{number}.example", 64)] += 1
    assert min(counts) > 50
    assert max(counts) < 200
