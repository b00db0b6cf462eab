"""When a crawl that runs again and again is due: an interval, or a cron expression. Pure."""

from datetime import datetime
from typing import Final

import msgspec
from cronsim import CronSim, CronSimError

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.base.spans import seconds as in_seconds

LEAST: Final = 1.0
"""Seconds between the beginnings of two runs, at least."""


class Timetable(msgspec.Struct, frozen=True):
    """Either ``seconds`` from the beginning of a run to that of the next, or a ``cron`` expression, as Debian's cron
    reads it, in the time zone of the machine."""

    seconds: float = 0.0
    cron: str = ""

    @classmethod
    def parse(cls, text: str) -> "Timetable":
        """What a person wrote: ``6h``, ``1d``, ``0 3 * * mon``. Raises `BadInput`."""
        if (seconds := in_seconds(text)) is not None:
            if seconds < LEAST:
                raise BadInput("--every wants a second at least, such as 1d")
            return cls(seconds)
        timetable = cls(cron=text.strip())
        try:
            timetable.after(0.0)
        except (CronSimError, StopIteration, OverflowError):
            wanted = "an interval such as 6h or 1d, or a cron expression that some day fits, such as '0 3 * * *'"
            raise BadInput(f"--every wants {wanted}, not {one_line(text, 80)!r}") from None
        return timetable

    def after(self, begun: float) -> float:
        """When the run after that which began at ``begun`` is due; both unix seconds."""
        if self.seconds:
            return begun + self.seconds
        moments = CronSim(self.cron, datetime.fromtimestamp(begun))  # noqa: DTZ006 - the clock on the wall
        return next(at for moment in moments if (at := moment.timestamp()) > begun)  # which is set back once a year
