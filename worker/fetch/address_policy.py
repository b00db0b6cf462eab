"""Which addresses may be connected to: the guard against server-side request forgery.

A name is anyone's to point anywhere, so the address itself is judged, of every socket, right before it connects.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address

_SPECIAL_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network (RFC 791); Linux connects 0.0.0.0 to itself
            "10.0.0.0/8",  # private (RFC 1918)
            "100.64.0.0/10",  # carrier-grade NAT (RFC 6598)
            "127.0.0.0/8",  # loopback (RFC 1122)
            "169.254.0.0/16",  # link-local (RFC 3927), the clouds' metadata services
            "172.16.0.0/12",  # private (RFC 1918)
            "192.0.0.0/24",  # protocol assignments (RFC 6890)
            "192.0.2.0/24",  # documentation (RFC 5737)
            "192.88.99.0/24",  # 6to4 relays (RFC 7526)
            "192.168.0.0/16",  # private (RFC 1918)
            "198.18.0.0/15",  # benchmarks (RFC 2544)
            "198.51.100.0/24",  # documentation (RFC 5737)
            "203.0.113.0/24",  # documentation (RFC 5737)
            "224.0.0.0/4",  # multicast (RFC 5771)
            "240.0.0.0/4",  # reserved (RFC 1112), limited broadcast (RFC 919)
        ),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
"""All of global unicast (RFC 4291). Outside are loopback, ``::ffff:0:0/96`` (mapped IPv4), ``64:ff9b::/96`` and
``64:ff9b:1::/48`` (NAT64), unique-local, link-local, site-local and multicast addresses."""
_SPECIAL_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments (RFC 2928), among them Teredo, which embeds IPv4 addresses
            "2001:db8::/32",  # documentation (RFC 3849)
            "2002::/16",  # 6to4 (RFC 3056), embeds IPv4 addresses
            "3fff::/20",  # documentation (RFC 9637)
        ),
    )
)

_REMEMBERED = 4096  # endpoints whose verdict is kept: it hangs on nothing else


class AddressPolicy:
    """Global unicast addresses, and what the operator allows beyond them."""

    def __init__(
        self,
        allow_networks: Sequence[IPv4Network | IPv6Network] = (),
        allowed_endpoints: Iterable[tuple[str, int]] = (),
    ) -> None:
        """``allowed_endpoints`` are pairs of an IP address and a port. Raises ValueError if one is no IP address."""
        self._networks = tuple(allow_networks)
        self._endpoints = frozenset((ip_address(ip), port) for ip, port in allowed_endpoints)
        self._judged = lru_cache(_REMEMBERED)(self._judge)

    def allows(self, ip: str, port: int) -> bool:
        """Whether a socket may connect to this address and port. What is no plain IP address is refused."""
        return self._judged(ip, port)

    def _judge(self, ip: str, port: int) -> bool:
        try:
            address = ip_address(ip)
        except ValueError:
            return False
        if (address, port) in self._endpoints or any(address in network for network in self._networks):
            return True
        if address.version == 4:
            return not any(address in network for network in _SPECIAL_V4)
        # An address with a zone ("%eth0") is somebody's link, whatever its bits say.
        scoped = address.scope_id is not None
        return not scoped and address in _GLOBAL_V6 and not any(address in network for network in _SPECIAL_V6)
