"""Traps: endless URL spaces that a site makes without meaning to. Pure."""

from gregor.worker.urls import Url


class Traps:
    """What is learnt of the hosts' URL spaces."""

    def learn(self, url: Url, *, fresh: bool) -> None:
        """A page was stored; `fresh`: its content is new."""

    def refuses(self, source: Url, target: Url) -> str | None:
        """Why a link leads into a trap, if it does."""
        return None
