"""What could keep a crawl that is there from being whole: what an earlier version left undone, fields that fell away.

Each says which command mends it.
"""

from collections.abc import AsyncIterator
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.errors import Damaged, Unavailable
from gregor.worker.borders.reader import Reader
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.findings import LONGEST_WAIT, Finding, hurried
from gregor.worker.config.settings import Config, replace
from gregor.worker.extract.drift import fallen
from gregor.worker.operate.sketching import with_sketch

_LOOKED_AT: Final = 200
"""Pages of which those that have a sketch are looked up: all of them were stored by one version, or several."""
_ENOUGH: Final = 10


async def examine(config: Config) -> AsyncIterator[Finding]:
    """Nothing where there is no crawl."""
    patient = replace(hurried(config), start_timeout=min(config.start_timeout, LONGEST_WAIT))
    try:
        engine_of(config).there()
    except BadInput:
        return
    try:
        reader, _ = await engine_of(patient).read()
    except (BadInput, Unavailable) as error:
        yield Finding("warn", "crawl", str(error))
        return
    try:
        yield Finding("ok", "crawl", "its stores are as this version makes them")
        for finding in (*await _items(config, reader), *await _near(reader, config.near_duplicate_share)):
            yield finding
    except (Unavailable, Damaged) as error:
        yield Finding("warn", "crawl", f"it cannot be read: {error}; see `gregor check`")
    finally:
        await reader.close()


async def _items(config: Config, reader: Reader) -> list[Finding]:
    """What rules and extractors find no more."""
    away = fallen([record.fields async for record in reader.partitions()])
    mend = "mend the rule (`gregor shell URL --rules FILE`), then `gregor extract --store`"
    findings = [Finding("warn", "items", f"{one_line(field.text)}; {mend}") for field in away]
    if (config.rules or config.plugins) and not findings:
        findings.append(Finding("ok", "items", "every required field of rules and extractors is found as before"))
    return findings


async def _near(reader: Reader, share: float) -> list[Finding]:
    """Whether near-duplicates of pages are found: versions before sketches stored pages without."""
    looked_at, sketched = 0, 0
    async for page in reader.pages():
        looked_at += 1
        if (sketch := with_sketch(page).sketch) and not page.duplicate_of:
            sketched += 1
            if not await reader.similar(sketch, share, 1):
                text = "near-duplicates of pages of an earlier version are not found: `gregor rebuild-near`"
                return [Finding("warn", "near", text)]
        if looked_at == _LOOKED_AT or sketched == _ENOUGH:
            break
    return [Finding("ok", "near", "near-duplicates of stored pages are found")] if sketched else []
