"""What Helm and Terraform know of the settings, made of the config's types: `python -m tests.deploy.values_schema`."""

import inspect
import json
from typing import Any, Final

import msgspec

from gregor.worker.config.settings import Config
from tests.deploy.tools import ROOT

PATH: Final = ROOT / "helm/gregor/values.schema.json"
SETTINGS_PATH: Final = ROOT / "terraform/modules/crawl/settings.json"
CHARTS_OWN: Final = frozenset({"engine", "listen", "data", "log_file", "anonymous_read", "processes"})
"""Settings that the chart itself makes, or that make no sense in a pod."""
MODULES_OWN: Final = frozenset(
    {"crawl", "linger", "partitions", "user_agent", "hosts", "headers", "zookeeper", "zookeeper_username"}
    | {f"kafka{end}" for end in ("", "_security", "_sasl_mechanism", "_username", "_replication")}
    | {f"redis{end}" for end in ("", "_tls", "_username", "_replicas", "_sentinel", "_cluster")}
    | {f"cassandra{end}" for end in ("", "_tls", "_username", "_replication", "_datacenter")}
)
"""Settings that the Terraform modules make, or that are tables."""

_Schema = dict[str, Any]


def _object(properties: _Schema, *required: str, description: str = "") -> _Schema:
    told = {"description": description} if description else {}
    schema = {**told, "type": "object", "additionalProperties": False, "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def _map(values: _Schema, names: str = "") -> _Schema:
    return {"type": "object", "additionalProperties": values, "propertyNames": {"pattern": names}}


_CRON: Final = r"^$|^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$|^[^\s@]+( [^\s@]+){4}$"
_TEXT: Final[_Schema] = {"type": "string"}
_NAME: Final[_Schema] = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$"}
_TEXTS: Final[_Schema] = _map(_TEXT)
_OCTET: Final = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_NETWORK: Final = (
    rf"^({_OCTET}([.]{_OCTET}){{3}}/([12]?[0-9]|3[0-2])|[0-9a-f]*:[0-9a-f:]*/([1-9]?[0-9]|1[01][0-9]|12[0-8]))$"
)
_NETWORKS: Final[_Schema] = {"type": "array", "items": {"type": "string", "pattern": _NETWORK}}
_PORT: Final = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_VARIABLE: Final = "^[A-Z_][A-Z0-9_]*$"
_KEY: Final = _object({"secret": _NAME, "key": {"type": "string", "minLength": 1}}, "secret", "key")
_QUANTITY: Final[_Schema] = {"type": ["string", "number"], "pattern": "^[0-9]+([.][0-9]+)?(m|k|[MGT]|[KMGT]i)?$"}


def _whole(least: int) -> _Schema:
    return {"type": "integer", "minimum": least}


def schema() -> _Schema:
    """The schema of all values."""
    config, others = _config()
    files = sorted(name for name in Config.__struct_fields__ if name.endswith("_file") and name not in CHARTS_OWN)
    resources = _map(_QUANTITY, "^(cpu|memory|ephemeral-storage)$")
    requested = _object({"requests": resources, "limits": resources})
    server: _Schema = {"image": {"type": "string", "minLength": 1}, "resources": requested}
    place = {
        "node_selector": _TEXTS,
        "tolerations": {"type": "array", "items": {"type": "object"}},
        "affinity": {"type": "object"},
        "priority_class": {"anyOf": [{"const": ""}, _NAME]},
    }
    values = {
        "global": {"type": "object"},
        "image": _object(
            {
                "repository": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._:/-]*$"},
                "tag": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{0,128}$"},
                "digest": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
                "pull_policy": {"enum": ["IfNotPresent", "Always", "Never"]},
                "pull_secrets": {"type": "array", "items": _NAME},
            }
        ),
        "config": config,
        "files": _object(dict.fromkeys(files, _KEY), description="settings that name a file: keys of Secrets"),
        "secret_env": _map(_KEY, _VARIABLE),
        "env": {**_map(_TEXT), "propertyNames": {"pattern": _VARIABLE, "not": {"pattern": "^GREGOR_"}}},
        **place,
        "workers": _object({"replicas": _whole(0), "resources": requested, "annotations": _TEXTS, **place}),
        "console": _object({"enabled": {"type": "boolean"}, "resources": requested, **place}),
        "index": _object({"replicas": _whole(0), "resources": requested, **place}),
        "recrawl": _object(
            {
                "schedule": {"type": "string", "pattern": _CRON},
                "time_zone": {"type": "string", "pattern": "^([A-Za-z_+-]+[0-9]*(/[A-Za-z0-9_+-]+)*)?$"},
                "which": {"type": "array", "items": _TEXT, "minItems": 1},
                "resources": requested,
                **place,
            }
        ),
        "servers": _object(
            {
                "enabled": {"type": "boolean"},
                "storage": {"type": "string", "pattern": "^([0-9]+([.][0-9]+)?[KMGT]i?)?$"},
                "storage_class": {"anyOf": [{"const": ""}, _NAME]},
                "agent": _object(
                    {
                        "image": _TEXT,
                        "artifact": {"type": "string", "pattern": "^[^:]+:[^:]+:[^:]+$"},
                        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                    }
                ),
                **dict.fromkeys(_SERVERS, _object(server)),
                "redis": _object({**server, "exporter": _TEXT}),
            }
        ),
        "autoscaling": _object(
            {
                "kind": {"enum": ["none", "keda", "hpa"]},
                "minimum": _whole(1),
                "maximum": _whole(1),
                "lag": _whole(1),
                "cpu": {**_whole(1), "maximum": 100},
                "cooldown": {**_whole(0), "maximum": 3600},
                "authentication": _TEXT,
                "trigger": _TEXTS,
            }
        ),
        "service_account": _object({"annotations": _TEXTS}),
        "disruption_budget": _object({"max_unavailable": _whole(1)}),
        "network_policy": _object(
            {
                "enabled": {"type": "boolean"},
                "servers": {**_NETWORKS, "minItems": 1},
                "server_ports": {"type": "array", "items": {**_whole(1), "maximum": 65535}},
                "clients": {"type": "array", "items": _NAME},
                "closed": _NETWORKS,
                "closed6": _NETWORKS,
            }
        ),
        "monitoring": _object(
            {
                "enabled": {"type": "boolean"},
                "interval": {"type": "string", "pattern": "^[0-9]+(ms|s|m)$"},
                "labels": _TEXTS,
                "runbook": {"type": "string", "pattern": "^https?://[^#\\s]+$"},
            }
        ),
    }
    needed = [name for name in values if name != "global"]  # null takes a default away
    return {"$schema": "http://json-schema.org/draft-07/schema#", **_object(values, *needed), "$defs": others}


