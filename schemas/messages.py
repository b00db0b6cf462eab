"""What travels through the frontier and what is stored, as msgspec structs.

Everything here is encoded as a msgpack array: a field is only ever added at the end, with a default, so that an older
record stays readable. Times are unix seconds (float) of the coordinator's clock; durations are seconds; sizes bytes.
"""

from typing import Final, Literal, TypeVar

import msgspec
import xxhash

TicketKind = Literal["new", "retry", "revisit", "robots", "wake", "recrawl"]
State = Literal["fetched", "duplicate", "redirected", "denied", "gone", "dead", "refused", "waiting"]
TERMINAL: Final[tuple[State, ...]] = ("fetched", "duplicate", "redirected", "denied", "gone", "dead", "refused")
PRIORITIES: Final = (1, 2, 3, 4)
LONGEST_URL: Final = 65_000
"""Characters, which are ASCII, of the longest URL that can be stored: Cassandra has 65,535 bytes for such a name."""


class Ticket(msgspec.Struct, frozen=True, array_like=True):
    """What asks for visit ``visit + 1`` of a URL.

    ``new`` tickets come from the frontier (``visit`` 0); ``retry`` and ``revisit`` only from the calendar. ``robots``
    asks the owner of ``host`` to fetch a robots.txt for another host's ``origin``. ``wake`` is a calendar entry that
    names a ``host`` which has a backlog. ``recrawl`` comes from the frontier and asks the owner for a revisit that is
    due now, of a URL that has a row. ``attempts`` counts failed attempts in a row. ``hops`` counts the redirects
    that led here. ``lastmod`` and ``changefreq`` are what a sitemap says of the URL. ``at``: when it was made, 0 when
    that is not known. ``ordered``: when a person asked for this visit; nothing that was known before refuses it.
    ``not_before``: a redirect that was to be followed no sooner (its Retry-After); like ``at`` in unix seconds of the
    coordinator's.
    """

    href: str
    key: str
    host: str
    visit: int = 0
    kind: TicketKind = "new"
    priority: int = 2
    depth: int = 0
    hops: int = 0
    via: str = ""
    link: str = "seed"
    label: str = ""
    origin: str = ""
    attempts: int = 0
    lastmod: float = 0.0
    changefreq: str = ""
    at: float = 0.0
    ordered: float = 0.0
    not_before: float = 0.0

    @property
    def identity(self) -> tuple[str, int, str]:
        """What makes two tickets the same ask."""
        return (self.origin or self.key, self.visit, self.kind)

    @property
    def news(self) -> str:
        """What its publication tells: the URL, and what a sitemap says of it."""
        return f"{self.key} {self.lastmod:.0f} {self.changefreq}" if self.lastmod or self.changefreq else self.key

    @property
    def id(self) -> int:
        """Identity and depth as 63 bits, the name of its calendar or backlog entry: a repeated write adds nothing, and
        what was found on a longer way does not take the place of what was found on a shorter one."""
        name = f"{self.kind} {self.visit} {self.depth} {self.origin} {self.key or self.host}"
        return xxhash.xxh3_64_intdigest(name.encode()) >> 1


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """The start of one request to a host, and what was in force then.

    ``delay``: the least time since the start of any request before it; ``page_delay``: since that of a page; 0 for a
    robots.txt. ``rules``: the ``fetched_at`` of the robots.txt that allowed it; 0: none was read. ``href``: what was
    asked for, if that is not the key of the URL it stands with.
    """

    at: float
    delay: float
    page_delay: float = 0.0
    rules: float = 0.0
    href: str = ""
    robots: bool = False


class Attempt(msgspec.Struct, frozen=True, array_like=True):
    """One visit as `gregor explain` tells it. ``asked``: the host's requests that no visit before it has told."""

    at: float
    outcome: str
    status: int = 0
    elapsed: float = 0.0
    owner: str = ""
    asked: tuple[Asked, ...] = ()


