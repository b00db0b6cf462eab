"""How many processes crawl, and what each has of the crawl's bounds."""

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.compose import shares
from gregor.worker.config.settings import Config, replace


@pytest.mark.parametrize(
    ("cores", "given", "number"),
    [
        (1, {}, 1),
        (8, {}, 7),
        (128, {}, 64),
        (128, {"partitions": 16}, 16),
        (8, {"concurrency": 3}, 3),
    ],
)
def test_auto_is_what_the_machine_and_the_crawl_bear(
    monkeypatch: pytest.MonkeyPatch, cores: int, given: dict[str, object], number: int
) -> None:
    monkeypatch.setattr(shares, "processors", lambda: cores)
    assert shares.number_of(replace(Config(), processes="auto", **given)) == number


@pytest.mark.parametrize("given", [{"partitions": 3}, {"concurrency": 3}])
def test_more_than_there_is_to_share_are_refused(given: dict[str, object]) -> None:
    assert shares.number_of(replace(Config(), processes=3, **given)) == 3
    with pytest.raises(BadInput, match="processes is 4"):
        shares.number_of(replace(Config(), processes=4, **given))


def test_what_is_bounded_for_the_crawl_is_shared() -> None:
    part = shares.part_of(Config(processes=4, concurrency=11), 4)
    assert (part.processes, part.concurrency, part.max_time) == (1, 2, None)
