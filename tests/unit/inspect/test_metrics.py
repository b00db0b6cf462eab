"""The metrics: bounded, documented, cheap, and true of a crawl that is known."""

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.seen import SeenSet
from gregor.worker.inspect.host_views import HOST_STATES
from gregor.worker.inspect.metric_list import METRICS, SERVICES
from gregor.worker.inspect.metrics import Exposition, Look, Metric
from gregor.worker.inspect.metrics_docs import page
from gregor.worker.inspect.worker_state import Condition, Lag, look, unhealthy, unready
from gregor.worker.observe.instrumented import instrumented
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.timing import BOUNDS, Lowest, Timing
from gregor.worker.run.runtime import Runtime
from tests.simulation.scenarios import of_seed

ROOT = Path(__file__).parents[3]
MACHINE = {"disk_free": 1.0, "disk_size": 2.0, "memory": 3.0}
CONDITION = Condition(
    "crawl", "worker", "1", "crawling", "politeness", "politeness: …", "", 1.0, 2, 3, 64, dict.fromkeys(HOST_STATES, 1),
    9, dict.fromkeys((1, 2, 3, 4), 5), dict.fromkeys((1, 2, 3, 4), 6), 7, 1, 0.5,
)  # fmt: skip
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scrape(stats: Stats, condition: Condition = CONDITION, lag: Lag | None = None) -> Samples:
    lag = lag or Lag(cast(Runtime, None))
    text = Exposition(METRICS, lambda: Look(stats, condition, lag, MACHINE, stats.margin.value(0.0))).text().decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_sample_says_of_which_crawl_it_is() -> None:
    stats = Stats()
    look = Look(stats, CONDITION, Lag(cast(Runtime, None)), MACHINE, stats.margin.value(0.0))
    text = Exposition(METRICS, lambda: look, 'a "quoted" crawl').text().decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert {sample.labels["crawl"] for sample in samples} == {'a "quoted" crawl'}
    assert "process_cpu_seconds_total" in {sample.name for sample in samples}


def test_the_page_is_true() -> None:
    assert (ROOT / "docs" / "metrics.md").read_text() == page(), (
        "python -m gregor.worker.inspect.metrics_docs writes it"
    )


def test_names_and_meanings_follow_the_rules() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert re.fullmatch(r"gregor_[a-z]+(_[a-z]+)*", metric.name)
        assert metric.meaning.endswith(".")
        assert "_total" not in metric.name
        assert metric.kind != "histogram" or metric.name.endswith("_seconds")


def test_what_strangers_choose_is_no_label() -> None:
    stats = Stats()
    before = scrape(stats)
    for number in range(500):
        stats.errors[f"http://{number}.example/\n"] += 1
        stats.statuses[number * 7] += 1
        stats.links[f"kind {number}"] += 1
        stats.bytes_by[f"{number}"] += 1
    after = scrape(stats)
    assert after.keys() == before.keys()
    assert after["gregor_errors_total", (("cause", "other"),)] == 500
    assert sum(value for (name, _), value in after.items() if name == "gregor_responses_total") == 500


@settings(deadline=None)
@given(st.text('a\\\n"{},= é'), st.one_of(st.integers(0), st.floats(), st.booleans()))
def test_any_label_and_any_number_is_read_back(value: str, number: float) -> None:
    metric = Metric("gregor_odd", "gauge", "Odd.", lambda _: [((value,), number)], {"what": "anything"})
    text = Exposition([metric], lambda: cast(Look, None)).text().decode()
    family = next(one for one in text_string_to_metric_families(text) if one.name == "gregor_odd")
    assert (family.type, family.documentation) == ("gauge", "Odd.")
    assert [sample.labels for sample in family.samples] == [{"what": value}]
    assert family.samples[0].value == pytest.approx(float(number), nan_ok=True)


