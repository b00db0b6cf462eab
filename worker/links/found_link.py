"""A link as plug-ins see it: filters, scorers and policies of the order."""

import msgspec


class FoundLink(msgspec.Struct, frozen=True, gc=False):
    """A link of a page, or a URL that a sitemap lists, as a filter, a scorer or a policy of the order sees it."""

    url: str
    """Absolute, as it would be requested."""
    key: str
    """Its canonical form: the same for all spellings of it."""
    host: str
    """With its port, if that is not the usual one."""
    kind: str
    """What refers: ``a``, ``area``, ``iframe``, ``frame``, ``next``, ``canonical``, ``redirect``;
    ``url``: one that a sitemap lists."""
    text: str
    """Of the anchor, capped; "": it has none."""
    nofollow: bool
    """Whether the link, or its page, says so."""
    source: str
    """The URL of the page that has it."""
    depth: int
    """Steps from the seeds, with this one."""
    label: str
    """Of the seed that it comes of."""
