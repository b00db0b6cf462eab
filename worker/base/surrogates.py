"""Halves of surrogate pairs, which no encoding has a form for: what holds one can be neither sent nor stored."""


def well_formed(text: str) -> str:
    """Pairs are the character that they mean, and lone surrogates U+FFFD, as the URL Standard and HTML have it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