@settings(deadline=None)
@given(st.lists(st.floats(0.0, 500.0)))
def test_a_timing_is_a_histogram(seconds: list[float]) -> None:
    timing = Timing()
    for one in seconds:
        timing.observe(one)
    stats = Stats()
    stats.stages["parse"] = timing
    found = scrape(stats)
    buckets = {
        float(dict(pairs)["le"]): value
        for (name, pairs), value in found.items()
        if name == "gregor_stage_seconds_bucket" and ("stage", "parse") in pairs
    }
    assert buckets == {bound: sum(one <= bound for one in seconds) for bound in (*BOUNDS, float("inf"))}
    assert found["gregor_stage_seconds_count", (("stage", "parse"),)] == len(seconds)
    assert found["gregor_stage_seconds_sum", (("stage", "parse"),)] == pytest.approx(sum(seconds))


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 300.0), st.floats(0.0, 10.0)), min_size=1))
def test_the_lowest_is_that_of_the_last_minute_at_least(observed: list[tuple[float, float]]) -> None:
    lowest, observed = Lowest(), sorted(observed)
    for at, value in observed:
        lowest.observe(value, at)
    last = observed[-1][0]
    assert lowest.value(last) <= min(value for at, value in observed if at > last - 60.0)
    assert lowest.value(last) in {value for at, value in observed if at > last - 120.0}
    assert lowest.value(last + 121.0) == float("inf")


class Seen:
    """A border of which every second call fails."""

    def __init__(self) -> None:
        self.calls = 0

    async def seen(self, fingerprints: list[int]) -> list[bool]:
        self.calls += 1
        if self.calls % 2 == 0:
            raise Unavailable("Redis", "gone")
        return [True for _ in fingerprints]


def test_a_border_is_measured_whatever_it_answers() -> None:
    stats = Stats()
    seen = instrumented(cast(SeenSet, Seen()), "seen", stats)

    async def ask() -> None:
        assert await seen.seen([1]) == [True]
        with pytest.raises(Unavailable):
            await seen.seen([1])

    asyncio.run(ask())
    found = scrape(stats)
    assert found["gregor_border_calls_total", (("border", "seen"), ("call", "seen"))] == 2
    assert found["gregor_border_seconds_count", (("border", "seen"),)] == 2
    assert found["gregor_unavailable_total", (("service", "Redis"),)] == 1
    assert found["gregor_border_errors_total", (("border", "seen"), ("call", "seen"))] == 1


def test_every_service_that_can_be_away_has_its_series() -> None:
    source = "".join(path.read_text() for path in sorted((ROOT / "worker" / "adapters").rglob("*.py")))
    named = re.findall(r'Unavailable\("(\w+)"', source) + re.findall(r'^SERVICE\b.*= "(\w+)"', source, re.MULTILINE)
    assert set(named) == set(SERVICES)


def test_a_crawl_is_told_as_it_was() -> None:
    run = of_seed(3)()
    assert not run.failures
    stats = [worker.runtime.stats for worker in run.workers]
    found: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
    for one in stats:
        found.update(scrape(one))
    requests = sum(1 for _ in run.web.log)
    assert found["gregor_requests_total", ()] >= requests
    assert found["gregor_too_close_total", ()] == 0
    assert found["gregor_visits_total", (("state", "fetched"),)] > 0
    assert (
        found["gregor_border_calls_total", (("border", "store"), ("call", "put_page"))]
        >= found["gregor_pages_total", ()]
    )
    links = found["gregor_links_total", (("fate", "sent"),)]
    stays, crosses = (found["gregor_churn_links_total", (("way", way),)] for way in ("stays", "crosses"))
    assert stays + crosses == links > 0
    assert found["gregor_epoch_changes_total", ()] >= run.config.partitions
    called = sum(value for (name, _), value in found.items() if name == "gregor_border_calls_total")
    assert called < 200 * requests, "what is counted costs: benchmarks.metrics says how much"
    last = run.workers[-1]
    assert last.ending is not None
    condition = look(last.runtime, run.config, last.runtime.stats.beat)
    assert (condition.state, condition.partitions, condition.back_queues) == ("stopping", 0, 0)
    assert unready(last.runtime, last.runtime.stats.beat) == "it is stopping"
    assert unhealthy(last.runtime, last.runtime.stats.beat) == ""
    assert unhealthy(last.runtime, last.runtime.stats.beat + 31.0) != ""
