"""What the process that begins a crawl's workers and they themselves say to each other, by pipes.

Each word is a length of four bytes and its code in msgpack. That a pipe ends means that the other one has ended.
"""

import asyncio
import struct
from typing import Final, TypeAlias

import msgspec

from gregor.worker.adapters.embedded.crew import ProcessPlace
from gregor.worker.borders.addresses import AddressGrant, AddressUse, HoldTerms
from gregor.worker.config.settings import Config
from gregor.worker.observe.sums import SumsOfRun, WorkerSums
from gregor.worker.run.ending import Ending

_LENGTH: Final = struct.Struct(">I")


class Begin(msgspec.Struct, tag=True):
    """The first word to a worker: as what it crawls. ``authorized``: Authorization headers by origin."""

    config: Config
    place: ProcessPlace
    authorized: dict[str, str]


class Stop(msgspec.Struct, tag=True):
    """It is to end cleanly."""

    detail: str


class Granted(msgspec.Struct, tag=True):
    """The answer to `Asked` of that number; None: an address was let go."""

    number: int
    grant: AddressGrant | None


class Asked(msgspec.Struct, tag=True):
    """A call of `AddressTurns`."""

    number: int
    release: bool
    worker: str
    uses: list[AddressUse]
    terms: HoldTerms


class Began(msgspec.Struct, tag=True):
    """The worker crawls from now on. ``api``: the URL of its API, empty if it has none."""

    name: str
    api: str


class Tells(msgspec.Struct, tag=True):
    """What it has done and how it is; ``queued`` in its partitions, by number."""

    sums: WorkerSums
    of_run: SumsOfRun | None = None
    queued: dict[int, int] = {}


class Ended(msgspec.Struct, tag=True):
    """How it has ended."""

    ending: Ending


class Broke(msgspec.Struct, tag=True):
    """What ended it. ``bad_input``: it would be so again."""

    text: str
    bad_input: bool


ToWorker: TypeAlias = Begin | Stop | Granted
FromWorker: TypeAlias = Asked | Began | Tells | Ended | Broke
_to_worker: Final = msgspec.msgpack.Decoder(ToWorker)
_from_worker: Final = msgspec.msgpack.Decoder(FromWorker)


def encoded(word: ToWorker | FromWorker) -> bytes:
    """A word as it goes through a pipe."""
    code = msgspec.msgpack.encode(word)
    return _LENGTH.pack(len(code)) + code


async def hear_worker(pipe: asyncio.StreamReader) -> FromWorker | None:
    """The next word of a worker; None when it has ended."""
    code = await _hear(pipe)
    return None if code is None else _from_worker.decode(code)


async def hear_parent(pipe: asyncio.StreamReader) -> ToWorker | None:
    """The next word to a worker; None when who began it has ended."""
    code = await _hear(pipe)
    return None if code is None else _to_worker.decode(code)


async def _hear(pipe: asyncio.StreamReader) -> bytes | None:
    try:
        (length,) = _LENGTH.unpack(await pipe.readexactly(_LENGTH.size))
        return await pipe.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