class Row(msgspec.Struct, frozen=True, array_like=True):
    """What the store says of a URL: visits settled so far, state, outcome.

    ``page``: the visit of its newest stored version, 0 without one; ``kept_status`` and ``kept_size`` are that one's.
    """

    key: str
    href: str
    host: str
    visits: int
    state: State
    outcome: str
    status: int = 0
    depth: int = 0
    hops: int = 0
    via: str = ""
    link: str = "seed"
    label: str = ""
    priority: int = 2
    rule: str = ""
    target: str = ""
    due: float = 0.0
    page: int = 0
    attempts: tuple[Attempt, ...] = ()
    first_seen: float = 0.0
    changed: int = 0
    unchanged: int = 0
    lastmod: float = 0.0
    changefreq: str = ""
    kept_status: int = 0
    kept_size: int = 0


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link of a stored page. ``fate``: "sent", or why it was not ("nofollow", "scope …", "depth", "kind", …)."""

    url: str
    kind: str
    nofollow: bool = False
    fate: str = "sent"
    text: str = ""
    key: str = ""


class Page(msgspec.Struct, array_like=True):
    """One stored document version: visit number ``visit`` of ``key``. ``kind`` is the ticket's.

    ``body`` is the sha256 (hex) under which the decoded body is stored, once. ``wire`` is the sha256 of the bytes as
    they were transferred when they differ from the body. ``links`` keeps every link with its fate.
    ``unread`` says of what there was so much that the document was not read to its end, words joined by ", ": ``size``,
    ``tags``, ``entries``, ``links``.
    """

    key: str
    href: str
    host: str
    visit: int
    kind: str
    status: int
    fetched_at: float
    state: State = "fetched"
    content_type: str = ""
    encoding: str = ""
    title: str | None = None
    text: str = ""
    body: str = ""
    wire: str = ""
    size: int = 0
    fingerprint: bytes = b""
    simhash: int = 0
    duplicate_of: str = ""
    near_duplicate_of: str = ""
    canonical: str = ""
    directives: tuple[str, ...] = ()
    truncated: str = ""
    label: str = ""
    depth: int = 0
    via: str = ""
    links: list[Link] = []
    response_head: bytes = b""
    request_head: bytes = b""
    address: str = ""
    elapsed: float = 0.0
    tls_fault: str = ""
    etag: str = ""
    last_modified: str = ""
    hops: int = 0
    language: str = ""
    unread: str = ""


class Failing(msgspec.Struct, frozen=True, array_like=True):
    """An origin that cannot be reached: failed connections in a row, the next try not before ``until``, the cause.

    ``at``: the last try.
    """

    origin: str
    failures: int
    until: float
    cause: str
    at: float = 0.0


class HostRecord(msgspec.Struct, frozen=True, array_like=True):
    """What a new owner must know of a host before its first turn.

    ``ceiling``: the longest delay in force since it was written, rounded up to a power of two. ``not_before``: no
    request earlier (Retry-After, back-off). ``failures``: failed connections in a row, of the worst of ``failing``.
    ``pages`` and ``bytes`` count against the host's budget.
    """

    host: str
    ceiling: float = 0.0
    not_before: float = 0.0
    failures: int = 0
    pages: int = 0
    bytes: int = 0
    failing: tuple[Failing, ...] = ()


class RobotsCopy(msgspec.Struct, frozen=True, array_like=True):
    """What held by the answers from ``since`` to ``until``: a text, for an agent; None: nothing was allowed."""

    since: float
    until: float
    text: bytes | None
    agent: str = ""


class RobotsRecord(msgspec.Struct, frozen=True, array_like=True):
    """A robots.txt by asking origin. ``verdict``: "parsed", "allow" (4xx) or "unreachable".

    ``good_body`` and ``good_at`` are the last copy that could be read. ``agent``: the User-Agent that asked. ``since``:
    the first of the answers in a row that meant the same; ``earlier``: what held before, oldest first.
    """

    origin: str
    verdict: str
    fetched_at: float
    expires: float
    body: bytes = b""
    status: int = 0
    good_body: bytes | None = None
    good_at: float = 0.0
    agent: str = ""
    since: float = 0.0
    earlier: tuple[RobotsCopy, ...] = ()


class DeadLetter(msgspec.Struct, frozen=True, array_like=True):
    """A URL that was given up, or a message that could not be read. ``cause`` groups them."""

    key: str
    href: str
    host: str
    cause: str
    detail: str
    at: float
    attempts: int = 0
    source: str = ""


class Takeover(msgspec.Struct, frozen=True, array_like=True):
    """A worker took a partition. ``at``: the coordinator's time, unix seconds."""

    worker: str
    epoch: int
    at: float


class PartitionRecord(msgspec.Struct, frozen=True, array_like=True):
    """What survives of a partition: its highest epoch, the calendar's cursor (a bucket number), who took it last, the
    newest at the end, and counts of its pages: of all, and by the ``domains`` that have a budget ("*.example.org")."""

    partition: int
    epoch: int = 0
    cursor: int = 0
    counts: dict[str, int] = {}
    takeovers: tuple[Takeover, ...] = ()
    domains: dict[str, int] = {}


T = TypeVar("T")
_ENCODER = msgspec.msgpack.Encoder()


def encode(value: msgspec.Struct) -> bytes:
    """A message or record as msgpack."""
    return _ENCODER.encode(value)


_TICKET = msgspec.msgpack.Decoder(Ticket)


def decode_ticket(data: bytes) -> Ticket:
    """Read a ticket; raises `msgspec.MsgspecError` for anything else."""
    return _TICKET.decode(data)


def decode(data: bytes, kind: type[T]) -> T:
    """Read a record of a kind; raises `msgspec.MsgspecError` for anything else."""
    return msgspec.msgpack.decode(data, type=kind)


def url_fingerprint(key: str) -> int:
    """The 64-bit fingerprint of a URL's key in the seen set (XXH3)."""
    return xxhash.xxh3_64_intdigest(key.encode())


def stamp(epoch: int, counter: int) -> int:
    """The write timestamp of an effect: the owner's epoch in the high 31 bits, its own counter in the low 32."""
    return (epoch << 32) | counter
