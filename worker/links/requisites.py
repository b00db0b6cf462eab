"""Requisites: what a page shows, or needs for it (images, style sheets, scripts, fonts, media).

They are no pages: other bounds hold for them, and of their own links those of style sheets alone are followed.
"""

from collections.abc import Callable
from typing import Final

from gregor.schemas.messages import Ticket
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import OF_STYLES
from gregor.worker.links.scope import OutOfScope, Scope
from gregor.worker.links.targets import Target
from gregor.worker.links.tickets import FOR_A_PAGE

DEEPEST: Final = 5
"""Style sheets and redirects behind one another, beyond which a style sheet is not read for more."""


class Requisites:
    """Which of them are fetched. ``scope`` gives the one in force, ``stored`` how many the crawl has already."""

    def __init__(self, config: Config, scope: Callable[[], Scope], stored: Callable[[], int]) -> None:
        self.wanted = config.requisites
        self._anywhere = config.requisites_scope == "any"
        self._most, self._most_in_all = config.max_requisites, config.max_requisites_in_all
        self._scope = scope
        self._stored = stored

    def fates(self, ticket: Ticket) -> Callable[[Target, str], str]:
        """Says of the references of one document, by target and kind, whether they are fetched, and if not, why. Each
        target counts once."""
        spent = self._most_in_all is not None and self._stored() >= self._most_in_all
        taken: set[int] = set()

        def fate(target: Target, kind: str) -> str:
            if ticket.requisite and kind not in OF_STYLES:
                return FOR_A_PAGE
            if ticket.requisite and ticket.hops >= DEEPEST:
                return "hops"
            if excluded := self.excluded(target):
                return excluded
            if target.fingerprint not in taken and (spent or len(taken) >= self._most):
                return "budget"
            taken.add(target.fingerprint)
            return "sent"

        return fate

    def excluded(self, target: Target) -> str:
        """The fate of what may not be fetched wherever it is found; empty if it may."""
        verdict = self._scope().allows_requisite(target.url, self._anywhere)
        return verdict.fate if isinstance(verdict, OutOfScope) else ""
