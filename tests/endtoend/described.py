"""Requests and answers of the API held against its OpenAPI document: what is not described there is a fault."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import requests

from gregor.worker.api.openapi import document

DOCUMENT: Final = document()
_EVERYWHERE: Final = {404: "there is nothing here", 401: "no token", 405: "another method", 429: "too many"}
"""What is answered before an operation is known, so that no operation can describe it."""
_ANY_QUERY: Final = ("/", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json")
"""What browsers, probes and scrapers ask for may have a query, which means nothing."""
_KINDS: Final[dict[str, Any]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "null": type(None),
}  # fmt: skip


def operation(method: str, path: str) -> dict[str, Any] | None:
    """What the document says of a method of a path; None when nothing."""
    for template, methods in sorted(DOCUMENT["paths"].items(), key=lambda one: "{" in one[0]):
        pattern = re.sub(r"\\{\w+\\}", ".+", re.escape(template))
        if re.fullmatch(pattern, path):
            found: dict[str, Any] | None = methods.get("get" if method == "HEAD" else method.lower())
            return found
    return None


def check(answer: requests.Response, body: Any = None) -> None:
    """An answer is one that the document has, and so was the request, if it was not refused. ``body``: its JSON."""
    assert answer.request.method is not None and answer.request.url is not None
    asked = urlsplit(answer.request.url)
    told, status = f"{answer.request.method} {asked.path}: {answer.status_code}", answer.status_code
    described = operation(answer.request.method, asked.path)
    if described is None:  # the page for webmasters is wherever the operator wants it: no part of the API
        assert status in _EVERYWHERE or not asked.path.startswith("/api/"), told
        return
    assert str(status) in described["responses"], told
    contents = described["responses"][str(status)].get("content", {})
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    assert media_type in contents or not (contents or answer.content), f"{told}: {media_type}"
    if "schema" in contents.get(media_type, {}) and media_type.endswith("json") and answer.request.method != "HEAD":
        assert not (fault := wrong(contents[media_type]["schema"], answer.json(), closed=True)), f"{told}: {fault}"
    if status < 300 and asked.path not in _ANY_QUERY:
        _check_request(described, parse_qs(asked.query, keep_blank_values=True), body, told)


def _check_request(described: dict[str, Any], query: Mapping[str, list[str]], body: Any, told: str) -> None:
    """What was answered as it was meant is a request that the document allows."""
    parameters = {one["name"]: one for one in described.get("parameters", []) if one["in"] == "query"}
    assert query.keys() <= parameters.keys(), told
    assert {name for name, one in parameters.items() if one.get("required")} <= query.keys(), told
    for name, (value,) in query.items():
        readings = [value, *([float(value)] if _is_number(value) else []), *([int(value)] if value.isdecimal() else [])]
        assert any(not wrong(parameters[name]["schema"], one) for one in readings), f"{told}: {name}"
    if body is not None:
        schema = described["requestBody"]["content"]["application/json"]["schema"]
        assert not (fault := wrong(schema, body)), f"{told}: {fault}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def wrong(schema: dict[str, Any], value: Any, where: str = "$", *, closed: bool = False) -> str:
    """What is wrong with a value by the part of JSON Schema that the document uses; empty when nothing is.

    ``closed``: an object has no members but those that are named.
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return wrong(DOCUMENT["components"]["schemas"][name], value, where, closed=closed)
    if "anyOf" in schema:
        faults = [wrong(one, value, where, closed=closed) for one in schema["anyOf"]]
        return "" if not all(faults) else faults[0]
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {schema['enum']}"
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return f"{where} is no {kind}"
    if isinstance(value, dict):
        return _wrong_object(schema, value, where, closed)
    size = len(value) if isinstance(value, str | list) else value if isinstance(value, int | float) else 0
    for least, most in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        if size < schema.get(least, size) or size > schema.get(most, size):
            return f"{where} is not within its bounds"
    for at, one in enumerate(value if isinstance(value, list) else ()):
        if fault := wrong(schema["items"], one, f"{where}[{at}]", closed=closed):
            return fault
    return ""


def _wrong_object(schema: dict[str, Any], value: dict[str, Any], where: str, closed: bool) -> str:
    if missing := set(schema.get("required", ())) - value.keys():
        return f"{where} lacks {sorted(missing)}"
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    if (more := value.keys() - properties.keys()) and (others is False or (closed and others is True)):
        return f"{where} has {sorted(more)} too"
    for name, one in value.items():
        inner = properties.get(name, others)
        if isinstance(inner, dict) and (fault := wrong(inner, one, f"{where}.{name}", closed=closed)):
            return fault
    return ""
