"""The command line: picks a command, and turns what can go wrong into one line and an exit code."""

import argparse
import importlib
import io
import os
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

from gregor import __version__
from gregor.worker.base.errors import BadInput, complain, speak, why
from gregor.worker.base.extras import advice
from gregor.worker.base.shortage import LocalShortage
from gregor.worker.borders.errors import Damaged, DiskFull, Unavailable
from gregor.worker.borders.log import RecordsLost
from gregor.worker.commands import BAD_INPUT, COMMANDS, FAILED, FINISHED, INTERRUPTED
from gregor.worker.run.signals import interrupting

EXIT_CODES = "exit codes: 0 finished or a budget reached, 1 failed, 2 bad input or configuration, 3 interrupted"


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, with the exit code for bad input. Positional arguments may stand
    anywhere among options: argparse takes all that stand together, the optional ones too, and no later ones."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What argparse does, options first where there are no commands to choose from, and no ``--`` ends them."""
        has_commands = any(action.nargs == argparse.PARSER for action in self._actions)
        if self._mixing or has_commands or args is None or "--" in args:
            return super().parse_known_args(args, namespace)
        self._mixing = True  # it is asked again, for the options and for what they leave
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False

    def error(self, message: str) -> NoReturn:
        """Print ``message`` and leave."""
        complain(f"{message} (see `{self.prog} --help`)", "error")
        raise SystemExit(BAD_INPUT)


def parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; only the arguments of the ``chosen`` one are known, or of all without one."""
    top = Parser(prog="gregor", description="A polite, durable web crawler.", epilog=EXIT_CODES, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"gregor {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(name, help=command.summary, description=command.summary, allow_abbrev=False)
        if chosen in (name, None):
            load(name).add_arguments(sub)
    return top


class Runnable(Protocol):
    """A command: a module, or an entry of a module's table."""

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None:
        """Its own words."""

    def run(self, arguments: argparse.Namespace, /) -> int:
        """Do it; returns the exit code."""


def load(name: str) -> Runnable:
    """A command, by the module that has it."""
    module = importlib.import_module(f"gregor.worker.commands.{COMMANDS[name].module}")
    command: Runnable = getattr(module, "BY_NAME", {}).get(name, module)
    return command


def _open_streams() -> None:
    """Give standard streams that were closed by whoever started us a place to go.

    Else their numbers go to the next files that are opened, the database among them, and messages are written there.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:  # the lowest free number is taken: this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:  # bytes that are not UTF-8
        return False
    return True


def _wants_json(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether lines on standard error are to be objects, as far as that can be told before settings are read."""
    given = [word.replace(" ", "").removeprefix("--set=") for word in words]
    chosen = [word.partition("=")[2] for word in given if word.startswith("log_format=")]
    return (chosen[-1] if chosen else environ.get("GREGOR_LOG_FORMAT", "")) == "json"


def _as_setting(unknown: Sequence[str], arguments: argparse.Namespace) -> str:
    """How a setting that has no flag of its own is given, if the first unknown word means one."""
    from gregor.worker.config.settings import Config  # heavy: commands without settings do without

    name = unknown[0].partition("=")[0].removeprefix("--").replace("-", "_")
    return f"; give it as --set {name}=…" if name in Config.__struct_fields__ and "settings" in arguments else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. Argument errors raise SystemExit, as argparse does."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's BLAS threads spin, and nothing multiplies matrices
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # whatever the terminal's encoding cannot say
    speak("json" if _wants_json(words, os.environ) else "text")
    for word in words:
        if not _is_text(word):
            complain(f"the argument {word!r} is not UTF-8 text", "error")
            return BAD_INPUT
    try:
        interrupting()  # what a command needs takes a moment to load
        chosen = words[0] if words and words[0] in COMMANDS else ""
        freely = getattr(load(chosen), "takes_words", None) if chosen else None
        words, free = freely(words) if freely is not None else (words, [])
        arguments, unknown = parser(chosen).parse_known_args(words)
        if freely is not None:
            arguments.words = [*arguments.words, *free]
        if unknown:
            text = f"unrecognized arguments: {' '.join(unknown)}{_as_setting(unknown, arguments)}"
            Parser(prog=f"gregor {arguments.command}").error(text)
        code = load(arguments.command).run(arguments)
        sys.stdout.flush()
        return code
    except BadInput as error:
        complain(str(error), "error")
        return BAD_INPUT
    except Damaged as error:
        complain(f"{error}; `gregor check` looks through all that is stored, and says what it can mend")
        return FAILED
    except (DiskFull, LocalShortage, Unavailable, sqlite3.Error) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            complain(f"a database of the crawl is damaged: {error}; `gregor check` looks through all that is stored")
            return FAILED
        complain(f"{error}; nothing is lost: remove the cause, then run the same command again", "error")
        return FAILED
    except RecordsLost as error:
        complain(
            f"{error}: the log lost records; a worker that owns the partition says so in a dead letter and goes on",
            "error",
        )
        return FAILED
    except ModuleNotFoundError as error:
        line = advice(error)
        if line is None:
            raise
        complain(line, "error")
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough. What is still buffered must not complain when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINISHED
    except OSError as error:
        complain(f"{error.filename}: {why(error)}" if error.filename else why(error), "error")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
