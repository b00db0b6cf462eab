"""The policy that gives a ticket its front queue: 1 is the highest, 4 the lowest. Pure."""


def of_link(depth: int) -> int:
    """By depth: near the seeds first. The last front queue is left to what looks endless, or brings little."""
    return min(3, 1 + (depth + 1) // 2) if depth else 1


def of_sitemap_url(priority: float) -> int:
    """By what the sitemap says of a URL, between 0 and 1 (0.5 when it says nothing)."""
    return 2 if priority > 0.5 else 3
