"""Which URLs are stale: gone for long, or visited long ago with no visit planned. Pure; unix seconds."""

from gregor.schemas.messages import KEPT, Row
from gregor.worker.settle.revisits import last_visit
from gregor.worker.settle.rows import OPTED_OUT


def stale_since(row: Row, *, visits_again: bool = False) -> float | None:
    """Since when nobody would miss what is kept of a URL; None while it is of use.

    One that waits is, and one of which a visit is planned: it is late, and comes. So it is of all pages where
    ``visits_again``, be it that a row does not say so: it was written before the setting. What opted out stays known.
    """
    if row.state == "waiting" or row.rule == OPTED_OUT or not row.visits:
        return None
    if row.state == "gone":
        return row.gone_since or last_visit(row)
    planned = row.due or (visits_again and row.state in KEPT)
    return None if planned else last_visit(row)


def is_stale(row: Row, after: float, now: float, *, visits_again: bool = False) -> bool:
    """Whether nothing more need be kept of a URL, ``after`` so many seconds."""
    since = stale_since(row, visits_again=visits_again)
    return since is not None and since + after <= now


def leads_on(row: Row) -> bool:
    """Whether a URL leads to others."""
    return row.state in KEPT or row.state == "redirected"
