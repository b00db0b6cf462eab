"""What there is on a simulated web."""

import html
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class Link:
    """A link in a page, as it stands there."""

    url: str
    nofollow: bool = False


@dataclass(frozen=True)
class Html:
    """A page. ``nofollow`` is its meta robots; ``canonical`` its rel=canonical."""

    words: str
    links: tuple[Link, ...] = ()
    nofollow: bool = False
    noindex: bool = False
    canonical: str = ""


@dataclass(frozen=True)
class File:
    """A document without links."""

    body: bytes
    content_type: str
    etag: str = ""


@dataclass(frozen=True)
class Redirect:
    """A redirect; ``target`` is the Location as sent."""

    status: int
    target: str


@dataclass(frozen=True)
class Status:
    """An answer that is only its status."""

    status: int


Fault: TypeAlias = tuple[int | Literal["timeout", "cut"], float | None]
"""A status with its Retry-After in seconds, or a connection that ends without an answer."""


@dataclass(frozen=True)
class Flaky:
    """The first requests fail, one fault each; then it is what it is."""

    faults: tuple[Fault, ...]
    then: "Resource"


@dataclass(frozen=True)
class Vanishing:
    """It is there for the first request only; then 404."""

    first: "Resource"


@dataclass(frozen=True)
class Unusable:
    """An answer that comes and is none."""

    failure: Literal["too_large_headers", "decode"]


@dataclass(frozen=True)
class Changing:
    """It is one thing for the first request, and another one from then on."""

    first: File | Redirect
    then: File | Html | Status


Resource: TypeAlias = Html | File | Redirect | Status | Flaky | Vanishing | Changing | Unusable


def lasting(resource: Resource) -> Resource:
    """What a resource is apart from its whims."""
    match resource:
        case Flaky(_, then):
            return lasting(then)
        case Vanishing(first):
            return lasting(first)
        case Changing(_, then):
            return then
        case _:
            return resource


def body_of(resource: Resource) -> bytes:
    """The body that a server sends with 200; empty for everything else."""
    match resource:
        case Html():
            robots = [name for name in ("nofollow", "noindex") if getattr(resource, name)]
            head = f'<meta name="robots" content="{", ".join(robots)}">' if robots else ""
            if resource.canonical:
                head += f'<link rel="canonical" href="{html.escape(resource.canonical)}">'
            anchors = "".join(
                f'<a href="{html.escape(link.url)}"{" rel=nofollow" if link.nofollow else ""}>more</a>\n'
                for link in resource.links
            )
            title = resource.words.split(" ", 1)[0]
            return f"<html><head><title>{title}</title>{head}</head><body><p>{resource.words}</p>{anchors}".encode()
        case File(body):
            return body
        case Flaky() | Vanishing() | Changing():
            return body_of(lasting(resource))
        case _:
            return b""