def _config() -> tuple[_Schema, dict[str, _Schema]]:
    """The settings that may be given, and what their schemas refer to. "none" is TOML's way to say null."""
    made = _plain(msgspec.json.schema(Config))
    definitions: dict[str, _Schema] = made["$defs"]
    config = definitions.pop("Config")
    for name in list(config["properties"]):
        if name in CHARTS_OWN or name.endswith(("_env", "_file")):
            del config["properties"][name]
    # What is waited for when a pod ends or starts is computed from these.
    config["required"] = ["stop_grace", "server_timeout", "start_timeout", "crawl", *_SERVERS]
    for server in _SERVERS:
        config["properties"][server]["items"] = {"type": "string", "pattern": rf"^[^\s/,]+:{_PORT}$"}
        config["properties"][server]["minItems"] = 1
    return config, definitions


_SERVERS: Final = ("kafka", "zookeeper", "redis", "cassandra")


def _plain(node: Any) -> Any:
    """Without defaults, which would be a second truth beside the config's; and without what is newer than draft 7, all
    that a Helm before 3.18.1 knows: there, a list of some equal items is said otherwise.
    """
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    if node == {"type": "null"}:
        return {"const": "none"}
    plain = {key: _plain(value) for key, value in node.items() if key != "default"}
    if equal := plain.pop("prefixItems", None):
        assert all(one == equal[0] for one in equal)
        plain["items"] = equal[0]
    if isinstance(said := plain.get("description"), str):
        plain["description"] = inspect.cleandoc(said)  # msgspec takes indents of docstrings away since 0.23 only
    return plain


def text() -> str:
    """values.schema.json of the chart."""
    return json.dumps(schema(), indent=2) + "\n"


def rules() -> dict[str, _Schema]:
    """What each setting may be that the Terraform modules take."""
    properties = _config()[0]["properties"]
    return {name: _rule(node) for name, node in sorted(properties.items()) if name not in MODULES_OWN}


def settings() -> str:
    """settings.json of the Terraform modules."""
    return json.dumps(rules(), indent=1) + "\n"


_KINDS: Final = {
    "string": ("a text", '^"'),
    "boolean": ("true or false", "^(true|false)$"),
    "integer": ("a whole number", "^-?[0-9]+$"),
    "number": ("a number", "^-?[0-9]"),
    "array": ("a list", "^\\["),
}
"""By the type: what it is called, and how a value's JSON looks."""
_LIMITS: Final = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to"}


def _rule(node: _Schema) -> _Schema:
    """How a value's JSON looks, limits, choices and pattern (also of a list's items), and the sentence that says so."""
    if "anyOf" in node:
        rule = _rule(node["anyOf"][0])
        return {**rule, "json": f'{rule["json"]}|^"none"$', "must": f"{rule['must']}, or none"}
    called, json_like = _KINDS[node.get("type", "string")]
    item = node.get("items") or node
    limits = {name: node[name] for name in _LIMITS if name in node}
    told = [called, *(f"{_LIMITS[name]} {limit}" for name, limit in limits.items())]
    if choices := item.get("enum", []):
        told = ["a list of" if item is not node else "one of", ", ".join(choices)]
    if pattern := item.get("pattern", ""):
        told += ["like", pattern]
    return {"json": json_like, **limits, "among": choices, "like": pattern, "must": "be " + " ".join(told)}


if __name__ == "__main__":
    PATH.write_text(text())
    SETTINGS_PATH.write_text(settings())
