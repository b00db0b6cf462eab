"""Small grammars of the HTML Standard that hide references: ``srcset``, ``meta`` refresh, the document base."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import ada_url
import msgspec

from gregor.worker.read.document import Reference
from gregor.worker.web.urls import MAX_LENGTH

SPACE = "\t\n\f\r "
"""ASCII white space of the HTML Standard."""

_CANDIDATE = re.compile(rf"[{SPACE},]*+([^{SPACE}]++)")
_DESCRIPTOR = re.compile(rf"[{SPACE}]*+((?:[^{SPACE},(]++|\([^)]*+\)?)++)?(,)?")
_WIDTH = re.compile(r"0*[1-9][0-9]*w")
_HEIGHT = re.compile(r"0*[1-9][0-9]*h")
_DENSITY = re.compile(r"(?:-0+(?:\.0+)?|[0-9]+(?:\.[0-9]+)?|-?\.0+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x")
_MOST_DESCRIPTORS = 2
"""A candidate with more is not valid, whatever they are."""
MOST_CANDIDATES: Final = 50_000
"""Of all ``srcset`` attributes of a page (some 0.2 s)."""
_REFRESH = re.compile(
    rf"[{SPACE}]*+([0-9]*+)(\.?)[0-9.]*+(?:(?=[{SPACE};,])[{SPACE}]*+[;,]?[{SPACE}]*+(.*))?\Z", re.DOTALL
)
_URL_EQUALS = re.compile(rf"[uU](?:[rR](?:[lL][{SPACE}]*+(=[{SPACE}]*+)?)?)?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class CandidateBudget:
    """How many candidates of the ``srcset`` attributes of a page are looked at yet: those that are not valid cost as
    much as links, which have a bound."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_CANDIDATES


def srcset(value: str, budget: CandidateBudget | None = None) -> Iterator[str]:
    """The references of the valid candidates of a ``srcset`` attribute (HTML Standard, "parse a srcset attribute"), as
    far as the budget of its page goes: its ``left`` is negative once there was a candidate more."""
    at, budget = 0, budget or CandidateBudget()
    while candidate := _CANDIDATE.match(value, at):
        budget.left -= 1
        if budget.left < 0:
            return
        url, at = candidate[1], candidate.end()
        descriptors: list[str] = []
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            descriptors, at = _descriptors(value, at)
        if url and _are_valid(descriptors):
            yield url


def _descriptors(value: str, at: int) -> tuple[list[str], int]:
    descriptors: list[str] = []
    while True:
        match = _DESCRIPTOR.match(value, at)
        assert match is not None
        at = match.end()
        if match[1] and len(descriptors) <= _MOST_DESCRIPTORS:
            descriptors.append(match[1])
        if match[2] or not match[1]:
            return descriptors, at


def _are_valid(descriptors: list[str]) -> bool:
    """At most a density, or a width with at most a height."""
    widths = sum(1 for descriptor in descriptors if _WIDTH.fullmatch(descriptor))
    heights = sum(1 for descriptor in descriptors if _HEIGHT.fullmatch(descriptor))
    densities = sum(1 for descriptor in descriptors if _DENSITY.fullmatch(descriptor))
    if widths + heights + densities < len(descriptors):
        return False
    return (densities <= 1 and not widths and not heights) or (not densities and widths == 1 and heights <= 1)


class Refresh(NamedTuple):
    """What a ``meta`` refresh asks for."""

    delay: int
    """Whole seconds."""
    url: str | None
    """The reference, not resolved; None for the page itself."""


def refresh(content: str) -> Refresh | None:
    """HTML Standard, "shared declarative refresh steps", over a ``content`` attribute; None when nothing refreshes."""
    match = _REFRESH.match(content)
    if match is None or not (match[1] or match[2]):
        return None
    rest = match[3] or ""
    # A delay that no crawl lives to see need not be read exactly; int() refuses more than 4,300 digits.
    return Refresh(int(match[1][:18] or 0), _refresh_url(rest).strip(SPACE) if rest else None)


def _refresh_url(rest: str) -> str:
    prefix = _URL_EQUALS.match(rest)
    if prefix is not None:
        if prefix[1] is None:
            return rest
        rest = rest[prefix.end() :]
    if rest[:1] in {"'", '"'}:
        return rest[1:].partition(rest[0])[0]
    return rest


def base_url(reference: str | None, href: str, longest: int = MAX_LENGTH) -> str:
    """What the references of a document at ``href`` are resolved against: ``reference`` is that of its first
    ``base[href]`` (HTML Standard, "frozen base URL": unusable, ``data:`` and ``javascript:`` ones do not count). Nor
    does one of more than ``longest`` characters: no URL below it is followed, and each would cost what its length is.
    """
    if reference is None:
        return href
    try:
        base = ada_url.join_url(href, reference)
    except ValueError:
        return href
    return href if len(base) > longest or base.startswith(("data:", "javascript:")) else base


def rebased(link: Reference, base: str) -> Reference:
    """A reference of an embedded document with a base of its own, as one of the page around. A base that is relative
    is so to the page's, which is not known here: the reference stays relative, with what the base adds."""
    if len(base) > MAX_LENGTH:
        return link
    try:
        url = ada_url.join_url(base, link.url)
    except ValueError:
        url = link.url if _SCHEME.match(base) or _SCHEME.match(link.url) else _below(base, link.url)
    return msgspec.structs.replace(link, url=url)


def _below(base: str, url: str) -> str:
    """Both are relative (RFC 3986 section 5.2.2, but for dot segments: whoever resolves the result removes them)."""
    base = base.partition("#")[0]
    path = base.partition("?")[0]
    if url.startswith(("//", "/")):
        authority = "/".join(path.split("/", 3)[:3]) if path.startswith("//") and not url.startswith("//") else ""
        return authority + url
    if not url or url.startswith("#"):
        return base + url
    return path + url if url.startswith("?") else path[: path.rfind("/") + 1] + url
