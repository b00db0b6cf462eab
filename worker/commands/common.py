"""What several commands share: the flags of settings, the crawl that is read, what people give as URLs."""

import argparse
import asyncio
import math
import os
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from gregor.worker.base import spans
from gregor.worker.base.crawl_folder import holds_crawl
from gregor.worker.base.errors import BadInput, complain, speak
from gregor.worker.base.printable import one_line
from gregor.worker.base.terminal import redraws
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.config.docs import meaning
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Given, Settings, load

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gregor.worker.borders.errors import Damaged
    from gregor.worker.borders.reader import Part, Reader
    from gregor.worker.inspect.selection import Selection
    from gregor.worker.web.urls import Url, Urls

T = TypeVar("T")
_REMEMBERED = 10_000


class Flag(NamedTuple):
    """A flag of its own for a setting; ``item``: it may be repeated, each time for one more element of a list."""

    name: str
    field: str
    metavar: str
    item: bool = False


DATA = (Flag("--data", "data", "DIR"),)
SCOPE = (
    *DATA,
    Flag("--scope", "scope", "host|domain|domains|prefixes|any"),
    Flag("--include", "include", "PATTERN", item=True),
    Flag("--exclude", "exclude", "PATTERN", item=True),
)


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
            setting = Given(self.flag.field, value, source, self.flag.item)
        else:
            name, separator, text = value.partition("=")
            if not separator:
                parser.error(f"{source} wants KEY=VALUE, not {value!r}")
            setting = Given(name.strip(), text, source)
        space.settings = [*(getattr(space, "settings", None) or ()), setting]


def add_settings(parser: argparse.ArgumentParser, flags: Sequence[Flag] = DATA) -> None:
    """The flags from which `settings` reads."""
    parser.set_defaults(of_a_crawl=any(flag.field == "data" for flag in flags))
    group = parser.add_argument_group("settings")
    group.add_argument("--config", metavar="FILE", help="config file (TOML); default: what GREGOR_CONFIG names")
    for flag in flags:
        text = meaning(flag.field).replace("%", "%%") + ("; may be repeated" if flag.item else "")
        group.add_argument(flag.name, action=_Keep, flag=flag, metavar=flag.metavar, help=text, dest="settings")
    text = "any setting; `gregor config show` lists them; may be repeated"
    group.add_argument("--set", action=_Keep, metavar="KEY=VALUE", help=text, dest="settings")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The flags from which `selection` reads."""
    parser.add_argument("--host", help="only URLs of this host, with its port if not the usual one")
    text = "only what has a new version or another state since then: an age such as 12h or 1d, or a date (2026-11-29)"
    parser.add_argument("--since", metavar="TIME", help=text)
    text = "only what changed: another text than before (with --since: than then), or a document that is there no more"
    parser.add_argument("--changed", action="store_true", help=text)


def selection(arguments: argparse.Namespace) -> "Selection":
    """What the flags choose. Raises `BadInput`."""
    from gregor.worker.inspect.selection import Selection
    from gregor.worker.operate.choose import moment

    since = None if arguments.since is None else moment("--since", arguments.since, time.time())
    return Selection(given_host(arguments.host), arguments.state, since, arguments.changed)


def settings(arguments: argparse.Namespace) -> Settings:
    """The settings in force for this command: those of the crawl in the data folder, if there is one, and what is given
    now."""
    loaded = load(arguments.config, os.environ, arguments.settings or ())
    if arguments.of_a_crawl and loaded.config.on_one_machine and holds_crawl(loaded.config.data):
        from gregor.worker.compose.kept import kept  # heavy: only where there is a crawl

        if (before := kept(loaded.config.data)) is not None:
            loaded = load(arguments.config, os.environ, arguments.settings or (), before)
    speak(loaded.config.log_format)
    return loaded


class Damages:
    """Tells each damage once, on standard error, and counts them."""

    def __init__(self) -> None:
        self.count = 0
        self._printed: set[tuple[str, str]] = set()

    def __call__(self, damage: "Damaged") -> None:
        if (damage.what, damage.name) not in self._printed:
            self.count += 1
            complain(str(damage))
            if len(self._printed) < _REMEMBERED:
                self._printed.add((damage.what, damage.name))

    def advise(self) -> None:
        """Say what can be done, if there is anything."""
        if self.count:
            complain(
                f"damaged: {self.count}; `gregor check` looks through all that is stored, and says what it can mend"
            )


class OpenedCrawl(NamedTuple):
    """A crawl that is read, and how its URLs are written."""

    reader: "Reader"
    urls: "Urls"
    damages: "Damages"

    @property
    def code(self) -> int:
        """The exit code of who read it: failed when something was damaged."""
        return FAILED if self.damages.count else FINISHED

    def url(self, text: str) -> "Url":
        """What a person gave as a URL; BadInput if it is none."""
        return given_url(self.urls, text)


def given_url(urls: "Urls", text: str) -> "Url":
    """What a person gave as a URL; BadInput if it is none."""
    url = urls.parse(text)
    if url is None:
        raise BadInput(f"{urls.refusal(text)}: {one_line(text, 200)!r}")
    return url


def given_host(text: str | None) -> str | None:
    """The host that a person means, also by a URL of it, as the crawl writes it; BadInput if it is none."""
    from gregor.worker.web.hostnames import one_host

    if text is None:
        return None
    if (host := one_host(text)) is None:
        raise BadInput(f"{one_line(text, 200)!r} is no host: write www.example.org, or www.example.org:8080")
    return host


def run_crawling(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run what crawls for hours or days."""
    from gregor.worker.compose.process import crawl_in_loop  # heavy: commands that read nothing do without

    return crawl_in_loop(coroutine)


