"""What travels through the frontier and what is stored, as msgspec structs.

Everything here is encoded as a msgpack array: a field is only ever added at the end, with a default, so that an older
record stays readable. Times are unix seconds (float) of the coordinator's clock; durations are seconds; sizes bytes.
"""

from typing import Final, Literal, TypeAlias, TypeVar

import msgspec
import xxhash

from gregor.schemas.items import FieldShare, StoredItem
from gregor.schemas.parts import AnswerHead, Failing, RequestStart, RobotsCopy, Takeover

TicketKind = Literal["new", "retry", "revisit", "robots", "wake", "recrawl", "drop"]
State = Literal["fetched", "duplicate", "redirected", "denied", "gone", "dead", "refused", "waiting"]
TERMINAL: Final[tuple[State, ...]] = ("fetched", "duplicate", "redirected", "denied", "gone", "dead", "refused")
KEPT: Final[tuple[State, ...]] = ("fetched", "duplicate")
"""States of URLs of which a document is kept."""
STILL_THERE: Final[tuple[State, ...]] = (*KEPT, "waiting")
"""Those of which a document that was kept is not known to be gone: what waits will be asked again."""
PRIORITIES: Final = (1, 2, 3, 4)
LONGEST_URL: Final = 65_000
"""Characters, which are ASCII, of the longest URL that can be stored: Cassandra has 65,535 bytes for such a name."""


class Ticket(msgspec.Struct, frozen=True, array_like=True):
    """What asks for visit ``visit + 1`` of a URL.

    ``new`` tickets come from the frontier (``visit`` 0); ``retry`` and ``revisit`` only from the calendar. ``robots``
    asks the owner of ``host`` to fetch a robots.txt for another host's ``origin``. ``wake`` is a calendar entry that
    names a ``host`` which has a backlog. ``recrawl`` comes from the frontier and asks the owner for a revisit that is
    due now, of a URL that has a row; ``drop`` that it deletes what is kept of the URL, if it was not visited since.
    """

    href: str  # what is requested: the URL as it was first found, by the WHATWG standard; "" for a wake
    key: str  # the canonical form, which names the URL everywhere; "" for a wake
    host: str  # the politeness key: by it the partition is chosen
    visit: int = 0  # visits of the URL that were settled before
    kind: TicketKind = "new"  # as above
    priority: int = 2  # the front queue, 1 (the highest) to 4
    depth: int = 0  # links from a seed; 0: a seed
    hops: int = 0  # redirects that led here, one after another
    via: str = ""  # the page, sitemap or robots.txt that named the URL; "": nobody, it is a seed
    link: str = "seed"  # the kind of what named it: "a", "redirect", "sitemap" and so on
    label: str = ""  # that of its seed, which goes with all that is found from there; "": none
    origin: str = ""  # of kind robots: the origin that asks; "" for all others
    attempts: int = 0  # failed visits in a row before this one
    lastmod: float = 0.0  # when a sitemap says that the page changed, unix seconds; 0: it does not
    changefreq: str = ""  # how often a sitemap says that it changes; "": it does not
    at: float = 0.0  # when the ticket was made, unix seconds; 0: not known
    ordered: float = 0.0  # when a person asked for this visit, which nothing known before refuses; 0: nobody did
    not_before: float = 0.0  # a redirect that is followed no sooner (its Retry-After), unix seconds; 0: at once
    due: float = 0.0  # of kind recrawl: not before then, unix seconds; 0: now
    requisite: bool = False  # only what a page shows needs it: its own links are not followed
    worth: float | None = None  # what links to it brought so far, where a policy scores; None: it has no score
    astray: int = 0  # pages in a row, the last ones, that led here and are not relevant for the topic
    brings: float | None = None  # what the link on the page `via` brings of the worth; None: nothing is known of that

    @property
    def identity(self) -> tuple[str, int, str]:
        """What makes two tickets the same ask. Each redirect of a robots.txt is one: the last may still be live."""
        return (
            (f"{self.origin} {self.href}", self.hops, self.kind) if self.origin else (self.key, self.visit, self.kind)
        )

    @property
    def news(self) -> str:
        """What its publication tells: the URL, and what a sitemap says of it."""
        return f"{self.key} {self.lastmod:.0f} {self.changefreq}" if self.lastmod or self.changefreq else self.key

    @property
    def id(self) -> int:
        """Identity and depth as 63 bits, the name of its calendar or backlog entry: a repeated write adds nothing, and
        no longer way takes the place of a shorter one, nor a requisite that of a page."""
        name = f"{self.kind} {self.visit} {self.depth} {self.origin} {self.key or self.host}"
        name = f"{name} {self.hops} {self.href}" if self.origin else name
        name = f"{name} requisite" if self.requisite else name
        return xxhash.xxh3_64_intdigest(name.encode()) >> 1


class Attempt(msgspec.Struct, frozen=True, array_like=True):
    """One visit as `gregor explain` tells it."""

    at: float  # when it was settled, unix seconds
    outcome: str  # for people
    status: int = 0  # of HTTP; 0: no answer
    elapsed: float = 0.0  # seconds that the request took; 0: none was made
    owner: str = ""  # the worker; "": not known
    asked: tuple[RequestStart, ...] = ()  # the host's requests that no visit before it has told, in their order
    answer: AnswerHead | None = None  # what came, where no page was made of it


