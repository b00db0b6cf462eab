"""What is relevant for a topic: by key words, by example pages, by classes of a model."""

import pytest

from gregor.worker.topic.examples import MOST, ExamplePages, WordsOfPages
from gregor.worker.topic.features import features, of_page, words
from gregor.worker.topic.model_file import model_data
from gregor.worker.topic.page_model import PageModel
from gregor.worker.topic.relevance import KeyWords, MeanRelevance, RelevantClasses

FERRY = "The ferry leaves the harbour at noon. Passengers board the ferry from the pier, and vehicles follow."
TEA = "Green tea is grown in the hills. The leaves are dried, rolled and sent to the cities in boxes."


def test_key_words_count_by_where_and_how_often_they_are() -> None:
    topic = KeyWords(["ferry"])
    text = topic.of_page("k", "", "a ferry", "")
    more = topic.of_page("k", "", "a ferry and a ferry and a ferry", "")
    titled = topic.of_page("k", "The ferry", "a ferry", "")
    all_over = topic.of_page("k", "The ferry", "a ferry and a ferry", "http://h/ferry")
    assert 0.0 == topic.of_page("k", "Tea", TEA, "http://h/tea") < text < more < 1.0
    assert text < titled < all_over < 1.0 and titled >= 0.5


@pytest.mark.parametrize(
    ("key_word", "text", "met"),
    [
        ("port authority", "the Port-Authority says", True),
        ("port authority", "authority of the port", False),
        ("ferr*", "two ferries", True),
        ("ferry", "two ferries", False),
        ("Fährhafen", "der FÄHRHAFEN", True),
        ("求人", "新着求人情報", True),
    ],
)
def test_key_words_are_words_phrases_or_beginnings_in_any_language(key_word: str, text: str, met: bool) -> None:
    topic = KeyWords([key_word])
    assert (topic.of_page("k", "", text, "") > 0.0) is met
    assert bool(topic.of_words(words(text))) is met


def test_a_key_word_of_no_letters_is_none() -> None:
    with pytest.raises(ValueError, match="--"):
        KeyWords(["--"])


def test_examples_set_their_words_apart_from_those_of_other_pages() -> None:
    topic = ExamplePages()
    for number in range(3):
        topic.learn("Ferry", f"{FERRY} Number {number}.", good=True)
    topic.learn("Tea", TEA, good=False)
    for n in range(30):
        other = topic.of_page(f"k{n}", "The news", f"The mayor of town {n} opened a school and left.", "")
    routes = topic.of_page("a", "Routes", "A ferry with passengers leaves the harbour; board from the pier.", "")
    tea = topic.of_page("b", "Tea", TEA, "")
    assert routes is not None and tea is not None and other is not None
    assert routes > 0.5 > max(tea, other)
    anchor = topic.of_words(["ferry", "harbour"])
    assert anchor is not None and anchor > 0.7 > (topic.of_words(["the", "mayor"]) or 0.0)


def test_examples_that_are_urls_are_learnt_from_as_they_come() -> None:
    topic = ExamplePages(["http://good/"], ["http://bad/"])
    assert topic.of_words(["ferry"]) is None and topic.of_page("x", "", FERRY, "") is None
    assert topic.wanted == {"http://good/", "http://bad/"} == MeanRelevance([topic, KeyWords(["ferry"])]).wanted
    assert topic.of_page("http://good/", "", FERRY, "") == 1.0 and topic.of_page("http://bad/", "", TEA, "") == 0.0
    relevance = topic.of_page("y", "", FERRY, "")
    assert relevance is not None and relevance > 0.5 and not topic.wanted


def test_what_cannot_be_said_yet_counts_for_nothing() -> None:
    nothing = ExamplePages(["http://good/"])
    assert MeanRelevance([nothing, KeyWords(["ferry"])]).of_page("x", "", "tea", "") == 0.0
    assert MeanRelevance([nothing, nothing]).of_page("x", "", "tea", "") is None


def test_words_that_are_counted_are_bounded() -> None:
    counted = WordsOfPages()
    for page in range(0, 3 * MOST, 1000):
        counted.add({"often", *(f"w{number}" for number in range(page, page + 1000))})
    assert len(counted.counts) <= MOST + 1001 and counted.share("often") > 0.8


def test_classes_of_a_model_and_several_together() -> None:
    numbers = sorted(features(of_page("", "ferry", "")))
    model = PageModel(model_data(("a", "b", "c"), (1, 1, 1), (0.0, 0.0, 0.0), numbers, [[5.0], [0.0], [0.0]]))
    topic = RelevantClasses(model, ("a", "b"))
    assert topic.of_page("k", "", "ferry", "") > 0.95 and topic.of_page("k", "", "", "") == pytest.approx(2 / 3)
    both = MeanRelevance([topic, KeyWords(["ferry"])])
    assert both.of_page("k", "", "", "") == pytest.approx(1 / 3) and both.of_words(["ferry"]) == 0.5


def test_what_speaks_as_strongly_either_way_is_chosen_the_same_in_whatever_order_it_comes() -> None:
    topic = ExamplePages()
    likes, unlikes = [f"like{number}" for number in range(80)], [f"unlike{number}" for number in range(80)]
    says = {**dict.fromkeys(likes, 1.0), **dict.fromkeys(unlikes, -1.0)}
    topic._says = lambda word: says[word]  # type: ignore[method-assign]
    assert topic._score(likes + unlikes) == topic._score(unlikes + likes)
