"""Which ports of URLs are asked at all: a page can name a mail server, to which a request is text. Pure."""

from collections.abc import Iterable
from typing import Final

BLOCKED: Final = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104),
        *(109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515),
        *(526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049),
        *(3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)
"""The bad ports of the Fetch Standard (section 2.9, "Port blocking"): other protocols have them."""


class PortPolicy:
    """All ports but the blocked ones, and of those what the operator allows."""

    def __init__(self, allowed: Iterable[int] = ()) -> None:
        self._refused = BLOCKED.difference(allowed)

    def refuses(self, port: int) -> bool:
        """Whether no request may be made to a URL with this port, wherever its connection would go."""
        return port in self._refused


def refusal(port: int) -> str:
    """Why, for people."""
    return f"port {port} is another protocol's: allow_ports (--allow-port) can allow it"
