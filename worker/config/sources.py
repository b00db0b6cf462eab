"""Where settings come from: defaults < kept with the crawl < config file < environment < command line; the later wins.

Each value is checked by itself, so that an error names its source. Everything raises ConfigError with one line.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from gregor.worker.base.errors import plain_types, why
from gregor.worker.base.printable import MASK, mask_user_info, one_line
from gregor.worker.base.spans import WRITTEN
from gregor.worker.config.check import check, with_canonical_hosts
from gregor.worker.config.docs import meaning
from gregor.worker.config.kept import KeptSettings
from gregor.worker.config.settings import Config, ConfigError, HostOverride
from gregor.worker.config.times import in_seconds, times_of
from gregor.worker.config.topic import TABLE

KEPT = "kept with the crawl"
"""The source of what the crawl was made with."""
PREFIX = "GREGOR_"
CONFIG_VARIABLE = "GREGOR_CONFIG"
# Not settings: what our own tests use, and what Kubernetes sets for a service whose name starts with "gregor".
_FOREIGN = re.compile(r"GREGOR_(CONFIG$|SHARED$|TEST_.*|.*_SERVICE_(HOST|PORT).*|(.*_)?PORT(_\d+_(TCP|UDP).*)?$)")
_WORDS = {"yes": True, "on": True, "true": True, "1": True, "no": False, "off": False, "false": False, "0": False}
_SECRET = frozenset({"proxy", "headers"})
_DEFAULTS = Config()
_NAMES = frozenset(Config.__struct_fields__)
_TABLES = frozenset(HostOverride.__struct_fields__)


class Given(Struct, frozen=True):
    """One value from the command line. An ``item`` is one element of a list; others are parsed as a whole."""

    name: str
    text: str
    source: str
    item: bool = False


class Settings(Struct, frozen=True):
    """What is in force, and where each value comes from ("default" where a name is missing)."""

    config: Config
    sources: dict[str, str]
    kept: KeptSettings | None = None
    """What the crawl was made with, where that is known."""


class _Value(NamedTuple):
    """``strict``: the value has its type already, as in TOML; a text of the environment or a flag has not."""

    name: str
    value: object
    source: str
    strict: bool


def load(
    path: str | None, environ: Mapping[str, str], flags: Sequence[Given] = (), kept: KeptSettings | None = None
) -> Settings:
    """Read all sources. ``path`` is the config file; without one GREGOR_CONFIG names it, if set. ``kept``: what the
    crawl was made with, which holds where nothing else is given."""
    path = path or environ.get(CONFIG_VARIABLE) or None
    table = read_file(path) if path else {}
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    before = kept.values if kept is not None else {}
    secrets = _variables(table) | _variables({"host": before.get("hosts", [])})
    of_crawl = (_Value(name, value, KEPT, True) for name, value in before.items() if name in _NAMES)
    for layer in (of_crawl, _from_file(table, path or ""), _from_environment(environ, secrets), _from_flags(flags)):
        for setting in layer:
            values[setting.name] = _checked(setting)
            sources[setting.name] = setting.source
    config = with_canonical_hosts(Config(**values))
    check(config)
    return Settings(config, sources, kept)


def _from_file(table: Mapping[str, object], path: str) -> Iterator[_Value]:
    for name, value in table.items():
        if name == "host":
            yield _Value("hosts", _host_tables(value, path), path, True)
        elif name == TABLE:
            yield from _of_topic(value, path)
        elif name == "hosts" or name not in _NAMES:
            raise _unknown(name, path, {*_NAMES, "host", TABLE} - {"hosts"})
        else:
            yield _Value(name, _none(name, value), path, True)


def _of_topic(table: object, path: str) -> Iterator[_Value]:
    """The settings of the table [topic]."""
    if not isinstance(table, dict):
        raise ConfigError(f"{TABLE} (in {path}) must be written as a table: [{TABLE}]")
    begin = f"{TABLE}_"
    for name, value in table.items():
        if begin + name not in _NAMES:
            names = {setting.removeprefix(begin) for setting in _NAMES if setting.startswith(begin)}
            raise _unknown(name, f"[{TABLE}] of {path}", names)
        yield _Value(begin + name, _none(begin + name, value), path, True)


def _from_environment(environ: Mapping[str, str], secrets: Iterable[str]) -> Iterator[_Value]:
    for variable in sorted({name for name in environ if name.startswith(PREFIX)}.difference(secrets)):
        name = variable.removeprefix(PREFIX).lower()
        if name in _NAMES:
            yield _Value(name, parse(name, environ[variable], variable), variable, False)
        elif not _FOREIGN.match(variable):
            raise _unknown(variable, "the environment", {PREFIX + field.upper() for field in _NAMES})


def _from_flags(flags: Sequence[Given]) -> Iterator[_Value]:
    lists: dict[str, list[str]] = {}
    for flag in flags:
        if flag.name not in _NAMES:
            raise _unknown(flag.name, flag.source, _NAMES)
        if flag.item:
            lists.setdefault(flag.name, []).append(flag.text)
            yield _Value(flag.name, list(lists[flag.name]), flag.source, False)
        else:
            yield _Value(flag.name, parse(flag.name, flag.text, flag.source), flag.source, False)


def read_file(path: str) -> dict[str, Any]:
    """The tables of a TOML file, with or without a byte order mark."""
    try:
        return tomllib.loads(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"cannot read config file {one_line(path)}: {why(error)}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"config file {one_line(path)} is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"config file {one_line(path)} is not TOML: {one_line(str(error))}") from None


def parse(name: str, text: str, source: str) -> object:
    """The value that a text stands for: lists by commas or as a TOML array, tables as a TOML inline table."""
    default = getattr(_DEFAULTS, name, None)
    stripped = text.strip()
    if isinstance(default, bool):
        return _WORDS.get(stripped.lower(), text)
    if isinstance(default, tuple | dict) and stripped[:1] in ("[", "{"):
        try:
            return tomllib.loads(f"value = {stripped}")["value"]
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{name} (from {source}) is not a TOML value: {one_line(str(error))}") from None
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    return _none(name, text if isinstance(default, str) else stripped)


def _none(name: str, value: object) -> object:
    return None if value == "none" and getattr(_DEFAULTS, name, "") is None else value


def _host_tables(value: object, source: str) -> object:
    if not isinstance(value, list):
        raise ConfigError(f"host (in {source}) must be written as [[host]] tables")
    for table in value:
        for name in table if isinstance(table, dict) else ():
            if name not in _TABLES:
                raise _unknown(name, f"[[host]] of {source}", _TABLES)
    return value


def _variables(table: Mapping[str, Any]) -> set[str]:
    """The environment variables that hold secrets of [[host]] tables; what has another type is refused elsewhere."""
    hosts = table.get("host", [])
    names = ("username_env", "password_env", "bearer_env")
    entries = [entry for entry in hosts if isinstance(entry, dict)] if isinstance(hosts, list) else []
    return {entry[name] for entry in entries for name in names if isinstance(entry.get(name), str)}


def _unknown(name: str, where: str, known: Iterable[str]) -> ConfigError:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    advice = f": did you mean {near[0]}?" if near else "; `gregor config show` lists all"
    return ConfigError(f"unknown setting {one_line(name, 80)!r} in {where}{advice}")


def _in_seconds(value: _Value) -> object:
    """The value, of which times have no unit any more."""
    if value.name in times_of(Config):
        return in_seconds(value.value)
    if value.name != "hosts" or not isinstance(value.value, list):
        return value.value
    times = times_of(HostOverride)
    return [
        {name: in_seconds(field) if name in times else field for name, field in table.items()}
        if isinstance(table, dict)
        else table
        for table in value.value
    ]


def _checked(value: _Value) -> object:
    try:
        text = msgspec.json.encode(value.value)
    except UnicodeEncodeError:
        raise ConfigError(f"{value.name} (from {value.source}) is not UTF-8 text") from None
    if b"\\u0000" in text:
        raise ConfigError(f"{value.name} (from {value.source}) must not hold the character NUL")
    try:
        return getattr(msgspec.convert({value.name: _in_seconds(value)}, Config, strict=value.strict), value.name)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        place = where.strip("`").removeprefix("$.") or value.name
        quiet = value.name in _SECRET or isinstance(value.value, list | dict)
        got = "" if quiet else f", not {one_line(str(value.value), 80)!r}"
        raise ConfigError(f"{place} (from {value.source}): {_plain(what, value.name, quiet)}{got}") from None


def _plain(message: str, name: str, quiet: bool) -> str:
    """What was expected; ``quiet``: the value is not told, so that its type must be."""
    kind = get_type_hints(Config)[name]
    choices = _choices(kind)
    if message.startswith("Invalid enum value") and choices:
        number = "a number, or " if any(int in (part, *get_args(part)) for part in get_args(kind)) else ""
        return f"expected {number}one of {', '.join(choices)}"
    text = plain_types(message if quiet else re.sub(r", got `\w+`$", "", message))
    if name in times_of(Config) and not re.search("[<>]", text):  # it is no number at all
        return f"expected {WRITTEN}"
    text = re.sub(r"text matching regex '.*'$", lambda _: meaning(name).partition(";")[0], text)
    return text[:1].lower() + text[1:]


def _choices(kind: object) -> tuple[str, ...]:
    """The words that a type, or what it is a list or alternative of, has room for."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(word for part in get_args(kind) for word in _choices(part))


def shown(config: Config) -> dict[str, Any]:
    """Every value as plain data, for people to see: the values of headers and a proxy's user info masked."""
    values: dict[str, Any] = msgspec.to_builtins(config)
    values["proxy"] = mask_user_info(config.proxy)
    for table in [values, *values["hosts"]]:
        table["headers"] = dict.fromkeys(table["headers"], MASK)
    return values
