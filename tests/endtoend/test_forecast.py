"""`gregor forecast` as people meet it: of a stopped crawl, of one that was not begun, and of what cannot be."""

import json
from pathlib import Path
from typing import Any

from tests.endtoend.site import Here


def asked(here: Here, *words: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(here.said("forecast", "--json", *words))
    return told


def test_a_crawl_that_was_stopped_by_its_budget_and_one_that_is_over(here: Here, site: list[str]) -> None:
    here.said("crawl", "http://www.test/", "--max-pages", "5", *site)
    data = site[:2]
    told = asked(here, *data)
    assert (told["bound"], told["urls"]["most"]) == ("budget", told["visited"])
    told = asked(here, *data, "--set", "max_pages=none")
    assert told["bound"] in ("cpu", "host"), "its delay is 0"
    assert (told["waiting"], told["slowest"]) == (1, "www.test")
    assert told["urls"]["least"] == told["visited"] + 1 <= told["urls"]["likely"] <= told["urls"]["most"]
    here.said("crawl", *site, "--set", "max_pages=none")
    told = asked(here, *data)
    assert (told["bound"], told["waiting"], told["seconds"]["most"]) == ("nothing", 0, 0.0)
    assert "bound by nothing" in here.said("forecast", *data)


def test_a_crawl_that_was_not_begun(here: Here, site: list[str], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    told = asked(here, "--dry-run", "http://www.test/", *site)
    assert (told["visited"], told["waiting"], told["slowest"]) == (1, 2, "www.test")  # /1 is linked to, /7 is listed
    assert "www.test" in here.said("forecast", "--dry-run", "http://www.test/5", *site)
    assert sorted(tmp_path.iterdir()) == before, "nothing is kept"


def test_a_look_at_seeds_of_which_none_can_be_read_says_why(here: Here, site: list[str]) -> None:
    for seed in ("http://www.test/nowhere", "http://nobody.test/"):
        words = ["--dry-run", seed, *site, "--set", "retries=0", "--set", "max_pages_per_run=1"]
        assert not here.said("forecast", *words, code=1)
        assert here.err.startswith(f"gregor: the seed could not be fetched: {seed} is ")


def test_what_cannot_be_forecast_is_a_line(here: Here, site: list[str], tmp_path: Path) -> None:
    for words in (
        ["--data", str(tmp_path / "none")],
        ["http://www.test/", *site],
        ["--dry-run", *site],
        ["--dry-run", "not a url", *site],
        ["--workers", "0", *site],
    ):
        here.said("forecast", *words, code=2)
