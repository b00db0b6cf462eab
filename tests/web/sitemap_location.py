"""Which addresses a sitemap may speak for (sitemaps.org, "sitemap file location" and "cross submits")."""

from collections.abc import Callable, Collection
from urllib.parse import urlsplit


def is_local(url: str, sitemap: str) -> bool:
    """Whether ``url`` has the sitemap's scheme, host and port, and is in or below its folder. Both are absolute."""
    ours, theirs = urlsplit(sitemap), urlsplit(url)
    folder = ours.path[: ours.path.rfind("/") + 1] or "/"
    return (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc) and (theirs.path or "/").startswith(folder)


def is_submitted(url: str, announced_by: Collection[str], group: Callable[[str], str | None]) -> bool:
    """Whether a host of the same group as that of ``url`` announces the sitemap in its robots.txt.

    ``group`` maps a host to what must be equal: the host itself, or its registered domain (None: no group).
    """
    own = group(urlsplit(url).hostname or "")
    return own is not None and any(group(host) == own for host in announced_by)
