"""Counts of a partition: what they say of a crawl is what the rows say."""

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import Page, Row, State
from gregor.worker.frontier.counts import (
    OPTED_OUT_RECORDS,
    STATE,
    CountsChange,
    added,
    became_page,
    change_of,
    count_settled,
    forgotten_counts,
    of_kind,
    opted_out_record,
    total,
)

VISITS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["fetched", "waiting", "gone", "dead"])))


@given(VISITS, st.lists(st.integers(0, 20)))
def test_urls_are_counted_by_the_state_of_their_rows(visits: list[tuple[int, State]], kept_at: list[int]) -> None:
    rows: dict[int, Row] = {}
    records: list[dict[str, int]] = [{}, {}]
    counts = [Counter[str](), Counter[str]()]
    for at, (url, state) in enumerate(visits):
        row = Row(f"http://a/{url}", f"http://a/{url}", "a", 1, state, "ok")
        count_settled(counts[url % 2], rows.get(url), row, None, "")
        rows[url] = row
        if at in kept_at:
            records[url % 2] = added(records[url % 2], counts[url % 2])
            counts[url % 2].clear()
    whole = total([added(record, count) for record, count in zip(records, counts, strict=True)])
    assert of_kind(whole, STATE) == Counter(row.state for row in rows.values())


def test_what_opts_out_is_counted_no_more() -> None:
    page = Page("u", "u", "a", 1, "new", 200, 1.0, size=70)
    rows = {
        "page": Row("u", "u", "a", 1, "fetched", "ok", 200, page=1, kept_size=70),
        "old": Row("u", "u", "a", 3, "gone", "status 404", 404, page=1, kept_status=200, kept_size=5),
        "shown": Row("u", "u", "a", 1, "fetched", "ok", 200, page=1, kept_size=9, requisite=True),
        "waiting": Row("u", "u", "a", 1, "waiting", "status 503"),
    }
    kept = Row("u", "u", "a", 1, "denied", "denied")
    counts = forgotten_counts([(row, kept) for row in rows.values()])
    assert {name: count for name, count in counts.items() if count} == {
        "pages": -2, "pages_200": -2, "bytes": -84, "requisites": -1, "requisites_200": -1,
        "state fetched": -2, "state gone": -1, "state waiting": -1, "state denied": 4,
    }  # fmt: skip
    begun: Counter[str] = Counter()
    count_settled(begun, None, rows["page"], page, "")
    left = added(begun, forgotten_counts([(rows["page"], kept)]))
    assert left == {"status 200": 1, "state denied": 1}, "the answer was one"
    assert opted_out_record("a.example") in OPTED_OUT_RECORDS


def test_a_visit_of_a_host_that_opted_out_takes_the_page_of_before_away() -> None:
    row = Row("k", "k", "a.test", 1, "fetched", "fetched", 200, page=1, kept_status=200, kept_size=70)
    counts = Counter({"pages": 1, "pages_200": 1, "bytes": 70, "state fetched": 1})
    count_settled(counts, row, Row("k", "k", "a.test", 2, "denied", "denied"), None, "")
    assert +counts == {"state denied": 1}
    count_settled(counts, None, Row("k", "k", "a.test", 1, "denied", "denied"), None, "")
    assert +counts == {"state denied": 2}, "a URL without a page takes none away"


def test_a_url_counts_as_one_page_by_its_newest_version() -> None:
    page = Page("k", "k", "a.test", 1, "new", 200, 1.0, size=70)
    row = Row("k", "k", "a.test", 1, "fetched", "fetched", 200)
    assert change_of(None, page) == change_of(row, page) == CountsChange(1, 1, 70)
    kept = msgspec.structs.replace(row, page=1, kept_status=200, kept_size=70)
    assert change_of(kept, msgspec.structs.replace(page, size=90)) == CountsChange(0, 0, 20)
    assert change_of(kept, msgspec.structs.replace(page, status=404, size=5)) == CountsChange(0, -1, -65)
    gone = msgspec.structs.replace(kept, kept_status=404, kept_size=5, status=0)
    assert change_of(gone, page) == CountsChange(0, 1, 65)


def test_a_requisite_is_no_page_until_a_link_makes_it_one() -> None:
    page = Page("k", "k", "a.test", 1, "new", 200, 1.0, size=70, requisite=True)
    assert change_of(None, page) == CountsChange(0, 0, 70, 1, 1)
    row = Row("k", "k", "a.test", 1, "fetched", "fetched", 200, page=1, kept_status=200, kept_size=70, requisite=True)
    assert became_page(row) == CountsChange(1, 1, 0, -1, -1)
    assert change_of(row, msgspec.structs.replace(page, requisite=False)) == became_page(row)
    assert became_page(msgspec.structs.replace(row, page=0)) == CountsChange()
    counts = Counter[str]()
    count_settled(counts, None, row, page, "")
    assert {name: counts[name] for name in ("pages", "bytes", "requisites_200")} == {
        "pages": 0,
        "bytes": 70,
        "requisites_200": 1,
    }
