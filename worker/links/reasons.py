"""Why a URL is not visited, as it stands in records (`Link.fate`, `Row.rule`): a kind, and what decided. Pure."""

from typing import Literal, TypeAlias

ReasonKind: TypeAlias = Literal["scope", "trap", "budget", "topic"]
"""A rule of the scope; a rule against traps; a budget of the host or of a domain above it; the topic of the crawl."""


def reason(kind: ReasonKind, decided: str) -> str:
    """The text of a record; ``decided``: what did, in words for people."""
    return f"{kind}: {decided}"


def what_decided(recorded: str, kind: ReasonKind) -> str | None:
    """What decided, of a record's text; None where it is not of this kind."""
    before, colon, decided = recorded.partition(": ")
    return decided if colon and before == kind else None
