"""What becomes of a link by its page, its kind and where it leads: its fate, which is recorded with it."""

from collections.abc import Callable
from typing import Final

from gregor.schemas.messages import Ticket
from gregor.worker.config.settings import Config
from gregor.worker.links import tickets
from gregor.worker.links.configured import followed_kinds
from gregor.worker.links.reasons import reason
from gregor.worker.links.targets import Target
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.web.urls import Url

SENT: Final = "sent"
"""The fate of a link that is published, unless it was lately."""
OF_ITS_KIND: Final = "kind"
"""The fate of a link of a kind that is not followed."""


class Fates:
    """Those that the settings and traps decide, for one worker."""

    def __init__(self, config: Config, traps: Traps, stats: Stats) -> None:
        self._config = config
        self._traps = traps
        self._stats = stats
        self._followed = followed_kinds(config)

    def of_page(self, ticket: Ticket, source: Url, astray: int = 0) -> Callable[[Target, str, bool], str]:
        """Says of the links of a page whether they are published, and if not, why. What holds for all is asked once.
        ``astray``: pages in a row, this one the last, that are not relevant."""
        config, followed, common = self._config, self._followed, self._common(ticket, astray)
        suspect = self._traps.suspects(source, ticket.via)
        leads_on = common in (SENT, tickets.FOR_A_PAGE)

        def fate(target: Target, kind: str, nofollow: bool) -> str:
            if kind not in followed:
                return OF_ITS_KIND
            if nofollow and config.nofollow and kind != "canonical":
                return "nofollow"
            if target.out_of_scope:
                return target.out_of_scope
            if not leads_on:
                return common
            return (self.trap(ticket, source, target, kind) if suspect or target.malformed else "") or common

        return fate

    def usual(self, ticket: Ticket, source: Url, astray: int = 0) -> dict[str, str] | None:
        """The fates of the links of a page by their kinds, of those that lead into the scope, whose URLs look like no
        trap, and that do not say nofollow: others are `OF_ITS_KIND`. None where what was learnt of traps is asked."""
        if self._traps.suspects(source, ticket.via):
            return None
        return dict.fromkeys(self._followed, self._common(ticket, astray))

    def _common(self, ticket: Ticket, astray: int) -> str:
        """The fate of all links of a page that nothing else speaks against."""
        config = self._config
        if config.max_depth is not None and ticket.depth + 1 > config.max_depth:
            return "depth"
        if config.topic_hops is not None and astray > config.topic_hops:
            return reason("topic", f"{astray} irrelevant pages in a row")
        return tickets.FOR_A_PAGE if ticket.requisite else SENT

    def trap(self, ticket: Ticket, source: Url, target: Target, kind: str) -> str:
        """The fate of a link that leads into a trap, which is counted; empty if it does not. What pages made it one
        is set aside, since other pages may tell better."""
        fate = target.malformed
        if not fate and (rule := self._traps.refuses(source, target.url, ticket.via)):
            fate = reason("trap", rule)
            link = tickets.reopened(target.url, kind, ticket.key, ticket.depth + 1, ticket.label, 0.0)
            self._stats.traps["refused"] += self._traps.refused_names.add(link)
        if fate:
            self._stats.links["trap"] += 1
        return fate
