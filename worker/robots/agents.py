"""Who is meant by a User-agent line of a robots.txt (RFC 9309 section 2.2.1), and what a crawler is called there."""

import re

from gregor.worker.robots.match import normal, pattern

_WORD = re.compile(r"[^\s,;()]+")
_COMMENT = re.compile(r"\([^()]*\)")
_BROWSER = ("mozilla", "compatible")
_TOKEN = re.compile(r"[A-Za-z_-]+")


def product_token(user_agent: str) -> str:
    """What a crawler is called in robots.txt: the first product of its User-Agent that is not a browser's, without
    version (``gregor`` of ``gregor/1.0 (+https://…)``). Empty when there is none."""
    for word in _WORD.findall(user_agent):
        token = _TOKEN.match(word)
        if token is not None and token[0].lower() not in _BROWSER:
            return token[0]
    return ""


def is_product_token(text: str) -> bool:
    """Whether ``text`` is a product token by RFC 9309 section 2.2.1."""
    return _TOKEN.fullmatch(text) is not None


def names(agent: str) -> frozenset[str]:
    """Lower-case names by which a User-agent line may mean a crawler: its whole header, and each product in it.
    Comments hold none, unless the header poses as a browser's."""
    whole = agent.strip().lower()
    products = whole if whole.startswith(_BROWSER) else _COMMENT.sub(" ", whole)
    words = {word.partition("/")[0] for word in _WORD.findall(products)}
    return frozenset({whole, *words}.difference(_BROWSER, ("",)))


def affinity(value: str, known: frozenset[str]) -> int:
    """How well a User-agent line names the crawler: 0 not at all, 1 as everyone, else the name's length and one more.

    By the RFC a line holds one token, which ends where its grammar ends it; names with digits or other letters, several
    names on a line and ``*`` inside a name are found in the wild and honoured too.
    """
    value = value.lower()
    token = _TOKEN.match(value)
    if token is not None and token.end() == len(value):
        return 1 + len(value) if value in known else 0
    candidates = {value, token[0] if token else "", *(word.partition("/")[0] for word in _WORD.findall(value))}
    best = max((1 + len(name) for name in candidates & known), default=0)
    if "*" not in value or best:
        return best
    return max((_pattern_affinity(name, known) for name in candidates if "*" in name), default=0)


def _pattern_affinity(name: str, known: frozenset[str]) -> int:
    literal = len(name.replace("*", ""))
    if not literal:
        return 1
    wanted = pattern(f"{name}$", (0, "user-agent", name, name))
    return 1 + literal if any(wanted.matches(normal(each)) for each in known) else 0
