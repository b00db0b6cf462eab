"""Who is meant by a User-agent line of a robots.txt (RFC 9309 section 2.2.1), and what a crawler is called there."""

import re
from typing import Final, NamedTuple

from gregor.worker.robots.match import normal, pattern

NOBODY: Final = 0
PERHAPS: Final = 1
"""A line means us only by a reading that RFC 9309 does not know: it counts where no other group holds for us."""
EVERYONE: Final = 2
"""A line means all crawlers; lines that name us go before it, the longest name first."""

_WORD = re.compile(r"[^\s,;()]+")
_COMMENT = re.compile(r"\([^()]*\)")
_BROWSER = ("mozilla", "compatible")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ALL = re.compile(r"\*(?=[\s,;]|\Z)")


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


class AgentNames(NamedTuple):
    """By which lower-case names a User-agent line may mean a crawler."""

    ours: frozenset[str]
    """Its whole header, and what it is called: the first product that is not a browser's."""
    others: frozenset[str]
    """The further products of its header; other crawlers may be called so."""


def names(agent: str) -> AgentNames:
    """The names in a User-Agent. Comments hold none, unless the header poses as a browser's."""
    lower = agent.strip().lower()
    products = lower if lower.startswith(_BROWSER) else _COMMENT.sub(" ", lower)
    words = [word.partition("/")[0] for word in _WORD.findall(products)]
    words = [word for word in words if word and word not in _BROWSER]
    return AgentNames(frozenset({lower, *words[:1]} - {*_BROWSER, ""}), frozenset(words[1:]))


def affinity(value: str, crawler: AgentNames) -> int:
    """How well a User-agent line names the crawler: `NOBODY`, `PERHAPS`, `EVERYONE`, or more, by the name's length.

    By the RFC a line holds one token, which ends where its grammar ends it. A list with commas names each of its
    members, and names with digits or other letters are taken as they stand. Further words of a line, and ``*`` inside a
    name, may mean others: what a line says by them never takes the place of what the RFC's reading says.
    """
    value = value.lower()
    if value in crawler.ours:
        return EVERYONE + len(value)
    token = _TOKEN.match(value)
    if token is not None and token.end() == len(value):
        return PERHAPS if value in crawler.others else NOBODY
    members = (member.strip() for member in value.split(","))
    candidates = {name for member in members for name in _first_names(member)}
    best = max((EVERYONE + len(name) for name in candidates & crawler.ours), default=NOBODY)
    if best:
        return best
    if _ALL.match(value):
        return EVERYONE
    words, all_names = {word.partition("/")[0] for word in _WORD.findall(value)}, crawler.ours | crawler.others
    return PERHAPS if words & all_names or any("*" in word and _is_pattern_of(word, all_names) for word in words) else 0


def _first_names(member: str) -> tuple[str, ...]:
    """What one member of a line names: its first word without version, and the token that begins it."""
    word, token = _WORD.match(member), _TOKEN.match(member)
    return (word[0].partition("/")[0] if word else "", token[0] if token else "")


def _is_pattern_of(name: str, known: frozenset[str]) -> bool:
    if not name.strip("*"):
        return False
    wanted = pattern(f"{name}$", (0, "user-agent", name, name))
    return any(wanted.matches(normal(each)) for each in known)
