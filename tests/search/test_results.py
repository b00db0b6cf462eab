"""What a page of results shows of the hits."""

from gregor.search.borders import Hit
from gregor.search.results import Shown, shown


def hit(name: str, host: str, near: str = "", *keys: str) -> Hit:
    return Hit(name, name, 1, (name, *keys), name, host, name, "", "", 0.0, 0, 1.0, near)


def test_two_of_a_host_and_the_rest_is_counted() -> None:
    hits = [hit("1", "a"), hit("2", "b"), hit("3", "a"), hit("4", "a"), hit("5", "a"), hit("6", "c")]
    assert shown(hits) == [Shown(hits[0]), Shown(hits[1]), Shown(hits[2], of_host=2), Shown(hits[5])]
    assert shown(hits, everything=True) == [Shown(one) for one in hits]


def test_all_of_the_only_host() -> None:
    assert len(shown([hit(str(number), "a") for number in range(5)])) == 5


def test_what_says_nearly_the_same_is_one_hit_with_a_count() -> None:
    hits = [hit("1", "a", "9"), hit("2", "b", "9"), hit("3", "c", "1"), hit("9", "d"), hit("4", "e")]
    assert shown(hits) == [Shown(hits[0], alike=3), Shown(hits[4])]
    assert shown([]) == []
