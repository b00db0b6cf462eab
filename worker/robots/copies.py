"""What is kept of a robots.txt: the record of an answer, what it means for us, and what held before. Pure.

Times are unix seconds of the coordinator's clock.
"""

from collections.abc import Mapping
from typing import Final, assert_never

import msgspec

from gregor.schemas.messages import RobotsRecord
from gregor.schemas.parts import RobotsCopy
from gregor.worker.config.settings import Config
from gregor.worker.robots import file as robots_file
from gregor.worker.robots.answers import Came, NoFile, Unreachable
from gregor.worker.web import http_headers

KEPT: Final = 16
"""Earlier copies of one file."""
KEPT_BYTES: Final = 256 * 1024
"""Their texts in all: the record is read whenever the file is needed and not in memory."""


def recorded(
    origin: str,
    answer: Came | NoFile | Unreachable,
    headers: Mapping[str, str],
    before: RobotsRecord | None,
    now: float,
    config: Config,
) -> RobotsRecord:
    """The record of an answer, whose ``headers`` have lower-case names, with what held ``before`` it."""
    agent = config.user_agent
    life = min(config.robots_ttl, robots_file.time_to_live(headers, now, minimum=60.0))
    match answer:
        case Came(status, body):
            record = RobotsRecord(origin, "parsed", now, now + life, body, status, body, now, agent, now)
        case NoFile(status):
            record = RobotsRecord(origin, "allow", now, now + life, b"", status, None, 0.0, agent, now)
        case Unreachable(_, status):
            retry_after = http_headers.retry_after(headers.get("retry-after"), now) or 0.0
            soon = now + max(config.failure_ttl or config.retry_pause, min(retry_after, config.retry_after_max))
            good = (before.good_body, before.good_at) if before is not None else (None, 0.0)
            record = RobotsRecord(origin, "unreachable", now, soon, b"", status or 0, *good, agent, now)
        case _:
            assert_never(answer)
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


def _bounded(newest: list[RobotsCopy]) -> tuple[RobotsCopy, ...]:
    """The newest ones within the bounds."""
    newest, size = newest[-KEPT:], 0
    for number, copy in enumerate(reversed(newest)):
        size += len(copy.text or b"")
        if size > KEPT_BYTES:
            return tuple(newest[len(newest) - number :])
    return tuple(newest)
