"""Session ids of one host: learnt from pages that were the same under another value of what may be one. Pure."""

from typing import Final

import xxhash

from gregor.worker.links.shapes import sessionless

SESSIONS: Final = 4
"""Pages that were there before under another session id, from which on such ids are known to name no page."""

_BARE: Final = 4096


class SessionIds:
    """What is known of a host's session ids."""

    __slots__ = ("_bare", "_evidence")

    def __init__(self) -> None:
        self._bare: set[int] = set()
        """Targets of pages without their session ids, as hashes, once one had such an id."""
        self._evidence = 0
        """How often a page was the same under another id, less what speaks against it."""

    @property
    def proven(self) -> bool:
        """Whether what looks like a session id names no page here."""
        return self._evidence >= SESSIONS

    def learn(self, target: str, fresh: bool) -> None:
        """A page was stored: is what may be a session id in its URL one, or does it name another page?"""
        bare = sessionless(target)
        if bare == target and not self._bare:
            return
        if (hashed := _print(bare)) not in self._bare:
            self._bare.update((hashed,) if len(self._bare) < _BARE else ())
        elif bare != target:
            self._evidence = max(-SESSIONS, min(2 * SESSIONS, self._evidence + (-2 if fresh else 1)))

    def repeats(self, bare: str) -> bool | None:
        """Whether a page was fetched under some id; None where too many were to know. ``bare``: its target without."""
        if _print(bare) in self._bare:
            return True
        return False if len(self._bare) < _BARE else None


def _print(bare: str) -> int:
    return xxhash.xxh3_64_intdigest(bare.encode("utf-8", "surrogatepass"))
