"""The settings of topical crawls: a part of the crawl's settings, written as the table [topic] in a file."""

from typing import Annotated, Final

from msgspec import Meta

from gregor.worker.config.order import OrderSettings

TABLE: Final = "topic"
"""The table of a file in which these settings stand without what their names begin with."""


def is_url(example: str) -> bool:
    """Whether an example page is told by its URL, and not by a file."""
    return example.lower().startswith(("http://", "https://"))


class TopicSettings(OrderSettings, frozen=True, kw_only=True):
    """What pages are about."""

    topic_model: Annotated[
        str, Meta(description="file of a model: each page is put into one of its classes (docs/topics.md)")
    ] = ""
    topic_classes: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...], Meta(description="classes of `topic_model` that are the topic")
    ] = ()
    topic_words: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(description="key words of the topic: a phrase may have spaces, `*` at the end stands for any"),
    ] = ()
    topic_good: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...], Meta(description="pages of the topic: files, or URLs")
    ] = ()
    topic_bad: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...], Meta(description="pages that look like it and are not")
    ] = ()
    topic_threshold: Annotated[
        float, Meta(gt=0, lt=1, description="from which relevance on (0 to 1) a page is relevant")
    ] = 0.5
    topic_decay: Annotated[
        float, Meta(ge=0, le=1, description="how much of what was thought of a page its links keep if it is irrelevant")
    ] = 0.5
    topic_hops: (
        Annotated[int, Meta(ge=0, description="irrelevant pages in a row behind which no link is followed")] | None
    ) = None
    topic_discover: (
        Annotated[
            int,
            Meta(ge=1, description="follow to hosts never seen, each with so many pages until one is relevant"),
        ]
        | None
    ) = None

    @property
    def has_topic(self) -> bool:
        """Whether it is said what pages are relevant."""
        return bool(self.topic_words or self.topic_good or self.topic_classes)
