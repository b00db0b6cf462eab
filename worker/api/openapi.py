"""The OpenAPI document, made of the table of endpoints and the types of what travels."""

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from gregor import __version__
from gregor.worker.api.access import Role
from gregor.worker.api.endpoint import KEY, V1, Endpoint
from gregor.worker.api.endpoints import ENDPOINTS
from gregor.worker.api.problems import MEDIA_TYPE, Details
from gregor.worker.orders.model import LONGEST_KEY, REMEMBERED

_REFERENCE: Final = "#/components/schemas/{name}"
_REFUSALS: Final = {
    400: "What was sent is not as it should be",
    401: "A token is needed, or is wrong",
    403: "The token is not an operator's",
    404: "This is not kept",
    408: "The body did not come in time",
    409: "The same change is being made",
    413: "The body is too large",
    415: "The body is not JSON",
    422: "The key named another change before",
    429: "Too many requests; Retry-After says when",
    503: "What the crawl is kept in cannot be reached now",
}
_REFUSAL: Final = {"content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(name=Details.__name__)}}}}


def document(pages: Iterable[str] = ("/",)) -> dict[str, Any]:
    """OpenAPI 3.1. ``pages``: the paths of what everybody may see."""
    kinds = {
        kind for endpoint in ENDPOINTS for kind in (endpoint.answer, endpoint.body, endpoint.query) if kind is not None
    }
    ordered = sorted({*kinds, Details}, key=lambda kind: str(kind.__name__))
    _, schemas = msgspec.json.schema_components(ordered, ref_template=_REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    for path in pages:
        name = "The console" if path == "/" else "The page for webmasters"
        paths[path] = {"get": _page(name, "text/html", "anyone")}
    paths[f"{V1}/openapi.json"] = {"get": _page("This document", "application/json", "viewer")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Gregor", "version": __version__, "description": "A worker of a crawl: status and orders."},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


_KEY: Final = {
    "name": KEY,
    "in": "header",
    "description": f"Asked again under its key, a change has no second effect; at least {REMEMBERED} are remembered",
    "schema": {"type": "string", "maxLength": LONGEST_KEY},
}


def _page(summary: str, media_type: str, role: Role) -> dict[str, Any]:
    """The operation of a fixed document, which no worker is asked for."""
    return {
        "summary": summary,
        "operationId": f"get_{summary.lower().replace(' ', '_')}",
        "responses": {
            "200": {"description": summary, "content": {media_type: {}}},
            **_refused([429] if role == "anyone" else [401, 429]),
        },
        "security": [] if role == "anyone" else [{"token": []}],
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "Done" if endpoint.answer is None else "The answer"}
    if endpoint.answer is not None:
        answer["content"] = {"application/json": {"schema": _reference(endpoint.answer)}}
    elif endpoint.path == "/metrics":
        answer["content"] = {"text/plain": {"schema": {"type": "string"}}}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": f"{endpoint.method.lower()}_{re.sub(r'[^a-z]+', '_', endpoint.path).strip('_')}",
        "responses": {
            **{str(status): answer for status in (endpoint.status, *endpoint.also)},
            **_refused(_refusals(endpoint)),
        },
        "security": [] if endpoint.role == "anyone" else [{"token": []}],
    }
    if endpoint.body is not None:
        needed = bool(schemas[endpoint.body.__name__].get("required"))
        content = {"application/json": {"schema": _reference(endpoint.body)}}
        operation["requestBody"] = {"required": needed, "content": content}
    if parameters := [
        *_in_path(endpoint),
        *_in_query(endpoint, schemas),
        *([_KEY] if endpoint.method != "GET" else []),
    ]:
        operation["parameters"] = parameters
    return operation


def _refusals(endpoint: Endpoint) -> set[int]:
    """The statuses with which an operation is refused, for whatever reason."""
    statuses = set(endpoint.refuses)
    if endpoint.role != "anyone":
        statuses |= {401, 429}
    if endpoint.path.startswith(V1):
        statuses |= {400, 503}
    if endpoint.body is not None:
        statuses |= {403, 408, 413, 415, 422}
    return statuses | {409} if endpoint.method == "POST" else statuses


def _refused(statuses: Iterable[int]) -> dict[str, Any]:
    return {str(status): {"description": _REFUSALS[status], **_REFUSAL} for status in sorted(statuses)}


def _reference(kind: Any) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=kind.__name__)}


def _in_path(one: Endpoint) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", one.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _in_query(endpoint: Endpoint, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    if endpoint.query is None:
        return []
    asked = schemas[endpoint.query.__name__]
    return [
        {"name": name, "in": "query", "required": name in asked.get("required", ()), "schema": schema}
        for name, schema in asked["properties"].items()
    ]
