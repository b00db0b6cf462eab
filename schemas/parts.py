"""What stands within stored records, as msgspec structs; see `messages` for how they are encoded."""

import msgspec


class LearntShape(msgspec.Struct, frozen=True, array_like=True):
    """What the pages of one shape of a host's URLs brought lately."""

    name: str  # the shape
    score: int  # between 0 and 240: how little its pages brought lately
    line: int  # pages in vain in a row, each found on the one before
    trials: int  # pages in vain since it was spent
    pages: int  # all that were stored
    fresh: int  # pages with something new
    walks: bool  # its last page in vain had another number, and else the same words
    low: tuple[int, ...] = ()  # the least of the numbers of its URLs
    high: tuple[int, ...] = ()  # the greatest of them
    full: tuple[int, ...] = ()  # the words of some pages, as hashes
    bare: tuple[int, ...] = ()  # the same without numbers


class LearntShapes(msgspec.Struct, frozen=True, array_like=True):
    """What was learnt of a host's URL space."""

    fresh: int  # pages of the host that brought something new
    trials: int  # pages in vain of shapes that were spent
    shapes: tuple[LearntShape, ...]  # those that sank, the worst first
    refused: tuple[tuple[str, str], ...] = ()  # what a trap rule refused last: shape, canonical form


class RobotsCopy(msgspec.Struct, frozen=True, array_like=True):
    """What held by the answers of a while."""

    since: float  # the first of them, unix seconds
    until: float  # the last of them, unix seconds
    text: bytes | None  # b"": all was allowed; None: nothing was
    agent: str = ""  # the User-Agent that asked; "": not known


class Takeover(msgspec.Struct, frozen=True, array_like=True):
    """A worker took a partition."""

    worker: str  # its name
    epoch: int  # the one that it owns it under
    at: float  # the coordinator's time, unix seconds


class AnswerHead(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of an answer beside a page, for archives."""

    href: str  # what was asked for
    head: bytes  # as received
    address: str = ""  # which answered; "": not known
    size: int = 0  # octets of its body as received
    truncated: str = ""  # why that was not whole; "": it was


class Failing(msgspec.Struct, frozen=True, array_like=True):
    """An origin that cannot be reached."""

    origin: str  # scheme, host and port
    failures: int  # in a row: failed connections, and URLs whose request was not answered
    until: float  # the next try is not before, unix seconds
    cause: str  # for people
    at: float = 0.0  # the last try, unix seconds; 0: not known
    silent: tuple[int, ...] = ()  # fingerprints of those URLs
    given_up: bool = False  # it failed too often: no request until then


class RequestStart(msgspec.Struct, frozen=True, array_like=True):
    """The start of one request to a host, and what was in force then."""

    at: float  # unix seconds
    delay: float  # the least seconds since the start of any request before it
    page_delay: float = 0.0  # the least seconds since that of a page; 0 for a robots.txt
    rules: float = 0.0  # the ``fetched_at`` of the robots.txt that allowed it; 0: none was read
    href: str = ""  # what was asked for; "": the key of the URL that it stands with
    robots: bool = False  # whether it was for a robots.txt
    addresses: tuple[str, ...] = ()  # it went to one of these; (): nothing holds for them
    address_delay: float = 0.0  # the least seconds since the start of any request to one of them
