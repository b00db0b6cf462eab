"""The guard against server-side request forgery."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.fetch.address_policy import AddressPolicy

POLICY = AddressPolicy()


@pytest.mark.parametrize(
    "ip", ["8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.32.0.1", "223.255.255.1"]
)
def test_global_ipv4_is_allowed(ip: str) -> None:
    assert POLICY.allows(ip, 80)


@pytest.mark.parametrize("ip", ["2606:2800:220:1:248:1893:25c8:1946", "2a00:1450::1", "2001:4860:4860::8888"])
def test_global_ipv6_is_allowed(ip: str) -> None:
    assert POLICY.allows(ip, 443)


@pytest.mark.parametrize(
    "ip",
    [
        *("0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254"),
        *("172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1"),
        *("198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::7f00:1"),
        *("64:ff9b:1::7f00:1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:2::1", "2001:db8::1", "2002:7f00:1::1"),
        *("3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2a00::1%eth0"),
        *("", "localhost", "127.1", "0x7f000001", "2130706433", "8.8.8.8 ", "[::1]"),
    ],
)
def test_all_else_is_refused(ip: str) -> None:
    assert not POLICY.allows(ip, 80)


def test_the_operator_can_allow_networks_and_endpoints() -> None:
    policy = AddressPolicy([IPv4Network("10.1.0.0/16"), IPv6Network("fd00::/8")], {("127.0.0.1", 8080), ("0:0::1", 80)})
    assert policy.allows("10.1.2.3", 1)
    assert policy.allows("fd12::1", 1)
    assert policy.allows("127.0.0.1", 8080)
    assert policy.allows("::1", 80)
    assert not policy.allows("127.0.0.1", 80)
    assert not policy.allows("10.2.0.1", 1)
    assert not policy.allows("::ffff:10.1.2.3", 1)


def test_an_endpoint_must_be_an_address() -> None:
    with pytest.raises(ValueError, match="localhost"):
        AddressPolicy(allowed_endpoints={("localhost", 80)})


@settings(deadline=None)
@given(st.ip_addresses())
def test_never_more_than_the_standard_library_calls_global(address: IPv4Address | IPv6Address) -> None:
    if POLICY.allows(str(address), 80):
        assert ip_address(str(address)).is_global
        assert not address.is_multicast