def run_reading(coroutine: Coroutine[Any, Any, int]) -> int:
    """Run a reading command to its end."""
    return asyncio.run(coroutine)


@asynccontextmanager
async def reading(config: Config) -> "AsyncIterator[OpenedCrawl]":
    """What the crawl of a data folder or cluster remembers."""
    from gregor.worker.compose.engine import engine_of  # heavy: commands that read nothing do without

    reader, urls = await engine_of(config).read()
    try:
        damages = reader.on_damage = Damages()
        yield OpenedCrawl(reader, urls, damages)
        damages.advise()
    finally:
        await reader.close()


_DIGITS: Final = 15
"""Of a number on the command line: what databases and indexes can hold."""


def not_negative(text: str) -> int:
    """A number for argparse."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"expected integer >= 0, not {text!r}")
    if len(text) > _DIGITS:
        raise argparse.ArgumentTypeError(f"expected a number of at most {_DIGITS} digits")
    return int(text)


def positive(text: str) -> int:
    """A number above 0 for argparse."""
    number = not_negative(text)
    if number == 0:
        raise argparse.ArgumentTypeError("expected an integer >= 1, not '0'")
    return number


def within(least: float, most: float, what: str = "number") -> Callable[[str], float]:
    """A number within bounds for argparse."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"expected a {what} from {least:g} to {most:g}, not {text!r}")
        return number

    return parse


def span(text: str) -> float:
    """A span of time for argparse, in seconds."""
    if (number := spans.seconds(text)) is None:
        raise argparse.ArgumentTypeError(f"expected {spans.WRITTEN}, not {text!r}")
    return number


_UNITS: Final = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


def octets(text: str) -> int:
    """A size above 0 for argparse: "1GB", "500 MiB", "1048576"."""
    number = text.rstrip("bBiIkKmMgGtT ")
    unit = text[len(number) :].strip().lower().removesuffix("b")
    if not (number.isascii() and number.isdecimal()) or unit not in _UNITS:
        raise argparse.ArgumentTypeError(f"expected a size, as 1GB or 500MiB, not {text!r}")
    return positive(number) * _UNITS[unit]


def part_of(text: str) -> "Part":
    """A part for argparse: "2/4" is the second of four."""
    from gregor.worker.borders.reader import Part

    number, separator, parts = text.partition("/")
    if not separator or not 1 <= positive(number) <= positive(parts):
        raise argparse.ArgumentTypeError(f"expected I/N, as 2/4 for the second of four, not {text!r}")
    return Part(int(number) - 1, int(parts))


def show_count(what: str, count: int | None) -> None:
    """Show on a terminal how far a long command is; None: it has ended."""
    show_state(f"{what}: {count}" if count is not None else "")


def show_state(text: str) -> None:
    """Show on a terminal what a long command does, in place of what it did; nothing for ""."""
    if redraws(sys.stderr):
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
