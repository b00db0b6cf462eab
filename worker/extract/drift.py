"""Drift: whether the fields of rules still have values on the pages of the crawl, against what they had before. Pure.

Of each field is kept on how many pages it had a value, by day, on which of the last 64, and how many came since the
last one with a value; each partition has its own, in its record, and together they are those of the crawl.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from gregor.schemas.items import DayShare, FieldShare
from gregor.worker.extract.crawled import ITEMS, Extracted

DAYS: Final = 32
"""Days that are remembered, today among them: what fell away is told of until the days before it are forgotten."""
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
_RECENT_BITS: Final = (1 << RECENT) - 1


class ValueShare(msgspec.Struct, frozen=True):
    """How often a field has a value. ``field``: "" for the rule's items themselves."""

    rule: str
    field: str
    required: bool
    days: dict[str, float]
    """The share of pages by day (ISO 8601), the last at the end."""
    pages: int
    """All that are known of."""
    before: float = 0.0
    """The share of the pages before it has fallen away, where it has."""
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
    """The share of the pages with a value, before it fell away."""
    now: float
    """That of the last ones."""
    pages: int
    """How many the last ones are."""
    examples: tuple[str, ...]
    """URLs of pages without."""


class FieldShares:
    """What one partition knows of the fields of its pages."""

    def __init__(self, kept: Mapping[str, FieldShare] | None = None) -> None:
        self._counts = {name: _Count(share) for name, share in (kept or {}).items()}

    def note(self, extracted: Extracted, url: str, at: float) -> None:
        """A page was read, at a time in unix seconds."""
        day, required = int(at) // _DAY, extracted.required
        counts = self._counts
        for pair, has_value in extracted.values.items():
            count = counts.get("\t".join(pair)) or self._begun(pair)
            if count is not None:
                count.add(has_value, pair in required, url, day)
        if extracted.open:
            for name, count in counts.items():
                rule, _, field = name.partition("\t")
                if rule in extracted.open and (rule, field) not in extracted.values:
                    count.add(False, count.required, url, day)

    def _begun(self, pair: tuple[str, str]) -> "_Count | None":
        """That of a field which is met first; None where there are too many."""
        if len(self._counts) >= MOST:
            return None
        return self._counts.setdefault("\t".join(pair), _Count(FieldShare()))

    def forget_unless(self, is_known: Callable[[str, str], bool]) -> None:
        """Forget the fields that no rule has any more: they would have fallen away for good."""
        self._counts = {name: count for name, count in self._counts.items() if is_known(*name.split("\t", 1))}

    def kept(self) -> dict[str, FieldShare]:
        """As the partition's record has it."""
        return {name: count.share() for name, count in self._counts.items()}


class _Count:
    """A `FieldShare` as it is counted: many pages come between two records of it."""

    __slots__ = ("_away", "_days", "_examples", "_pages", "_recent", "required")

    def __init__(self, share: FieldShare) -> None:
        self._days = [[day.day, day.pages, day.values] for day in share.days]
        self._recent = share.recent
        self._pages = share.recent_pages
        self._examples = share.examples
        self._away = share.away
        self.required = share.required

    def add(self, has_value: bool, required: bool, url: str, day: int) -> None:
        """One more page."""
        days = self._days
        if days and days[-1][0] >= day:
            days[-1][1] += 1
            days[-1][2] += has_value
        else:
            days.append([day, 1, int(has_value)])
            del days[:-DAYS]
        self._recent = (self._recent << 1 | has_value) & _RECENT_BITS
        self._pages = min(self._pages + 1, RECENT)
        self._away = 0 if has_value else self._away + 1
        self.required = required
        if required and not has_value and url not in self._examples and len(url) <= LONGEST:
            self._examples = (*self._examples, url)[-EXAMPLES:]

    def share(self) -> FieldShare:
        """As it is kept."""
        days = tuple(DayShare(*day) for day in self._days)
        return FieldShare(days, self._recent, self._pages, self.required, self._examples, self._away)


def shares(partitions: Iterable[Mapping[str, FieldShare]]) -> list[ValueShare]:
    """Those of the crawl, by rule and field; what all partitions know together."""
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


def _share(name: str, parts: list[FieldShare]) -> ValueShare:
    rule, _, field = name.partition("\t")
    by_day: dict[int, tuple[int, int]] = {}
    for part in parts:
        for day in part.days:
            pages, values = by_day.get(day.day, (0, 0))
            by_day[day.day] = pages + day.pages, values + day.values
    days = dict(sorted(by_day.items())[-DAYS:])
    newest, all_pages = max(days, default=0), sum(pages for pages, _ in days.values())
    shown = {
        datetime.fromtimestamp(day * _DAY, UTC).date().isoformat(): values / pages
        for day, (pages, values) in days.items()
    }
    share = ValueShare(rule, field, any(part.required for part in parts), shown, all_pages)
    if not (share.required or field == ITEMS):
        return share
    lately = [part for part in parts if part.days and part.days[-1].day >= newest - 1]
    for window in WINDOWS:
        last, with_value = _last(lately, window)
        pasts = _pasts(
            [*days.values()], (_last(lately, window), *(_last(lately, n, gone=True) for n in (window, RECENT)))
        )
        fell = [past for past in pasts if _fell(*past, last, with_value)]
        if fell:
            before = max(values / pages for pages, values in fell)
            examples = [example for part in reversed(lately) for example in reversed(part.examples)][:EXAMPLES]
            return msgspec.structs.replace(
                share, before=before, now=with_value / last, last=last, examples=tuple(examples)
            )
    return share


def _last(parts: list[FieldShare], window: int, gone: bool = False) -> tuple[int, int]:
    """The last pages of each partition, and those with a value; with ``gone`` all that came since it fell away."""
    pages = sum(max(min(window, part.recent_pages), part.away * gone) for part in parts)
    return pages, sum((part.recent & (1 << window) - 1).bit_count() for part in parts)


def _pasts(days: list[tuple[int, int]], lasts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What the last pages are held against, pages and those with a value: all before them; all before the pages on
    which the field may have been away already, since these say nothing of what is usual; and the days up to each."""
    all_pages, all_values = sum(pages for pages, _ in days), sum(values for _, values in days)
    befores = [(all_pages - pages, all_values - values) for pages, values in lasts]
    yield from befores
    so_far = (0, 0)
    for pages, values in days:
        so_far = so_far[0] + pages, so_far[1] + values
        if so_far[0] <= befores[0][0]:
            yield so_far


def _fell(pages: int, values: int, last: int, with_value: int) -> bool:
    """Whether the share of the last pages is so much below that of those before that chance does not explain it."""
    if pages < LEAST or last < WINDOWS[0]:
        return False
    before, now, overall = values / pages, with_value / last, (values + with_value) / (pages + last)
    spread = math.sqrt(overall * (1.0 - overall) * (1.0 / pages + 1.0 / last))
    return before >= USUAL and now <= FALLEN * before and before - now >= SURE * spread
