"""Which kept connections are still good: libcurl looks at most once a second, and repeats requests on dead ones."""

import select
import socket

Local = tuple[str, int]


class KeptSockets:
    """The descriptors of libcurl's connections by their local address, which is what its callbacks tell."""

    def __init__(self) -> None:
        self._descriptors: dict[Local, int] = {}

    def remember(self, opened: list[int], local: Local) -> None:
        """A connection begins to be used; it is one of the sockets `opened` for it (a race may have closed others)."""
        for descriptor in opened:
            if _local_address(descriptor) == local:
                self._descriptors[local] = descriptor

    def is_quiet(self, local: Local) -> bool:
        """Is the connection open, with nothing to read? What could be read is its end, or bytes that nobody asked for
        and that would pass for the next answer (RFC 9112 section 9.3.2).
        """
        # An entry is never stale for a connection in use: a new one with the same address has overwritten it.
        descriptor = self._descriptors.get(local)
        if descriptor is None:
            return False
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return not poll.poll(0)


def _local_address(descriptor: int) -> Local | None:
    try:
        borrowed = socket.socket(fileno=descriptor)
    except OSError:
        return None
    try:
        address = borrowed.getsockname()
        return (address[0], address[1])
    except OSError:
        return None
    finally:
        borrowed.detach()
