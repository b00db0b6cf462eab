"""What each setting means, told from the types of `config.py`: for --help, and as docs/configuration.md.

`python -m gregor.worker.config.docs` writes the page to standard output.
"""

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from msgspec import inspect as types

from gregor import __version__
from gregor.worker.config.settings import Config, HostOverride
from gregor.worker.config.times import is_time


class Setting(Struct, frozen=True):
    """One setting, for people: its type with its bounds, its default as it is written in TOML, its meaning."""

    name: str
    kind: str
    default: str
    meaning: str


@cache
def settings() -> tuple[Setting, ...]:
    """Every field of `Config`, in the order in which it is declared."""
    info = types.type_info(Config)
    assert isinstance(info, types.StructType)
    return tuple(map(_setting, info.fields))


def _setting(field: types.Field) -> Setting:
    default = toml(getattr(_DEFAULTS, field.name)).replace(__version__, "VERSION")
    return Setting(field.name, _kind(field.type), default, _meaning(field.type))


def meaning(name: str) -> str:
    """What the setting ``name`` means, in one line."""
    return next(setting.meaning for setting in settings() if setting.name == name)


def toml(value: object) -> str:
    """A value as it is written in a config file; None as "none"."""
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        pairs = (f"{toml(str(name))} = {toml(item)}" for name, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return str(value)


_DEFAULTS = Config()


def _meaning(kind: types.Type) -> str:
    if isinstance(kind, types.Metadata):
        return str((kind.extra_json_schema or {}).get("description", "")) or _meaning(kind.type)
    if isinstance(kind, types.UnionType):
        return next((text for option in kind.types if (text := _meaning(option))), "")
    return ""


def _kind(kind: types.Type) -> str:
    match kind:
        case types.Metadata():
            text = _kind(kind.type)
            return text.replace(text.partition(" ")[0], "seconds", 1) if is_time(kind) else text
        case types.UnionType():
            return " or ".join(_kind(option) for option in kind.types)
        case types.NoneType():
            return "none"
        case types.BoolType():
            return "true or false"
        case types.IntType():
            return "integer" + _bounds(kind)
        case types.FloatType():
            return "number" + _bounds(kind)
        case types.LiteralType():
            return ", ".join(str(value) for value in kind.values)
        case types.VarTupleType():
            return "tables" if isinstance(kind.item_type, types.StructType) else f"list of {_kind(kind.item_type)}"
        case types.TupleType():
            return f"{len(kind.item_types)} times {_kind(kind.item_types[0])}"
        case types.DictType():
            return "table"
        case _:
            return "text"


def _bounds(kind: Any) -> str:
    lower = f" >= {kind.ge}" if kind.ge is not None else f" > {kind.gt}" if kind.gt is not None else ""
    return lower + (f", <= {kind.le}" if kind.le is not None else "")


_HEAD = """# Configuration

This page is made by `python -m gregor.worker.config.docs > docs/configuration.md`; a test keeps it true.

A setting comes from, each source overruling the one before:

1. its default;
2. what the crawl in the data folder was made with: the settings that were given then, and belong to the crawl;
3. the config file, TOML: `--config FILE`, or the file that `GREGOR_CONFIG` names;
4. the environment: `GREGOR_` and the name in upper case, e.g. `GREGOR_MAX_PAGES=100`;
5. the command line: a flag of its own, or `--set NAME=VALUE`; the last one wins.

In the environment and after `--set`, a list is written with commas (`a, b`) or as in TOML (`["a", "b"]`), a table as a
TOML inline table; `none` means no bound. Times are seconds, or a text with a unit, here as in every flag and order:
`90s`, `45m`, `12h`, `30d`, `2w` (in TOML `stale_after = "30d"`). Sizes are bytes. Relative paths start at the working
directory. Unknown names are refused; variables that Kubernetes sets for a service named gregor
(`GREGOR_…_SERVICE_HOST`, `GREGOR_…_PORT`) are left alone. `gregor config show` prints what is in force and where each
value comes from.

`partitions`, `canonical` and `bucket_width` are fixed once per crawl: a data folder refuses others. Everything else may
differ from run to run, is named at the start when it does, and holds from then on ([commands.md](commands.md)).

## Settings

| name | type | default | meaning |
|---|---|---|---|
"""

_TAIL = """
## What differs for one host

```toml
[[host]]
host = "www.example.org"        # with its port when it is neither 80 nor 443
delay = 5.0
max_pages = 1000
max_bytes = 100000000
headers = {Accept-Language = "de"}

[[host]]
host = "intern.example.org"
origins = ["https://intern.example.org"]   # credentials are sent to exactly these; default: https://HOST
username_env = "INTERN_USER"    # names of environment variables, never the secrets themselves
password_env = "INTERN_PASSWORD"

[[host]]
host = "api.example.org"
bearer_env = "API_TOKEN"
```

"""

_NOTES = """Only a setting that is given differs; all others hold as they are.

## Private networks and proxies

Addresses that are not global are refused, at the moment of connecting. `allow_networks` allows networks; the addresses
of a `host_table` are allowed for exactly their ports. URLs that were refused before stay so until their dead letters
are retried (`gregor deadletters --cause refused_address --retry`). With a `proxy` the proxy resolves the names: **the
address check is then the proxy's business**, so let it refuse private networks; and as it is the proxy that connects, a
`host_table` has no effect. A proxy that cannot be reached, or wants a password (407), makes hosts wait as if they could
not be reached. User name and password of a proxy are best given in the environment (`GREGOR_PROXY`); they are masked
wherever settings are shown.

URLs with ports of other protocols (22, 25, 110, 6667, …: the bad ports of the Fetch Standard) are refused before
anything is looked up, be they seeds, links, redirects, sitemaps or the robots.txt of such an origin; the port is that
of the URL, wherever a `host_table` leads. `allow_ports` (`--allow-port`) lifts it port by port; what was refused before
is retried by `gregor deadletters --cause refused_port --retry`.
"""


def page() -> str:
    """docs/configuration.md."""
    rows = "".join(f"| `{one.name}` | {one.kind} | `{one.default}` | {one.meaning} |\n" for one in settings())
    fields = f"Its fields: {', '.join(f'`{name}`' for name in HostOverride.__struct_fields__)}. "
    return _HEAD + rows + _TAIL + fields + _NOTES


if __name__ == "__main__":
    print(page(), end="")
