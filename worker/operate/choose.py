"""Which of the URLs that a crawl knows an operator means: by state, host, pattern and age. Pure."""

from datetime import UTC, datetime

import msgspec

from gregor.schemas.messages import Row
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.base.spans import seconds
from gregor.worker.links.reasons import what_decided
from gregor.worker.links.scope import OutOfScope, Scope, ScopeRules
from gregor.worker.settle.revisits import last_visit
from gregor.worker.web.urls import Urls


class Choice(msgspec.Struct, frozen=True):
    """``older_than``: unix seconds; only URLs whose last visit was before then."""

    state: str | None = None
    host: str | None = None
    pattern: Scope | None = None
    older_than: float | None = None

    def __bool__(self) -> bool:
        return self != Choice()

    def takes(self, row: Row, urls: Urls) -> bool:
        """Whether a URL is meant; one that was never visited, or waits for its next try, is not.

        Nor is one that a trap rule refused, unless its state is named: it comes back by itself when pages like it bring
        something new, and asking for all of them would have the trap grow each time.
        """
        if not row.visits or (row.state == "waiting" and self.state != "waiting"):
            return False
        if self.state is None and what_decided(row.rule, "trap") is not None:
            return False
        if self.state not in (None, row.state) or self.host not in (None, row.host):
            return False
        if self.older_than is not None and last_visit(row) >= self.older_than:
            return False
        if self.pattern is None:
            return True
        url = urls.parse(row.href)
        return url is not None and not isinstance(self.pattern.allows(url), OutOfScope)


def pattern(text: str | None) -> Scope | None:
    """What matches a pattern as `include` has it. Raises `BadInput`."""
    if text is None:
        return None
    try:
        return Scope(ScopeRules("any", include=(text,)))
    except ValueError as error:
        raise BadInput(f"--pattern: {one_line(str(error))}") from None


def moment(flag: str, text: str, now: float) -> float:
    """What a person means by a time: an age ("90", "45m", "12h", "1d", "2w") before ``now``, or a date as RFC 3339 has
    it ("2026-11-29", "2026-11-29T12:00Z"; UTC without a zone). Unix seconds; raises `BadInput`."""
    if (age := seconds(text)) is not None:
        return now - age
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(
            f"{flag} wants an age such as 12h or 1d, or a date such as 2026-11-29, not {one_line(text, 80)!r}"
        ) from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
