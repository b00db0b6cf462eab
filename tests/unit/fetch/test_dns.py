"""What the DNS cache keeps and for how long; literals, the hosts file and the order of addresses."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.fetch.dns import (
    MAX_ADDRESSES,
    DnsCache,
    Lookup,
    NotFound,
    ResolvedName,
    interleave,
    literal_address,
    parse_hosts,
)


def cache(size: int = 100) -> DnsCache:
    return DnsCache(size=size, min_ttl=10, max_ttl=100, failure_ttl=5, max_negative_ttl=50)


@pytest.mark.parametrize(
    ("lookup", "seconds"),
    [
        (ResolvedName(("192.0.2.1",), 0), 10),
        (ResolvedName(("192.0.2.1",), 60), 60),
        (ResolvedName(("192.0.2.1",), 9e9), 100),
        (NotFound("nxdomain", "", 1), 5),
        (NotFound("nxdomain", "", 30), 30),
        (NotFound("nxdomain", "", 9e9), 50),
        (NotFound("nxdomain", ""), 5),
        (NotFound("timeout", "", 30), 5),
        (NotFound("servfail", ""), 5),
    ],
)
def test_times_to_live_are_clamped(lookup: Lookup, seconds: float) -> None:
    names = cache()
    assert names.put("a.test", lookup, 1000.0) == 1000 + seconds
    assert names.get("a.test", 1000 + seconds - 0.01) == (lookup, 1000 + seconds)
    assert names.get("a.test", 1000 + seconds) is None
    assert len(names) == 0


def test_the_least_recently_used_name_is_forgotten() -> None:
    names = cache(size=2)
    for name in ("a.test", "b.test"):
        names.put(name, ResolvedName((name,), 60), 0)
    names.get("a.test", 1)
    names.put("c.test", ResolvedName(("c",), 60), 1)
    assert [names.get(name, 1) is not None for name in ("a.test", "b.test", "c.test")] == [True, False, True]


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1e6), st.floats(0, 1e6))))
def test_never_larger_than_its_size_and_never_stale(steps: list[tuple[int, float, float]]) -> None:
    names = cache(size=5)
    now = 0.0
    for number, ttl, pause in steps:
        now += pause
        names.put(str(number), ResolvedName(("192.0.2.1",), ttl), now)
        assert len(names) <= 5
        for other in range(20):
            entry = names.get(str(other), now)
            assert entry is None or now < entry[1] <= now + 100


@pytest.mark.parametrize(
    ("hostname", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("a.test", None),
        ("1.2.3", None),
        ("host9", None),
        ("", None),
    ],
)
def test_literals(hostname: str, address: str | None) -> None:
    assert literal_address(hostname) == address


@given(st.ip_addresses())
def test_every_address_is_a_literal(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    assert literal_address(str(address)) == str(address)


def test_families_take_turns() -> None:
    assert interleave(["::1", "::2", "::3"], ["10.0.0.1"]) == ("::1", "10.0.0.1", "::2", "::3")
    assert interleave([], ["10.0.0.1", "10.0.0.1", "10.0.0.2"]) == ("10.0.0.1", "10.0.0.2")
    assert len(interleave([f"::{n}" for n in range(100)], [])) == MAX_ADDRESSES


def test_hosts_file() -> None:
    text = "127.0.0.1 localhost Alias # comment\n::1 localhost\n\nnonsense a.test\n10.0.0.1\n10.0.0.2 a.test\n"
    assert parse_hosts(text) == {
        "localhost": ("::1", "127.0.0.1"),
        "alias": ("127.0.0.1",),
        "a.test": ("10.0.0.2",),
    }


@given(st.text())
def test_any_hosts_file_can_be_read(text: str) -> None:
    assert all(parse_hosts(text).values())
