"""Drift: whether the fields of rules still have values on the pages of the crawl, against what they had before. Pure.

Of each field is kept on how many pages it had a value, by day, and on which of the last 64; each partition has its own,
in its record, and together they are those of the crawl.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from gregor.schemas.items import DayShare, FieldShare
from gregor.worker.extract.crawled import ITEMS, Extracted

DAYS: Final = 8
"""Days that are remembered, today among them."""
RECENT: Final = 64
"""Pages of which it is remembered one by one whether they had a value."""
WINDOWS: Final = (20, 32, 64)
"""So many of the last pages are held against those before."""
LEAST: Final = 20
"""Pages before them of which something must be known."""
USUAL: Final = 0.3
"""The share of pages with a value from which on it is expected."""
FALLEN: Final = 0.5
"""A share has fallen away when it is no more than so much of what it was."""
SURE: Final = 5.0
"""Standard deviations that chance alone does not bring about."""
EXAMPLES: Final = 3
LONGEST: Final = 2000
"""Characters of an example."""
MOST: Final = 500
"""Fields that are told of, of a partition."""
_DAY: Final = 86400


class Share(msgspec.Struct, frozen=True):
    """How often a field has a value. ``field``: "" for the rule's items themselves."""

    rule: str
    field: str
    required: bool
    days: dict[str, float]
    """The share of pages by day (ISO 8601), the last at the end."""
    pages: int
    """All that are known of."""
    before: float = 0.0
    """The share of the pages before the last ones, where it has fallen away."""
    now: float = 0.0
    last: int = 0
    """How many the last ones are; 0: it has not fallen away."""
    examples: tuple[str, ...] = ()
    """The last pages without a value, of what must have one."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.rule}: {self.field}" if self.field else f"{self.rule}: items"

    @property
    def text(self) -> str:
        """What has fallen away, in one line."""
        what = f"{self.field} is missing" if self.field else "no item"
        seen = f"on {round((1.0 - self.now) * self.last)} of the last {self.last} pages"
        examples = f" As at {' '.join(self.examples)}" if self.examples else ""
        return f"{self.rule}: {what} {seen}, before that on {1.0 - self.before:.0%}: has the site changed?{examples}"


class Fallen(msgspec.Struct, frozen=True):
    """What must have a value and has it no more, for people and programs. ``field``: "" for the rule's items."""

    rule: str
    field: str
    text: str
    before: float
    """The share of the pages with a value, before the last ones."""
    now: float
    """That of the last ones."""
    pages: int
    """How many the last ones are."""
    examples: tuple[str, ...]
    """URLs of pages without."""


class FieldShares:
    """What one partition knows of the fields of its pages."""

    def __init__(self, kept: Mapping[str, FieldShare] | None = None) -> None:
        self._shares: dict[str, FieldShare] = dict(kept or {})

    def note(self, extracted: Extracted, url: str, at: float) -> None:
        """A page was read, at a time in unix seconds."""
        day = int(at) // _DAY
        values = {
            "\t".join(pair): (has_value, pair in extracted.required) for pair, has_value in extracted.values.items()
        }
        if extracted.open:
            for name, share in self._shares.items():
                if name.partition("\t")[0] in extracted.open:
                    values.setdefault(name, (False, share.required))
        for name, (has_value, required) in values.items():
            earlier = self._shares.get(name)
            if earlier is not None or len(self._shares) < MOST:
                self._shares[name] = _noted(earlier or FieldShare(), has_value, required, url, day)

    def kept(self) -> dict[str, FieldShare]:
        """As the partition's record has it."""
        return dict(self._shares)


def _noted(share: FieldShare, has_value: bool, required: bool, url: str, day: int) -> FieldShare:
    days = list(share.days)
    if days and days[-1].day >= day:
        last = days[-1]
        days[-1] = DayShare(last.day, last.pages + 1, last.values + has_value)
    else:
        days.append(DayShare(day, 1, int(has_value)))
    examples = share.examples
    if required and not has_value and url not in examples and len(url) <= LONGEST:
        examples = (*examples, url)[-EXAMPLES:]
    return FieldShare(
        days=tuple(days[-DAYS:]),
        recent=(share.recent << 1 | has_value) & (1 << RECENT) - 1,
        recent_pages=min(share.recent_pages + 1, RECENT),
        required=required,
        examples=examples,
    )


def shares(partitions: Iterable[Mapping[str, FieldShare]]) -> list[Share]:
    """Those of the crawl, by rule and field; what all partitions know by_name."""
    by_name: dict[str, list[FieldShare]] = {}
    for kept in partitions:
        for name, share in kept.items():
            by_name.setdefault(name, []).append(share)
    return [_share(name, parts) for name, parts in sorted(by_name.items())]


def fallen(partitions: Iterable[Mapping[str, FieldShare]]) -> tuple[Fallen, ...]:
    """What must have a value and has it no more. Of a rule whose fields tell of it, its items do not tell again."""
    away = [share for share in shares(partitions) if share.last]
    rules = {share.rule for share in away if share.field}
    return tuple(
        Fallen(share.rule, share.field, share.text, share.before, share.now, share.last, share.examples)
        for share in away
        if share.field or share.rule not in rules
    )


def _share(name: str, parts: list[FieldShare]) -> Share:
    rule, _, field = name.partition("\t")
    days: dict[int, tuple[int, int]] = {}
    for part in parts:
        for day in part.days:
            pages, values = days.get(day.day, (0, 0))
            days[day.day] = pages + day.pages, values + day.values
    newest = max(days, default=0)
    all_pages, all_values = sum(pages for pages, _ in days.values()), sum(values for _, values in days.values())
    lately = [part for part in parts if part.days and part.days[-1].day >= newest - 1]
    shown = {
        datetime.fromtimestamp(day * _DAY, UTC).date().isoformat(): values / pages
        for day, (pages, values) in sorted(days.items())[-DAYS:]
    }
    share = Share(rule, field, any(part.required for part in parts), shown, all_pages)
    if not (share.required or field == ITEMS):
        return share
    for window in WINDOWS:
        last = sum(min(window, part.recent_pages) for part in lately)
        with_value = sum((part.recent & (1 << window) - 1).bit_count() for part in lately)
        if _fell(all_pages - last, all_values - with_value, last, with_value):
            examples = [example for part in reversed(lately) for example in reversed(part.examples)][:EXAMPLES]
            before = (all_values - with_value) / (all_pages - last)
            return msgspec.structs.replace(
                share, before=before, now=with_value / last, last=last, examples=tuple(examples)
            )
    return share


def _fell(pages: int, values: int, last: int, with_value: int) -> bool:
    """Whether the share of the last pages is so much below that of those before that chance does not explain it."""
    if pages < LEAST or last < WINDOWS[0]:
        return False
    before, now, overall = values / pages, with_value / last, (values + with_value) / (pages + last)
    spread = math.sqrt(overall * (1.0 - overall) * (1.0 / pages + 1.0 / last))
    return before >= USUAL and now <= FALLEN * before and before - now >= SURE * spread
