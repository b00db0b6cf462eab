"""The search page alone, without a console beside it."""

from gregor.worker.api.access import Access
from gregor.worker.api.app import Gate, routed
from gregor.worker.api.search_routes import PATHS, routes
from gregor.worker.api.searching import Searching


def application(searching: Searching, rate: float, *, public: bool) -> Gate:
    """The page alone. ``rate``: requests a second that are answered; ``public``: whoever reaches it is answered, not
    only who asks for a loopback address by its own name."""
    access = Access("", "", anonymous_read=True)
    return Gate(routed(routes(searching)), access, rate, PATHS if public else ())
