"""What people write as the target of an order. Pure."""

from gregor.worker.orders.model import OrderKind
from gregor.worker.web.hostnames import host_of


def target_of(kind: OrderKind, text: str) -> str:
    """The target that a person means with an order of a kind. Raises `BadInput`."""
    return text if kind in ("pause", "drain") else host_of(text)
