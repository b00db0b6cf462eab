"""What is kept of a robots.txt: the record of an answer, what it means for us, and what held before. Pure.

Times are unix seconds of the coordinator's clock.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from gregor.schemas.messages import RobotsCopy, RobotsRecord
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.robots import file as robots_file
from gregor.worker.web import http_headers

KEPT: Final = 16
"""Earlier copies of one file."""
KEPT_BYTES: Final = 256 * 1024
"""Their texts in all: the record is read whenever the file is needed and not in memory."""


def status_of(response: Response, verdict: robots_file.Verdict) -> int:
    """The status that an answer counts with: 404 when its redirects lead nowhere (RFC 9309 section 2.3.1.2), and 0, no
    answer, when the file is not whole, or nobody can say that it is: what is missing may be the very line that forbids.
    One that is too long is cut by us, where the RFC allows it (section 2.5)."""
    if isinstance(verdict, robots_file.AllowAll):
        return 404
    return response.status if response.truncated in (None, "size") else 0


def recorded(
    origin: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    before: RobotsRecord | None,
    now: float,
    config: Config,
) -> RobotsRecord:
    """The record of an answer (``status`` 0: there was none), with what held ``before`` it."""
    agent = config.user_agent
    life = min(config.robots_ttl, robots_file.time_to_live(headers, now, minimum=60.0))
    if 200 <= status < 300:
        record = RobotsRecord(origin, "parsed", now, now + life, body, status, body, now, agent, now)
    elif 400 <= status < 500 and status != 429:
        record = RobotsRecord(origin, "allow", now, now + life, b"", status, None, 0.0, agent, now)
    else:
        asked = http_headers.retry_after(headers.get("retry-after"), now) or 0.0
        soon = now + max(config.failure_ttl or config.retry_pause, min(asked, config.retry_after_max))
        good = (before.good_body, before.good_at) if before is not None else (None, 0.0)
        record = RobotsRecord(origin, "unreachable", now, soon, b"", status, *good, agent, now)
    return record if before is None else _after(before, record)


def holds(record: RobotsRecord, agent: str, now: float) -> bool:
    """Whether a file need not be asked for again. What a site says to another agent may be something else."""
    return record.expires > now and record.agent in (agent, "")


def in_force(record: RobotsRecord, now: float) -> bytes | None:
    """The text that holds by a record, empty when there is no file; None: nothing is allowed (RFC 9309, 2.3.1)."""
    if record.verdict == "parsed":
        return record.body
    if record.verdict == "allow":
        return b""
    good = record.good_body
    return good if good is not None and robots_file.usable_last_good(record.good_at, now) else None


def copies(record: RobotsRecord) -> tuple[RobotsCopy, ...]:
    """All that is kept of a file, oldest first, the record's own last."""
    text = in_force(record, record.fetched_at)
    return (*record.earlier, RobotsCopy(record.since or record.fetched_at, record.fetched_at, text, record.agent))


def _after(before: RobotsRecord, record: RobotsRecord) -> RobotsRecord:
    """The record with what held before it; answers in a row that mean the same are one copy."""
    *earlier, last = copies(before)
    if last.agent == record.agent and last.text == in_force(record, record.fetched_at):
        return msgspec.structs.replace(record, since=last.since, earlier=tuple(earlier))
    return msgspec.structs.replace(record, earlier=_bounded([*earlier, last]))


def _bounded(kept: list[RobotsCopy]) -> tuple[RobotsCopy, ...]:
    """The newest ones within the bounds."""
    kept, size = kept[-KEPT:], 0
    for number, copy in enumerate(reversed(kept)):
        size += len(copy.text or b"")
        if size > KEPT_BYTES:
            return tuple(kept[len(kept) - number :])
    return tuple(kept)
