"""The settings of what is fetched next: a part of the crawl's settings."""

from typing import Annotated

from msgspec import Meta

from gregor.worker.config.items import Items


class OrderSettings(Items, frozen=True, kw_only=True):
    """By which policy URLs are ordered."""

    ordering: Annotated[
        str,
        Meta(
            min_length=1, description="what is fetched next: depth, opic, or the name of a plug-in (docs/ordering.md)"
        ),
    ] = "depth"
    ordering_memory: Annotated[
        int, Meta(ge=16, description="waiting URLs outside memory whose worth is remembered, where a policy scores")
    ] = 262144
