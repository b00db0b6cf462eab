"""How a policy orders what waits: quantiles, standings in memory and outside, what is owed, plug-ins that fail."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.errors import BadInput
from gregor.worker.base.pieces import at_once
from gregor.worker.compose.extraction import extraction_of, policy_of
from gregor.worker.config.settings import Config, replace
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.fetch_order import FetchOrder
from gregor.worker.links.ordering.opic import FOLDER, TAX, Opic
from gregor.worker.links.ordering.own import OwnPolicy
from gregor.worker.links.ordering.policy import SEED, BroughtPage
from gregor.worker.links.ordering.quantiles import BANDS, RunningQuantiles
from gregor.worker.links.ordering.standings import FIRST, Standings

NUMBERS = st.floats(-1e6, 1e6)


def page(worth: float = 1.0, links: int = 4, host: str = "a.example") -> BroughtPage:
    """A page of a host that leads on."""
    return BroughtPage(f"http://{host}/", f"http://{host}/", host, 0, "", worth, links, "", "")


def link(url: str = "http://a.example/x") -> FoundLink:
    """A link of it."""
    return FoundLink(url, url, "a.example", "a", "more", False, "http://a.example/", 1, "")


class Waiting:
    """A URL that waits in memory."""

    def __init__(self, worth: float) -> None:
        self.worth = worth
        self.risen = 0

    def rises(self) -> None:
        """It moves."""
        self.risen += 1


def standings(adds: bool = True, most: int = 100, owed: Callable[[int], float] = lambda _: 0.0) -> Standings:
    """Those of a partition."""
    return Standings(adds, most, owed, Counter())


@given(st.lists(NUMBERS, min_size=1, max_size=300), NUMBERS, NUMBERS)
def test_what_is_higher_is_in_no_worse_band_and_queue(numbers: list[float], one: float, other: float) -> None:
    quantiles = RunningQuantiles()
    for number in numbers:
        quantiles.note(number)
    low, high = sorted((one, other))
    assert 0 <= quantiles.band(high) <= quantiles.band(low) <= len(BANDS)
    assert 1 <= quantiles.queue(high) <= quantiles.queue(low) <= 4


def test_all_front_queues_stay_in_use_whatever_the_scale() -> None:
    quantiles = RunningQuantiles()
    for scale in (1.0, 1e-6, 1e6):
        used = [0] * 5
        for number in range(5000):
            worth = scale * ((number * 7919) % 5000 + 1)
            quantiles.note(worth)
            used[quantiles.queue(worth)] += number >= 3000
        assert all(count >= 60 for count in used[1:]), used


def test_nothing_is_known_at_first() -> None:
    quantiles = RunningQuantiles()
    assert (quantiles.queue(5.0), quantiles.band(5.0), quantiles.least(1), quantiles.borders) == (
        4,
        len(BANDS),
        None,
        {},
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0.001, 10.0)), max_size=60), st.booleans())
def test_what_links_bring_counts_wherever_the_url_waits(links: list[tuple[int, float]], adds: bool) -> None:
    waiting = standings(adds)
    brought: dict[int, list[float]] = {}
    for number, worth in links:
        if number in brought:
            assert waiting.credit(number, worth) is not None
        elif number % 2:
            waiting.waits(number, worth)
        else:
            item = Waiting(waiting.weigh(number, worth, 2, again=False))
            waiting.came(number, item)
        brought.setdefault(number, []).append(worth)
    for number, worths in brought.items():
        total = sum(worths) if adds else max(worths)
        assert waiting.worth(waiting.weigh(number, worths[0], 2, again=True)) == pytest.approx(
            total if number % 2 else worths[0]
        )


def test_a_url_in_memory_moves_when_its_worth_rises_notably() -> None:
    waiting, item = standings(), Waiting(1.0)
    waiting.came(7, item)
    assert waiting.credit(7, 0.01) is False
    assert (item.risen, item.worth) == (0, 1.01)
    waiting.credit(7, 0.5)
    assert item.risen == 1
    waiting.went(7)
    assert waiting.credit(7, 1.0) is None


def test_a_url_outside_memory_comes_in_when_it_reaches_a_better_band_and_takes_its_worth_along() -> None:
    counts = Counter[str]()
    waiting = Standings(True, 100, lambda _: 0.0, counts)
    for number in range(1000):
        waiting.weigh(number, float(number + 1), 2, again=False)
    waiting.waits(5000, 10.0)
    assert waiting.credit(5000, 1.0) is False
    assert waiting.credit(5000, 900.0) is True
    assert waiting.lend(5000) == pytest.approx(911.0)
    assert waiting.credit(5000, 1.0) is None  # its ticket is under way
    assert waiting.lets_in(5000, 911.0)
    assert waiting.worth(waiting.weigh(5000, 911.0, 2, again=False)) == pytest.approx(911.0)
    assert not waiting.lets_in(5000, 1.0)  # it waits no longer, as far as is known
    assert counts == {"admitted": 1}


def test_of_what_waits_outside_memory_the_best_are_remembered() -> None:
    waiting = standings(most=10)
    for number in (step * 7919 % 1000 for step in range(1000)):  # 7919 is prime: each once, the best here and there
        waiting.waits(number, float(number))
    assert len(waiting) <= 10
    assert None not in [waiting.credit(number, 1.0) for number in range(995, 1000)]
    assert waiting.credit(500, 1.0) is None


def test_what_flows_to_all_lifts_those_who_waited() -> None:
    waiting = standings()
    item = Waiting(waiting.weigh(1, 1.0, 2, again=False))
    waiting.came(1, item)
    waiting.flow(3.0)
    assert waiting.worth(item.worth) == pytest.approx(4.0)
    assert waiting.weigh(2, 2.0, 2, again=False) < item.worth


def test_what_has_no_worth_stands_as_its_front_queue_does() -> None:
    waiting = standings()
    assert waiting.weigh(1, None, 1, again=False) == FIRST
    for number in range(1000):
        waiting.weigh(number, float(number), 2, again=False)
    second, third = (waiting.weigh(5000 + queue, None, queue, again=False) for queue in (2, 3))
    assert second > third >= 0.0


def brought(opic: Opic, worth: float, links: int, key: str = "http://a.example/page") -> Sequence[float]:
    """What the links of a page bring, none of which leads to a folder."""
    of = BroughtPage(key, key, "a.example", 1, "http://a.example/", worth, links, "", "")
    return at_once(opic.worths(of, [link(f"http://a.example/{number}") for number in range(links)]))


def test_the_cash_of_a_page_is_split_less_a_tax_and_its_sum_is_bounded() -> None:
    worths = brought(Opic(), 2.0, 4)
    assert len(worths) == 4
    assert min(worths) >= 2.0 * (1 - TAX) / 4
    assert brought(Opic(), 1.0, 0) == []


@pytest.mark.parametrize("name", ["http://a.example/guide/", "http://a.example/guide/index.html", "http://a.example/"])
def test_a_url_that_names_a_folder_comes_sooner_and_hands_on_no_more(name: str) -> None:
    of_folder, other = at_once(Opic().worths(page(links=2), [link(name), link("http://a.example/guide/a.html")]))
    assert of_folder == pytest.approx(FOLDER * other)
    handed_on = brought(Opic(), of_folder, 1, name)
    assert handed_on == pytest.approx(brought(Opic(), other, 1))
    (by_query,) = at_once(Opic().worths(page(links=1), [link("http://a.example/guide/?page=2")]))
    (plain,) = at_once(Opic().worths(page(links=1), [link()]))
    assert by_query == plain


def test_a_chain_that_leads_on_alone_has_ever_less_of_what_many_link() -> None:
    opic = Opic()
    for _ in range(200):
        brought(opic, 1.0, 20)
    worth = 1.0
    for _ in range(30):
        worth = brought(opic, worth, 2)[0]
    many = sum(brought(opic, 1.0, 20)[0] for _ in range(10))
    assert worth < many


def order(memory: int = 100) -> FetchOrder:
    """Of a worker that owns the partition of a.example alone."""
    return FetchOrder(Opic(), lambda host: int(host != "a.example"), memory)


def test_what_is_suppressed_is_summed_until_it_is_worth_a_ticket() -> None:
    ordered, counts = order(), Counter[str]()
    ordered._counts = counts
    for number in range(200):
        ordered.place(1.0 + number % 3, 0, 2)
    assert ordered.owe(9, "b.example", 0.6) is None
    owed = [ordered.owe(9, "b.example", 0.6) for _ in range(6)]
    sent = [worth for worth in owed if worth is not None]
    assert len(sent) == 1
    assert sent[0] >= 1.0
    assert counts == {"published": 1}


def test_what_is_owed_to_a_url_of_ones_own_waits_for_it() -> None:
    ordered = order()
    here = ordered.standings(0, 1.0)
    assert ordered.owe(9, "a.example", 5.0) is None
    assert here.worth(here.weigh(9, 1.0, 2, again=False)) == pytest.approx(6.0)
    assert here.worth(here.weigh(9, 1.0, 2, again=False)) == pytest.approx(1.0)


def test_a_partition_that_is_given_up_is_forgotten() -> None:
    ordered = order()
    here = ordered.standings(0, 1.0)
    assert list(ordered.owned) == [0]
    del here
    assert not ordered.owned


@given(st.lists(st.tuples(st.integers(0, 10**6), st.floats(0.01, 10.0)), max_size=400))
def test_what_is_owed_is_bounded(links: list[tuple[int, float]]) -> None:
    ordered = order(memory=16)
    for number, worth in links:
        ordered.owe(number, "b.example", worth)
    assert len(ordered._owed) + len(ordered._owed_before) <= 16


def test_the_front_queue_that_was_given_to_a_link_counts() -> None:
    ordered = order()
    for number in range(2000):
        ordered.place(float(number), 0, 2)
    assert ordered.place(10.0, 1, 2).priority == 1
    assert ordered.place(1999.0, 3, 2).priority == 3
    assert (ordered.place(10.0, 1, 2).worth or 0) > (ordered.place(1999.0, 3, 2).worth or 0)
    assert ordered.place(None, 0, 2) == (None, 2)


class Fails:
    """A policy that fails on some links, and to learn."""

    def learn(self, page: BroughtPage) -> None:
        raise KeyError(page.url)

    def worth(self, link: FoundLink, page: BroughtPage) -> float:
        match link.url[-1]:
            case "1":
                raise ValueError(link.url)
            case "2":
                return math.nan
            case "3":
                return -math.inf
            case "4":
                return "much"  # type: ignore[return-value]
            case "6":
                raise SystemExit(4)
            case _:
                return 1e300


def test_what_a_plug_in_cannot_say_costs_its_word_alone() -> None:
    policy = OwnPolicy("fails", Fails())
    worths = at_once(policy.worths(page(), [link(f"http://a.example/{number}") for number in range(7)]))
    assert worths == [1e100, None, None, None, None, 1e100, None]
    assert sorted(policy.failures) == [
        "it failed to learn: KeyError",
        "it failed: SystemExit",
        "it failed: ValueError",
        "it gave no finite number",
    ]


@pytest.mark.parametrize("tax", [-0.1, 1.0, "much", True, math.nan])
def test_a_plug_in_with_a_tax_that_is_none_is_refused(tax: object) -> None:
    plugin = Fails()
    plugin.tax = tax  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match="tax wants a number"):
        policy_of("mine", {"mine": plugin})


def test_policies_are_named() -> None:
    assert policy_of("depth", {}) is None
    assert isinstance(policy_of("opic", {}), Opic)
    assert isinstance(policy_of("mine", {"mine": Fails()}), OwnPolicy)
    with pytest.raises(
        BadInput, match=r"ordering 'pagerank' is no policy; there are depth, opic, topic, mine: .*ordering=depth"
    ):
        policy_of("pagerank", {"mine": Fails()})
    for name in ("depth", "opic"):
        with pytest.raises(BadInput, match=f"plug-in {name}: a policy of that name comes along"):
            policy_of(name, {name: Fails()})


def test_what_waits_when_a_crawl_goes_on_by_another_policy_is_worth_what_a_seed_is_until_more_is_known() -> None:
    waiting = standings()
    for number in range(50):
        assert waiting.worth(waiting.weigh(number, None, 4, again=False)) == SEED
    waiting.weigh(100, 0.2, 3, again=False)
    assert waiting.weigh(101, None, 2, again=False) == 0.2
    assert waiting.weigh(102, None, 4, again=False) == 0.0


def test_a_policy_that_is_given_and_not_in_force_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "order.py"
    file.write_text("class Mine:\n    def worth(self, link, page): return 1.0\n")
    config = replace(Config(), plugins=[f"{file}:Mine"])
    assert extraction_of(config).judges.policy is None
    assert "the policy 'Mine' is not in force: ordering is depth; --set ordering=Mine" in capsys.readouterr().err
    assert extraction_of(replace(config, ordering="Mine")).judges.policy is not None
    assert not capsys.readouterr().err
