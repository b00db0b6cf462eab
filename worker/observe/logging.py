"""The log: one event a line, as text (`key=value`) or JSON; nothing a site sends can break a line or hide in it.

    log = logs("fetch")
    log.warning("host unreachable", host="a.test", error=detail, pause=30.0)

Fields that may hold secrets are masked by their name, the user info of URLs wherever it stands. Messages of libraries
go the same way.
"""

import logging
import re
import sys
import threading
import traceback
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from types import TracebackType
from typing import Any, Final, TextIO

import msgspec

from gregor.worker.base.errors import BadInput, complain, speak, why
from gregor.worker.base.printable import MASK, mask_user_info, one_line
from gregor.worker.observe import tracing

LONGEST: Final = 1000
"""Characters of a value; more are cut."""
_ROOT = "gregor"
_SECRET = re.compile(r"authori[sz]ation|cookie|passw|secret|token|credential|bearer", re.IGNORECASE)
_BARE = re.compile(r"[^\s\"=]+")
_RESERVED = frozenset({"time", "level", "event", "source"})
_PROCESS: dict[str, object] = {}


class Log:
    """Writes events of one part of the program."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(f"{_ROOT}.{name}")

    def debug(self, event: str, **fields: object) -> None:
        """What only someone who looks for a fault wants to read."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        """What an operator reads afterwards."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """What goes on, but should not be."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        """What ended something."""
        self._write(logging.ERROR, event, fields)

    def _write(self, level: int, event: str, fields: dict[str, object]) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, "%s", event, extra={"fields": fields})


def logs(name: str) -> Log:
    """The log of the part ``name``."""
    return Log(name)


def identify(crawl: str, worker: str) -> None:
    """Say in every line of JSON from now on which crawl and which worker it is of."""
    _PROCESS.update(crawl=crawl, worker=worker)


def _context() -> dict[str, object]:
    """Where a line comes from: the process, and the visit in whose task it is written."""
    visit = tracing.current()
    if visit is None:
        return _PROCESS
    return {
        **_PROCESS,
        "partition": visit.partition,
        "epoch": visit.epoch,
        "host": visit.host,
        "trace": visit.trace,
    }


class _Formatter(logging.Formatter):
    """One record, one line."""

    def __init__(self, json: bool) -> None:
        super().__init__()
        self._json = json

    def format(self, record: logging.LogRecord) -> str:
        extra = getattr(record, "fields", {})
        if self._json:
            extra = {**_context(), **extra}
        fields = {_name(name): _value(name, value) for name, value in extra.items()}
        if record.exc_info and record.exc_info[1] is not None:
            fields["exception"] = _text("".join(traceback.format_exception(record.exc_info[1]))[-LONGEST:])
        head = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "source": record.name.removeprefix(f"{_ROOT}."),
            "event": _text(record.getMessage()),
        }
        if self._json:
            return msgspec.json.encode(head | fields).decode()
        pairs = (f"{name}={_quoted(value)}" for name, value in fields.items())
        return " ".join([head["time"], head["level"], head["source"], _quoted(head["event"]), *pairs])


def _name(name: str) -> str:
    return f"{name}_" if name in _RESERVED else name


def _value(name: str, value: object) -> Any:
    if _SECRET.search(name):
        return MASK
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return round(value, 6)
    return _text(value if isinstance(value, str) else repr(value))


def _text(text: str) -> str:
    return one_line(mask_user_info(text), LONGEST)


def _quoted(value: object) -> str:
    if not isinstance(value, str):
        return msgspec.json.encode(value).decode()
    return value if _BARE.fullmatch(value) else '"' + value.replace('"', "'") + '"'


class _Lossy(logging.Handler):
    """Where the log has no room, it is the log that has gaps: the crawl goes on, and says so once."""

    _complained = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        """What keeps a line from being written: a full disk, a reader that has gone; else a fault of ours."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._complained:
            self._complained = True
            complain(f"the log cannot be written: {why(error)}; the crawl goes on, lines of its log are missing")


class _File(_Lossy, WatchedFileHandler):
    """Appends to a file; when that was renamed or removed, as a rotation does, to a new one of its name."""

    def emit(self, record: logging.LogRecord) -> None:
        """A new file that cannot be made is a gap in the log, as a full one is."""
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)


class _Stderr(_Lossy, logging.StreamHandler[TextIO]):
    """Writes to what standard error is at that moment: a live view replaces it while it runs."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


def configure(level: str, form: str, path: str = "") -> None:
    """Send everything of ``level`` ("debug" … "error") and above, as ``form`` ("text" or "json"), to a file (appended)
    or standard error. Libraries are heard from "warning" on. With "json" all else on standard error is JSON too, also
    what ends a thread or the process. Raises BadInput when the file cannot be written."""
    speak(form)
    try:
        handler = _File(path, encoding="utf-8") if path else _Stderr()
    except OSError as error:
        raise BadInput(f"cannot write the log to {one_line(path)}: {why(error)}") from None
    handler.setFormatter(_Formatter(form == "json"))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(max(logging.WARNING, getattr(logging, level.upper())))
    logging.getLogger(_ROOT).setLevel(level.upper())
    logging.captureWarnings(True)
    if form == "json":
        sys.excepthook = _unforeseen
        threading.excepthook = lambda ended: _unforeseen(ended.exc_type, ended.exc_value, ended.exc_traceback)


def _unforeseen(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    """What would be a traceback of many lines."""
    failure = error if error is not None else kind()
    logging.getLogger(f"{_ROOT}.process").critical("unforeseen error", exc_info=(kind, failure, trace))
