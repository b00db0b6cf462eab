"""What a crawl is after: a model of classes, and example pages that it has or that another worker visits."""

import asyncio
from pathlib import Path
from typing import Any, cast

from gregor.worker.borders.errors import Damaged, Unavailable
from gregor.worker.borders.store import PageStore
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.compose.topics import examples_learnt
from gregor.worker.config.settings import Config
from gregor.worker.topic.examples import ExamplePages
from gregor.worker.topic.model_file import encode, model_data
from gregor.worker.topic.relevance import KeyWords, RelevantClasses
from tests.simulation.clock import VirtualLoop

FERRY = "The ferry leaves the harbour at noon, passengers board it from the pier"


class Stored:
    """Pages by key; what is an error is raised."""

    def __init__(self) -> None:
        self.pages: dict[str, str | Exception] = {}

    async def versions(self, key: str) -> list[int]:
        return [0, 1] if key in self.pages else []

    async def page(self, key: str, visit: int) -> Any:
        assert visit == 1, "the newest"
        text = self.pages[key]
        if isinstance(text, Exception):
            raise text
        values = {"href": key, "key": key, "title": "", "text": text}
        return type("Stored", (), values)


def test_stored_examples_are_learnt_at_once_and_others_when_they_are_there() -> None:
    async def story() -> None:
        stored, topic = Stored(), ExamplePages(["http://a/", "http://b/"], ["http://bad/"])
        stored.pages = {"http://a/": FERRY, "http://bad/": Damaged("page", "http://bad/", "torn")}
        async with examples_learnt(topic, cast(PageStore, stored), every=5.0):
            assert topic.wanted == {"http://b/", "http://bad/"}
            assert (topic.of_page("x", "", FERRY, "") or 0.0) > 0.5
            stored.pages |= {"http://b/": Unavailable("Cassandra", "it is away")}
            await asyncio.sleep(11.0)
            assert topic.wanted == {"http://b/", "http://bad/"}
            stored.pages = {"http://b/": FERRY, "http://bad/": "tea"}
            await asyncio.sleep(5.0)
            assert not topic.wanted

    VirtualLoop(most_time=100.0).run_until_complete(story())  # type: ignore[abstract]


def test_the_model_is_read_once_and_is_the_topic_only_where_its_classes_are(tmp_path: Path) -> None:
    file = tmp_path / "m"
    file.write_bytes(encode(model_data(("a", "b"), (1, 1), (0.0, 0.0), [], [[], []])))
    by_classes = extraction_of(Config(topic_model=str(file), topic_classes=("a",), ordering="topic"))
    assert isinstance(by_classes.topic, RelevantClasses) and by_classes.topic._model is by_classes.model
    by_words = extraction_of(Config(topic_model=str(file), topic_words=("ferry",), ordering="topic"))
    assert isinstance(by_words.topic, KeyWords) and by_words.model is not None
