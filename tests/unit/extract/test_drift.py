"""A field that falls away is told of with its last pages; small numbers, chance and what never was are not."""

import random
from collections.abc import Iterable

import pytest

from gregor.schemas.items import FieldShare
from gregor.schemas.messages import PartitionRecord, decode, encode
from gregor.worker.extract.crawled import Extracted
from gregor.worker.extract.drift import DAYS, MOST, FieldShares, fallen, shares

DAY = 86_400.0
TITLE, ITEMS = ("job", "title"), ("job", "")


def page(has_title: bool, has_pay: bool = True) -> Extracted:
    values = {ITEMS: has_title, TITLE: has_title, ("job", "pay"): has_pay}
    return Extracted(values=values, required={ITEMS, TITLE})


def noted(pages: Iterable[tuple[float, bool]], known: FieldShares | None = None) -> FieldShares:
    """Pages at days, each with a title or not."""
    known = known or FieldShares()
    for number, (day, has_title) in enumerate(pages):
        known.note(page(has_title), f"http://a.test/{day:g}/{number}", day * DAY)
    return known


def told(*partitions: FieldShares) -> list[tuple[str, str]]:
    return [(share.rule, share.field) for share in fallen(partition.kept() for partition in partitions)]


def test_a_site_that_changes_its_layout_is_told_of_with_the_last_pages() -> None:
    known = noted([(day, True) for day in range(5) for _ in range(50)])
    assert told(known) == []
    noted([(5, False)] * 20, known)
    (share,) = fallen([known.kept()])
    assert (share.rule, share.field, share.before, share.now, share.pages) == ("job", "title", 1.0, 0.0, 20)
    assert len(share.examples) == 3 and share.examples[0].endswith("/5/19")
    assert share.text.startswith("job: title is missing on 20 of the last 20 pages, before that on 0%: has the site")
    days = next(share.days for share in shares([known.kept()]) if share.field == "title")
    assert list(days.values()) == [1.0] * 5 + [0.0]
    noted([(6, True)] * 64, known)
    assert told(known) == [], "it is back"


def test_what_an_extractor_gives_no_more_has_no_value() -> None:
    known, row, cells = FieldShares(), ("rows", ""), {name: ("rows", name) for name in ("price", "size")}
    for number in range(80):
        given = {row: True, cells["price"]: True, **({cells["size"]: True} if number < 60 else {})}
        made = Extracted(values=given, required={row, cells["size"]}, open={"rows"})
        known.note(made, f"http://a.test/{number}", DAY)
    known.note(Extracted(values={("other", ""): True}), "http://a.test/", DAY)
    assert told(known) == [("rows", "size")]
    by_name = {share.name: share.pages for share in shares([known.kept()])}
    assert by_name == {"rows: items": 80, "rows: price": 80, "rows: size": 80, "other: items": 1}


def test_a_part_of_a_site_that_changes_is_told_of_once_it_is_half_of_the_pages() -> None:
    known = noted([(0, True)] * 500)
    noted([(1, number % 10 < 2) for number in range(64)], known)
    assert told(known) == [TITLE]


@pytest.mark.parametrize("pages_a_day", [4, 30, 500])
def test_it_is_told_of_as_long_as_it_is_away_and_the_days_before_are_known(pages_a_day: int) -> None:
    known = noted([(day, True) for day in range(6) for _ in range(pages_a_day)])
    for day in range(6, 32):
        noted([(day, False)] * pages_a_day, known)
        if day >= 11:
            (share,) = fallen([known.kept()])
            assert (share.before, share.now) == (1.0, 0.0), day
    noted([(day, False) for day in range(32, 70) for _ in range(pages_a_day)], known)
    assert told(known) == [], "nobody knows any more that it was there"


def test_what_no_rule_has_any_more_is_forgotten() -> None:
    known = noted([(0, True)] * 40 + [(1, False)] * 20)
    assert told(known) == [TITLE]
    known.forget_unless(lambda rule, field: (rule, field) != TITLE)
    assert told(known) == [ITEMS] and "job\tpay" in known.kept()
    known.forget_unless(lambda *_: False)
    assert known.kept() == {}


