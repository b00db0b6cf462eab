"""How pages are read on this machine: a part of the crawl's settings."""

from typing import Annotated

from msgspec import Meta

from gregor.worker.config.topic import TopicSettings


class Native(TopicSettings, frozen=True, kw_only=True):
    """Which way pages are read."""

    native: Annotated[
        bool, Meta(description="read by the distribution gregor-native where it is installed (docs/native.md)")
    ] = True
