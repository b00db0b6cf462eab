"""What `make ordering` measures: its webs, its references, and that a whole crawl of it is one."""

import pytest

from benchmarks.ordering import reference, virtual_crawl
from benchmarks.ordering.made import Shape, made
from benchmarks.ordering.topical import TopicalShape, topical_web

SMALL = Shape(pages=120, seed=3, traps=0.1, seeds=3)


def test_a_made_web_is_alike_for_its_seed_and_all_of_it_is_reached() -> None:
    web, again = made(SMALL), made(SMALL)
    assert (web.keys, web.links) == (again.keys, again.links)
    assert made(Shape(pages=120, seed=4)).links != web.links
    assert sum(web.ranks) == pytest.approx(1.0)
    assert web.answer("http://nobody.made.example/").status == 404
    assert set(reference.breadth_first(web, 4, 0.1)) <= set(range(len(web.keys)))


def test_references_ask_for_each_page_once_and_the_oracle_for_the_best_first() -> None:
    web = made(SMALL)
    first, best = reference.breadth_first(web, 4, 0.1), reference.oracle(web, 4, 0.1)
    assert sorted(first) == sorted(best) == sorted(set(first))
    assert sum(web.ranks[best[:30]]) > sum(web.ranks[first[:30]])


def test_a_whole_crawl_asks_for_the_same_pages() -> None:
    web = made(SMALL)
    order, _ = virtual_crawl.crawl(web, 60)
    assert len(order) == len(set(order)) == 60


def test_a_web_of_topics_is_alike_for_its_seed_and_words_tell_what_is_relevant() -> None:
    shape = TopicalShape(pages=300, seed=3, topics=3, seeds=4)
    topic, again = topical_web(shape), topical_web(shape)
    assert (topic.web.keys, topic.web.links, topic.relevant) == (again.web.keys, again.web.links, again.relevant)
    told = {
        number for number, key in enumerate(topic.web.keys) if b" t0w" in topic.web.answer(key).body.partition(b"<a")[0]
    }
    assert told == topic.relevant