def test_within_a_day_and_over_partitions() -> None:
    assert told(noted([(0, True)] * 40 + [(0, False)] * 20)) == [TITLE]
    parts = [noted([(0, True)] * 30 + [(0, False)] * 5) for _ in range(8)]
    assert told(*parts) == [] or told(*parts) == [TITLE]
    parts = [noted([(0, True)] * 30 + [(1, False)] * 20) for _ in range(8)]
    assert told(*parts) == [TITLE]


@pytest.mark.parametrize("without", [20, 32, 60, 64, 200, 1000])
@pytest.mark.parametrize("parts", [1, 3])
def test_the_share_before_is_that_of_the_pages_before_it_fell_away_also_on_one_day(without: int, parts: int) -> None:
    known = [noted([(0, True)] * 60 + [(0, False)] * without) for _ in range(parts)]
    (share,) = fallen(FieldShares(part.kept()).kept() for part in known)
    assert (share.before, share.now) == (1.0, 0.0)
    assert "before that on 0%" in share.text


def test_the_share_before_a_fall_to_a_part_of_the_pages_is_that_of_the_pages_before_it() -> None:
    known = noted([(0, True)] * 100 + [(0, number % 10 == 0) for number in range(60)])
    (share,) = fallen([known.kept()])
    assert share.before == 1.0 and share.now <= 0.1
    noted([(day, number % 10 == 0) for day in range(1, 7) for number in range(100)], known := noted([(0, True)] * 300))
    assert [share.before for share in fallen([known.kept()])] == [1.0], "days of before are what it is held against"


@pytest.mark.parametrize(
    "pages",
    [
        [(0, True)] * 10 + [(1, False)] * 40,  # of too few something was known
        [(0, True)] * 400 + [(1, False)] * 9,  # too few are missing
        [(0, False)] * 400,  # it never was there
        [(0, number % 5 == 0) for number in range(400)] + [(1, False)] * 64,  # it was seldom there
        [(0, True)] * 400 + [(1, number % 3 > 0) for number in range(300)],  # a third less
    ],
)
def test_no_false_alarm(pages: list[tuple[float, bool]]) -> None:
    assert told(noted(pages)) == []


@pytest.mark.parametrize("share", [0.35, 0.5, 0.8, 0.97])
def test_chance_is_no_change(share: float) -> None:
    chance, known = random.Random(share), FieldShares()
    for number in range(3000):
        noted([(number / 300, chance.random() < share)], known)
        assert number % 7 or told(known) == [], number


def test_what_need_not_be_there_may_go_and_is_shown_all_the_same() -> None:
    known = FieldShares()
    for number in range(200):
        known.note(page(True, has_pay=number < 100), "http://a.test/", number / 100 * DAY)
    assert told(known) == []
    assert {share.name: list(share.days.values()) for share in shares([known.kept()])} == {
        "job: items": [1.0, 1.0], "job: pay": [1.0, 0.0], "job: title": [1.0, 1.0],
    }  # fmt: skip


def test_a_rule_that_finds_no_item_any_more_is_told_of() -> None:
    known = FieldShares()
    for number in range(200):
        values = {ITEMS: number < 150}
        known.note(Extracted(values=values, required={ITEMS}), f"http://a.test/{number}", 0.0)
    (share,) = fallen([known.kept()])
    assert share.text.startswith("job: no item on 20 of the last 20 pages")


def test_what_is_kept_is_bounded_and_survives_a_restart() -> None:
    known = noted([(day, True) for day in range(40) for _ in range(5)])
    record = decode(encode(PartitionRecord(0, fields=known.kept())), PartitionRecord)
    assert record.fields == known.kept()
    assert len(record.fields["job\ttitle"].days) == DAYS
    again = FieldShares(record.fields)
    noted([(40, False)] * 30, again)
    assert told(again) == [TITLE]
    for number in range(2 * MOST):
        again.note(Extracted(values={("job", str(number)): True}), "http://a.test/", 0.0)
    assert len(again.kept()) == MOST
    again.note(page(False), "http://a.test/" + "x" * 5000, 40 * DAY)
    assert all(len(example) < 3000 for share in again.kept().values() for example in share.examples)
    assert FieldShare().days == ()


def test_a_record_of_before_is_read() -> None:
    assert decode(encode(PartitionRecord(3)), PartitionRecord).fields == {}