class Row(msgspec.Struct, frozen=True, array_like=True):
    """What the store says of a URL: visits settled so far, state, outcome.

    ``page``: the visit of its newest stored version, 0 without one; what is ``kept_…`` is that one's.
    """

    key: str  # the canonical form
    href: str  # what was requested
    host: str  # the politeness key
    visits: int  # how many were settled
    state: State  # of the last visit
    outcome: str  # of the last visit, for people
    status: int = 0  # of HTTP, of the last visit; 0: no answer
    depth: int = 0  # links from a seed; 0: a seed
    hops: int = 0  # redirects that led to the last visit
    via: str = ""  # where the URL was found first; "": it is a seed
    link: str = "seed"  # the kind of what named it there
    label: str = ""  # that of its seed; "": none
    priority: int = 2  # the front queue of the last visit, 1 to 4
    rule: str = ""  # what decided: a line of robots.txt, a setting, an order; "": the answer itself
    target: str = ""  # where a redirect leads; "": it is none
    due: float = 0.0  # when the next visit is planned, unix seconds; 0: none is
    page: int = 0  # the visit that stored the newest version; 0: none is stored
    attempts: tuple[Attempt, ...] = ()  # the last visits, the newest at the end
    first_seen: float = 0.0  # when the first visit was settled, unix seconds; 0: not known
    changed: int = 0  # revisits that found another version
    unchanged: int = 0  # revisits that found the same one
    lastmod: float = 0.0  # see `Ticket`
    changefreq: str = ""  # see `Ticket`
    kept_status: int = 0  # of HTTP, of the newest stored version; 0: none is stored
    kept_size: int = 0  # bytes of it
    requisite: bool = False  # it was only visited as what a page needs; a link to it makes a page of it
    worth: float | None = None  # what links to it had brought when its turn came, where a policy scores
    rate: bytes = b""  # what is known of how often it changes, see `settle.change_rate`; b"": nothing is
    gone_since: float = 0.0  # the first of the visits in a row that found it gone, unix seconds; 0: it is not
    kept_language: str = ""  # of the newest stored version, see `Page`; "": it is not known, or none is stored
    brings: float | None = None  # what of the worth the link on the page `via` brought; None: nothing is known of that


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link of a stored page."""

    url: str  # absolute, as it would be requested
    kind: str  # what refers: "a", "img", "redirect" and so on
    nofollow: bool = False  # whether the link itself says so
    fate: str = "sent"  # or why it was not sent: "nofollow", "scope …", "depth", "kind" and so on
    text: str = ""  # of the anchor, capped; "": it has none
    key: str = ""  # the canonical form of a redirect's target; "" for all other kinds
    priority: int = 0  # the front queue that a rule of links, or scorers, give it, 1 to 4; 0: nobody does
    by: str = ""  # who gave the priority; "": nobody did


class Page(msgspec.Struct, array_like=True):
    """One stored document version: that of visit number ``visit`` of ``key``."""

    key: str  # the canonical form
    href: str  # what was requested
    host: str  # the politeness key
    visit: int  # from 1 on
    kind: str  # the ticket's
    status: int  # of HTTP
    fetched_at: float  # unix seconds
    state: State = "fetched"  # or "duplicate"
    content_type: str = ""  # the media type, lower case, without parameters; sniffed without one; "": not known
    encoding: str = ""  # that the text was read in, by its standard name; "": it is no text
    title: str | None = None  # None: it has none
    text: str = ""  # what is visible, white space collapsed; "": nothing is
    body: str = ""  # the sha256 (hex) under which the decoded body is stored, once; "": it is not stored
    wire: str = ""  # that of the bytes as they were transferred; "": they are the body's
    size: int = 0  # bytes of the decoded body
    fingerprint: bytes = b""  # of the text, or of the body where that says too little; b"": not made
    simhash: int = 0  # of the text, unsigned 64 bits; 0: there is too little of it
    duplicate_of: str = ""  # the key of the page with the same content; "": none
    near_duplicate_of: str = ""  # the key of a page with nearly the same text; "": none
    canonical: str = ""  # what the page says of itself, absolute; "": nothing
    directives: tuple[str, ...] = ()  # of meta robots and X-Robots-Tag, as they hold for us
    truncated: str = ""  # why the body is not whole, see `Response`; "": it is
    label: str = ""  # of the seed; "": none
    depth: int = 0  # links from a seed; 0: a seed
    via: str = ""  # where the URL was found; "": it is a seed
    links: list[Link] = []  # all, followed or not, in the order of the document
    response_head: bytes = b""  # status line and headers, as received
    request_head: bytes = b""  # request line and headers, as sent, without secrets
    address: str = ""  # the IP address that answered; "": a proxy hides it
    elapsed: float = 0.0  # seconds from the request to the end of the answer
    tls_fault: str = ""  # what is wrong with the certificate; "": nothing
    etag: str = ""  # for the next conditional request; "": none was sent
    last_modified: str = ""  # the header as received, for the next conditional request; "": none was sent
    hops: int = 0  # redirects that led here
    language: str = ""  # the page's lang, or Content-Language, or that of its text; "": it is not known
    unread: str = ""  # of what there was too much to read all, joined by ", ": size, tags, links …; "": nothing
    requisite: bool = False  # it was visited as what a page needs; links with the fate "requisite" wait for a page
    items: list[StoredItem] = []  # what the rules of the crawl found, with what became of those of the version before
    headings: tuple[str, ...] = ()  # its first headings, of the first three ranks, white space collapsed, capped
    sketch: bytes = b""  # of the text, to tell near-duplicates by; b"": there is too little of it, or it was not made
    page_class: str = ""  # that a model has put it into; "": none was asked
    class_probability: float = 0.0  # how likely that is by the model; 0: none was asked
    relevance: float | None = None  # for the topic of the crawl, 0 to 1; None: it has none


Octets: TypeAlias = bytes
"""For a class that has a field of the name of that type."""


class HostRecord(msgspec.Struct, frozen=True, array_like=True):
    """What a new owner must know of a host before its first turn."""

    host: str  # the politeness key
    ceiling: float = 0.0  # the longest delay in force since it was written, in seconds, rounded up to a power of two
    not_before: float = 0.0  # no request earlier (Retry-After, back-off), unix seconds; 0: at once
    failures: int = 0  # failed connections in a row, of the worst of ``failing``
    pages: int = 0  # stored, which count against the host's budget
    bytes: int = 0  # stored, which count against the host's budget
    failing: tuple[Failing, ...] = ()  # the origins that cannot be reached now
    shapes: Octets = b""  # what was learnt of its URL space, LearntShapes; b"": nothing
    relevant: bool = False  # one of its pages was relevant for the topic, or it is that of a seed


class RobotsRecord(msgspec.Struct, frozen=True, array_like=True):
    """A robots.txt by asking origin."""

    origin: str  # that which asked: scheme, host and port
    verdict: str  # "parsed", "allow" (4xx) or "unreachable"
    fetched_at: float  # unix seconds
    expires: float  # it is asked for again from then on, unix seconds
    body: bytes = b""  # of a parsed one, as far as it is read
    status: int = 0  # of HTTP; 0: no answer
    good_body: bytes | None = None  # the last copy that could be read; None: there was none
    good_at: float = 0.0  # when that was fetched, unix seconds
    agent: str = ""  # the User-Agent that asked; "": not known
    since: float = 0.0  # the first of the answers in a row that meant the same, unix seconds; 0: not known
    earlier: tuple[RobotsCopy, ...] = ()  # what held before, the oldest first
    answer: AnswerHead | None = None  # what came last; None: nothing, or its head is not kept


class Changed(msgspec.Struct, frozen=True, array_like=True):
    """A URL of which a page is stored stands otherwise now; see `gregor.schemas.events.StateEvent`."""

    key: str  # the canonical form
    href: str  # what is requested
    host: str  # the politeness key
    visit: int  # the one that found it, or the last
    change: str  # its state now; "erased": nothing of it is kept
    at: float  # unix seconds
    requisite: bool = False  # whether only what a page shows needs it, still


class DeadLetter(msgspec.Struct, frozen=True, array_like=True):
    """A URL that was given up, or a message that could not be read."""

    key: str  # "": what could not be read names none
    href: str  # "": likewise
    host: str  # "": likewise
    cause: str  # groups them: "connect", "status" and so on
    detail: str  # for people
    at: float  # unix seconds
    attempts: int = 0  # failed visits in a row
    source: str = ""  # where a message that could not be read was: topic, partition, offset; "": it is a URL's

    @property
    def id(self) -> int:
        """By its content, so that a letter that is written again is one."""
        return xxhash.xxh3_64_intdigest(encode(self)) >> 1


class PartitionRecord(msgspec.Struct, frozen=True, array_like=True):
    """What survives of a partition."""

    partition: int  # from 0 on
    epoch: int = 0  # the highest; 0: it was never owned
    cursor: int = 0  # the calendar's: the number of the bucket that is read next
    counts: dict[str, int] = {}  # by name, see `frontier.counts`
    takeovers: tuple[Takeover, ...] = ()  # the last ones, the newest at the end
    domains: dict[str, int] = {}  # pages of those that have a budget, by target ("*.example.org")
    fields: dict[str, FieldShare] = {}  # how often the fields of rules have values, by "rule", a tab, "field"
    refused: tuple[Ticket, ...] = ()  # links of its pages to names that look endless, the latest last
    topic: Octets = b""  # what its owner learnt of links that lead to relevant pages; b"": nothing, or another has it


T = TypeVar("T")
_ENCODER = msgspec.msgpack.Encoder()
_TICKET = msgspec.msgpack.Decoder(Ticket)


def encode(value: msgspec.Struct) -> bytes:
    """A message or record as msgpack."""
    return _ENCODER.encode(value)


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
