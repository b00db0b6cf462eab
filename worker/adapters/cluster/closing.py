"""The end of a connection. What it was for is done by then, or has failed: how it ends changes nothing of that."""

from collections.abc import Awaitable

from gregor.worker.base.errors import why
from gregor.worker.observe.logging import Log

_LOG = Log("connections")


async def ended(service: str, closing: Awaitable[object]) -> None:
    """Await the end of a connection to a service; that it does not end in order, as while that hangs, is told."""
    try:
        await closing
    except Exception as error:  # noqa: BLE001 - each client has failures of its own, and all mean the same
        _LOG.warning("a connection did not end in order", service=service, error=why(error))
