"""Arguments of Python as settings of a crawl."""

import os
from collections.abc import Iterable, Mapping

from gregor.worker.base.errors import BadInput
from gregor.worker.config.settings import ConfigError
from gregor.worker.config.sources import Given, Settings, load

_SOURCE = "an argument"


def text(name: str, value: object) -> str:
    """An argument that is a text. Raises `BadInput` for any other."""
    if isinstance(value, str):
        return value
    raise BadInput(f"{name} wants a text, not {type(value).__name__}")


def texts(name: str, value: object) -> list[str]:
    """An argument that is a text or a path, or several of them. Raises `BadInput` for any other."""
    several = value if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray) else [value]
    return [text(name, os.fspath(each) if isinstance(each, os.PathLike) else each) for each in several]


def settings(data: str | os.PathLike[str], arguments: Mapping[str, object], config: str | None = None) -> Settings:
    """The settings in force: defaults, those kept with the crawl in the folder, a config file, the environment, then
    the arguments, by the names of the configuration. Raises `BadInput`, `ConfigError`."""
    from gregor.worker.compose.kept import kept  # heavy: it reads folders

    words = [Given("data", os.fspath(data), _SOURCE)]
    for name, value in arguments.items():
        if isinstance(value, list | tuple | set | frozenset):
            words += [Given(name, _word(name, member), _SOURCE, item=True) for member in value]
        else:
            words.append(Given(name, _word(name, value), _SOURCE))
    return load(config, os.environ, words, kept(os.fspath(data)))


def _word(name: str, value: object) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | os.PathLike):
        return str(value)
    raise ConfigError(f"{name} wants a text, a number, true or false, or a list of such, not {type(value).__name__}")
