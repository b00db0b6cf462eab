"""The report at the end."""

from collections import Counter

import msgspec
import pytest

from gregor.schemas.items import StoredItem
from gregor.worker.base.amounts import count, duration, size
from gregor.worker.extract.crawled import Extracted
from gregor.worker.extract.drift import Fallen
from gregor.worker.extract.model import Loss
from gregor.worker.inspect.report import Report, as_text, report
from gregor.worker.inspect.url_record import encode
from gregor.worker.observe.stats import Stats
from gregor.worker.run.ending import Ending, SpentBudget


def made(ending: Ending, stats: Stats) -> Report:
    return report(ending, stats, "./data", 2.0, 0)


def some() -> Stats:
    return Stats(
        pages=4,
        pages_200=3,
        bytes=2048,
        requests=6,
        states=Counter(fetched=3, gone=1, dead=2),
        errors=Counter({"connect": 2}),
        statuses=Counter({404: 1, 200: 3}),
        before={"pages_200": 7, "bytes": 1024},
    )


def test_a_program_reads_one_object() -> None:
    found = msgspec.json.decode(encode(made(Ending.of_budget(SpentBudget("max_pages", "10 pages")), some())))
    assert found["reason"] == "budget"
    assert found["total_pages_200"] == 10
    assert found["statuses"] == {"200": 3, "404": 1}
    assert list(found["states"]) == ["fetched", "dead", "gone"]


def test_items_what_was_lost_and_what_fell_away() -> None:
    stats = some()
    missing, unreadable = Loss("job", "title is missing"), Loss("job", "pay is not a price", costs_item=False)
    asked, kept = {"job": True}, [StoredItem("job", "job", "1", b"{}")]
    stats.extracted.add_crawled(Extracted(kept, asked, losses=[missing]), "http://a/1")
    stats.extracted.add_crawled(Extracted([], asked, losses=[missing, unreadable]), "http://a/2")
    away = Fallen("job", "title", "job: title is missing on 20 of the last 20 pages", 1.0, 0.0, 20, ())
    made = report(Ending("finished"), stats, "./data", 2.0, 0, drift=[away])
    shown = [line for line in as_text(made).splitlines() if line.split()[0] in ("items", "lost", "fell")]
    assert shown == [
        "  items      job 1",
        "  lost       job: title is missing: 2 items lost, as at http://a/1 http://a/2",
        "  lost       job: pay is not a price: 1 without a value, as at http://a/2",
        "  fell away  job: title is missing on 20 of the last 20 pages",
    ]
    found = msgspec.json.decode(encode(made))
    assert (found["items"], len(found["items_lost"]), found["drift"]) == ({"job": 1}, 2, [away.text])
    assert "items" not in as_text(report(Ending("finished"), some(), "./data", 2.0, 0))


def test_a_person_reads_what_happened() -> None:
    text = as_text(made(Ending.of_budget(SpentBudget("max_pages", "10 pages")), some()))
    assert "max_pages: 10 pages" in text
    assert "4 pages, 2.0 KiB, 6 requests in 2.0 s (2.0 pages/s)" in text
    assert "10 pages with status 200, 3.0 KiB" in text
    assert "connect 2" in text
    assert "With a larger budget the same command goes on" in text
    assert "  The same command goes on" in as_text(
        made(Ending.of_budget(SpentBudget("max_time", "10 seconds")), some())
    )
    assert "goes on" not in as_text(made(Ending("finished"), some()))
    assert "nothing is lost" in as_text(made(Ending("stopped", "by a signal"), some()))


def test_a_finished_crawl_says_so() -> None:
    text = as_text(made(Ending("finished"), Stats(before={"pages_200": 1, "bytes": 10})))
    assert text == "Nothing is left to do: the crawl in ./data has finished, 1 page with status 200, 10 B."
    on_servers = as_text(report(Ending("finished"), Stats(), "crawl novice", 2.0, 0, counted_before=False))
    assert on_servers == "Nothing is left to do: crawl novice has finished."


def test_what_was_given_up_is_told_with_the_way_to_it() -> None:
    assert "gregor deadletters" in as_text(made(Ending("finished"), Stats(states=Counter(refused=1))))
    assert "gregor deadletters" not in as_text(made(Ending("finished"), Stats(states=Counter(fetched=1, gone=1))))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.44, "0.4 s"), (9.97, "10 s"), (12.4, "12 s"), (59.7, "1 min 00 s"), (185, "3 min 05 s"), (7384, "2 h 03 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_is_no_plural() -> None:
    assert [count(1, "body"), count(2, "body"), count(0, "page"), count(2, "day")] == [
        "1 body",
        "2 bodies",
        "0 pages",
        "2 days",
    ]


def test_sizes() -> None:
    assert [size(number) for number in (0, 1023, 1536, 2**30, 2**52)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "1.0 GiB",
        "4096.0 TiB",
    ]
