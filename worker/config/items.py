"""The settings of what is taken out of pages: a part of the crawl's settings."""

from typing import Annotated

from msgspec import Meta

from gregor.worker.config.about import About


class Items(About, frozen=True, kw_only=True):
    """Which rules and plug-ins make items of pages."""

    rules: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(description="files of rules (docs/extraction.md): items are taken from pages as they are crawled"),
    ] = ()
    plugins: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(description="plug-ins, each FILE.py:CLASS (docs/plugins.md): code that runs in the worker"),
    ] = ()
