"""Why a crawl fetched nothing, or none of its seeds: what a person reads at its end, and what would help."""

from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import islice
from typing import Final

from gregor.schemas.messages import KEPT, STILL_THERE, Row
from gregor.worker.borders.reader import Reader
from gregor.worker.links.reasons import what_decided
from gregor.worker.web.urls import Url

_TOLD: Final = 3
"""URLs of which the reason is told."""


async def why_no_seed(reader: Reader, seeds: Iterable[Url], *, hints: bool = True) -> str:
    """Why none of these seeds has a page, nor leads to one, nor still waits; empty when one does, or there are none.
    ``hints``: what would help is said, too, of a crawl that is kept."""
    failed, count = list[Row](), 0
    for seed in seeds:
        row = await reader.row(seed.key)
        if row is None or row.state in STILL_THERE or (row.state == "redirected" and not row.rule) or _leads_on(row):
            return ""
        count += 1
        if len(failed) < _TOLD:
            failed.append(row)
    what = "none of the seeds could be fetched" if count > 1 else "the seed could not be fetched"
    return _text(what, failed, count, hints=hints)


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


async def why_not_yet(reader: Reader, seeds: Iterable[Url]) -> str:
    """What seeds wait for when the time of a run is over and no page has come; empty where nothing failed so far."""
    waiting, count = list[str](), 0
    for seed in seeds:
        if cause := await _cause(reader, seed):
            count += 1
            if len(waiting) < _TOLD:
                waiting.append(f"{seed.href} waits ({cause})")
    more = f"; and {count - len(waiting)} more" if count > len(waiting) else ""
    return f"nothing was fetched so far: {'; '.join(waiting)}{more}" if waiting else ""


async def _cause(reader: Reader, seed: Url) -> str:
    """Why a seed was tried in vain, or its host was; empty if neither was."""
    row, host = await reader.row(seed.key), await reader.host(seed.host)
    if row is not None:
        return row.outcome if row.state == "waiting" else ""
    return next((failing.cause for failing in host.failing), "") if host is not None else ""


async def _failed(reader: Reader) -> AsyncIterator[Row]:
    async for row in reader.rows(None, None):
        if row.state not in KEPT and (row.state != "redirected" or row.rule):
            yield row


def _text(what: str, failed: Sequence[Row], count: int, *, hints: bool = True) -> str:
    if not failed:
        return ""
    more = f"; and {count - len(failed)} more" if count > len(failed) else ""
    advice = dict.fromkeys(hint for row in failed if hints and (hint := _hint(row)))
    return f"{what}: {'; '.join(map(fate_of, failed))}{more}" + "".join(f". {hint}" for hint in islice(advice, _TOLD))


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
