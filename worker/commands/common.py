"""What several commands share: the flags of settings, the crawl that is read, what people see of times and URLs."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from gregor.worker.config import Config
from gregor.worker.config_docs import meaning
from gregor.worker.config_sources import Given, Settings, load
from gregor.worker.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gregor.worker.borders import Reader


class Flag(NamedTuple):
    """A flag of its own for a setting; ``item``: it may be repeated, each time for one more element of a list."""

    name: str
    field: str
    metavar: str
    item: bool = False


DATA = Flag("--data", "data", "DIR")


class _Keep(argparse.Action):
    """Keeps settings in the order in which they were given, so that the last one wins."""

    def __init__(self, *args: Any, flag: Flag | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.flag = flag

    def __call__(
        self, parser: argparse.ArgumentParser, space: argparse.Namespace, value: Any, option: str | None = None
    ) -> None:
        source = option or self.option_strings[0]
        if self.flag is not None:
            given = Given(self.flag.field, value, source, self.flag.item)
        else:
            name, separator, text = value.partition("=")
            if not separator:
                parser.error(f"{source} wants KEY=VALUE, not {value!r}")
            given = Given(name.strip(), text, source)
        space.settings = [*(getattr(space, "settings", None) or ()), given]


def add_settings(parser: argparse.ArgumentParser, flags: Sequence[Flag] = (DATA,)) -> None:
    """The flags from which `settings` reads."""
    group = parser.add_argument_group("settings")
    group.add_argument("--config", metavar="FILE", help="config file (TOML); default: what GREGOR_CONFIG names")
    for flag in flags:
        text = meaning(flag.field).replace("%", "%%") + ("; may be repeated" if flag.item else "")
        group.add_argument(flag.name, action=_Keep, flag=flag, metavar=flag.metavar, help=text, dest="settings")
    text = "any setting; `gregor config show` lists them; may be repeated"
    group.add_argument("--set", action=_Keep, metavar="KEY=VALUE", help=text, dest="settings")


def settings(arguments: argparse.Namespace) -> Settings:
    """The settings in force for this command."""
    return load(arguments.config, os.environ, arguments.settings or ())


def run(coroutine: Coroutine[Any, Any, int]) -> int:
    """Run a reading command to its end."""
    return asyncio.run(coroutine)


@asynccontextmanager
async def reader(config: Config) -> "AsyncIterator[Reader]":
    """What the crawl remembers."""
    from gregor.worker import composition  # heavy; commands that read nothing do without

    opened = await composition.open_reader(config)
    try:
        yield opened
    finally:
        await opened.close()


def rfc3339(at: float) -> str:
    """Unix seconds as UTC, to the millisecond (RFC 3339)."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def not_negative(text: str) -> int:
    """A number for argparse."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def write_to(path: str, write: Callable[[Any], None]) -> None:
    """Call ``write`` with a binary file: standard output for "-"."""
    if path == "-":
        if sys.stdout.isatty():
            raise BadInput("binary output does not go to a terminal: use --output FILE or a pipe")
        write(sys.stdout.buffer)
