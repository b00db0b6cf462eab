"""Why a crawl fetched nothing, or none of its seeds: what a person reads at its end, and what would help."""

from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import islice
from typing import Final

from gregor.schemas.messages import KEPT, Row
from gregor.worker.borders.reader import Reader
from gregor.worker.links.reasons import what_decided
from gregor.worker.web.urls import Url

_TOLD: Final = 3
"""URLs of which the reason is told."""
_GOOD: Final = (*KEPT, "waiting")


async def why_no_seed(reader: Reader, seeds: Iterable[Url]) -> str:
    """Why none of these seeds has a page, nor leads to one, nor still waits; empty when one does, or there are none."""
    failed, count = list[Row](), 0
    for seed in seeds:
        row = await reader.row(seed.key)
        if row is None or row.state in _GOOD or (row.state == "redirected" and not row.rule) or _leads_on(row):
            return ""
        count += 1
        if len(failed) < _TOLD:
            failed.append(row)
    return _text("none of the seeds could be fetched" if count > 1 else "the seed could not be fetched", failed, count)


def _leads_on(row: Row) -> bool:
    """Whether a page came that a filter did not keep: it was read all the same."""
    return row.state == "denied" and 200 <= row.status < 300


async def why_nothing(reader: Reader) -> str:
    """Why a crawl without any page has none."""
    failed, count = list[Row](), 0
    async for row in _failed(reader):
        count += 1
        if len(failed) < _TOLD:
            failed.append(row)
    return _text("nothing was fetched", failed, count) or "nothing was fetched"


async def _failed(reader: Reader) -> AsyncIterator[Row]:
    async for row in reader.rows(None, None):
        if row.state not in KEPT and (row.state != "redirected" or row.rule):
            yield row


def _text(what: str, failed: Sequence[Row], count: int) -> str:
    if not failed:
        return ""
    more = f"; and {count - len(failed)} more" if count > len(failed) else ""
    hints = dict.fromkeys(hint for row in failed if (hint := _hint(row)))
    return f"{what}: {'; '.join(map(fate_of, failed))}{more}" + "".join(f". {hint}" for hint in islice(hints, _TOLD))


def fate_of(row: Row) -> str:
    """What became of a URL, in a few words."""
    match row.state:
        case "redirected" if scope := what_decided(row.rule, "scope"):
            return f"{row.href} redirects to {row.target}, which is out of scope ({scope})"
        case "redirected":
            return f"{row.href} redirects to {row.target}, which is not followed ({row.rule})"
        case "denied" | "refused":
            return f"{row.href} is {row.state} ({', '.join(filter(None, (row.outcome, row.rule)))})"
        case state:
            return f"{row.href} is {state} ({row.outcome})"


def _hint(row: Row) -> str:
    match row.state:
        case "redirected" if scope := what_decided(row.rule, "scope"):
            if scope.partition(" ")[0] == "exclude":  # the setting that decided
                return "Change exclude"
            return f"Give {row.target} as the seed, or widen the scope: --scope domain"
        case "dead" | "refused":
            return "Once the cause is mended, `gregor deadletters --retry` asks again"
        case "denied" | "gone":
            return f"If that has changed, `gregor recrawl {row.href}` asks again"
        case _:
            return ""
