"""The settings that belong to a crawl: what of them is kept with it, and what differs when it goes on. Pure.

What may hold a secret is not kept: a proxy with a password, headers beyond those that are known to hold none; nor are
plug-ins, which are code. They have to be given again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import mask_user_info
from gregor.worker.config.about import About
from gregor.worker.config.api import Api
from gregor.worker.config.docs import toml
from gregor.worker.config.settings import Config
from gregor.worker.config.topic import TopicSettings, is_url

_OF_PAGES: Final = frozenset(TopicSettings.__struct_fields__).difference(About.__struct_fields__)
"""What is made of pages, and in which order: of the settings that others are built on these alone are the crawl's."""
_OF_A_RUN: Final = frozenset(
    {
        *(name for name in Api.__struct_fields__ if name not in _OF_PAGES),
        *("data", "engine", "crawl", "processes", "max_time", "linger", "progress_interval", "stop_grace"),
        *("log_level", "log_format", "log_file", "trace_endpoint", "trace_share"),
    }
)
"""Where a crawl lives, where servers are, who is told what: these are of the process, not of the crawl."""
OF_A_CRAWL: Final = tuple(name for name in Config.__struct_fields__ if name not in _OF_A_RUN)
WIDENING: Final = frozenset(
    {
        *("scope", "domains", "prefixes", "include", "exclude", "max_depth", "nofollow", "meta_refresh", "frames"),
        *("canonical_links", "sitemap_only", "max_pages_per_host", "max_bytes_per_host", "hosts", "revisit"),
        *("topic_discover", "topic_hops"),
    }
)
"""Settings by which URLs were turned down, or not visited again, that may be let in when they change."""
_HARMLESS: Final = frozenset(
    {"accept", "accept-language", "dnt", "from", "referer", "save-data", "upgrade-insecure-requests"}
)
"""Headers that hold no secret."""
_PATHS: Final = ("host_table", "ca_file", "rules", "topic_model")
_FILES_OR_URLS: Final = ("topic_good", "topic_bad")
_MASKED: Final = ("headers", "hosts")


class KeptSettings(msgspec.Struct, frozen=True):
    """``values``: settings as plain data; ``withheld``: names of those that were given and may hold a secret."""

    values: dict[str, Any] = {}
    withheld: tuple[str, ...] = ()


def encode(kept: KeptSettings) -> str:
    """As it is stored."""
    return msgspec.json.encode(kept).decode()


def decode(text: str) -> KeptSettings:
    """Read it again. What cannot be read is as if nothing had been kept."""
    try:
        return msgspec.json.decode(text, type=KeptSettings)
    except msgspec.MsgspecError:
        return KeptSettings()


def to_keep(config: Config, sources: Mapping[str, str]) -> KeptSettings:
    """What is kept of the settings in force; ``sources`` has the names of those that are not the default's."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(config))
    values = {name: plain[name] for name in OF_A_CRAWL if name in sources}
    withheld = tuple(
        name for name in ("proxy", "headers", "hosts", "plugins") if name in values and _is_secret(name, values[name])
    )
    for secret in withheld:
        del values[secret]
    for path in _PATHS:
        if isinstance(value := values.get(path), list):
            values[path] = [str(Path(file).absolute()) for file in value]
        elif value:
            values[path] = str(Path(value).absolute())
    for names in _FILES_OR_URLS:
        if names in values:
            values[names] = [name if is_url(name) else str(Path(name).absolute()) for name in values[names]]
    return KeptSettings(values, withheld)


def _is_secret(name: str, value: Any) -> bool:
    if name == "proxy":
        return "@" in value
    if name == "plugins":  # code: no folder that comes from elsewhere says what is run here
        return bool(value)
    tables = [value] if name == "headers" else [table.get("headers", {}) for table in value]
    return any(header.lower() not in _HARMLESS for table in tables for header in table)


def refuse_missing(kept: KeptSettings, sources: Mapping[str, str]) -> None:
    """Raises `BadInput` when the crawl was made with what is not kept, and nothing stands in its place."""
    for name in kept.withheld:
        if name not in sources:
            empty = "[]" if name in ("hosts", "plugins") else "{}" if name == "headers" else ""
            reason = "which is code" if name == "plugins" else "which may hold a secret"
            raise BadInput(
                f"this crawl was made with {name}, {reason} and is not kept: give it again, or "
                f"--set {name}={empty} to go on without"
            )


def changed(kept: KeptSettings, config: Config, sources: Mapping[str, str]) -> dict[str, str]:
    """What is otherwise than before, by setting: "delay was 5, now 1". ``sources`` says where each is from."""
    now, default = to_keep(config, sources), msgspec.json.decode(msgspec.json.encode(Config()))
    changes = {}
    for name in OF_A_CRAWL:
        if name in now.withheld or name in kept.withheld:
            continue
        before, after = (values.get(name, default[name]) for values in (kept.values, now.values))
        if before != after and (name in kept.values or name in now.values):
            how = "changed" if name in _MASKED else f"was {_shown(before)}, now {_shown(after)}"
            changes[name] = f"{name} {how}"
    return changes


def in_use(kept: KeptSettings, sources: Mapping[str, str], source: str) -> list[str]:
    """The settings that the crawl was made with and that are in force because nothing else was given: ``source``."""
    return [
        name if name in _MASKED else f"{name} {_shown(value)}"
        for name, value in kept.values.items()
        if sources.get(name) == source
    ]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) and value else mask_user_info(toml(value)).strip('"')
