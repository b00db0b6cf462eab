"""Speaking with OpenSearch: several nodes, TLS, a user; what fails is told by what it means for whoever asked.

Nodes that are away are put aside for a while by the client, and others are asked. What was asked may be asked again:
every write carries a version, so that a repeated one changes nothing.
"""

import logging
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConnectionError as NotReached
from opensearchpy.exceptions import OpenSearchException, TransportError

from gregor.search.borders import NotAllowed, Unusable
from gregor.worker.borders.errors import Unavailable

SERVICE: Final = "OpenSearch"
_RETRIES: Final = 3
ATTEMPTS: Final = 1 + _RETRIES
"""How often a question is asked, each time for so long, before its node is said to be away."""
_ASIDE: Final = 2
"""Seconds for which a node that was away is not asked; longer each time it still is."""
_AWAY: Final = frozenset({408, 429, 500, 502, 503, 504})
_CONNECTIONS: Final = 16
"""To a node, that are kept open."""
_REASON: Final = 300
"""Characters of a reason that are kept."""
_FULL: Final = ("read-only-allow-delete", "read-only / allow delete", "disk usage exceeded")


_HINTS: Final = {
    "CERTIFICATE_VERIFY_FAILED": "opensearch_ca_file names who may sign its certificate",
    "SSL: ": "it may speak no TLS: opensearch_tls",
    "closed connection without response": "it may speak TLS alone: opensearch_tls",
    "Connection reset": "it may speak TLS alone: opensearch_tls",
}
"""What may be wrong with the settings, by what is said of a connection that failed."""


class OpenSearchNodes(msgspec.Struct, frozen=True):
    """Where OpenSearch is, and how it is spoken to: addresses as host and port, seconds for an answer."""

    addresses: tuple[tuple[str, int], ...]
    username: str = ""
    password: str = ""
    tls: ssl.SSLContext | None = None
    timeout: float = 10.0


class Refused(Unusable):
    """What was asked is refused for what it is: ``status`` of HTTP, and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"OpenSearch refuses it ({status}): {reason}")
        self.status = status


class BulkOutcome(msgspec.Struct):
    """What became of a bulk: ids that are refused, with the reason; how many an engine has in a newer version."""

    refused: dict[str, str] = {}
    older: int = 0


class Client:
    """Asks, and waits for the answer: use a thread. May be used by several threads."""

    def __init__(self, nodes: OpenSearchNodes) -> None:
        logging.getLogger("opensearch").setLevel(logging.CRITICAL)  # what fails is told by whoever asked
        hosts = [
            {"host": host, "port": port, **({"use_ssl": True} if nodes.tls else {})} for host, port in nodes.addresses
        ]
        self._client = OpenSearch(
            hosts=hosts,
            http_auth=(nodes.username, nodes.password) if nodes.username else None,
            timeout=nodes.timeout,
            max_retries=_RETRIES,
            retry_on_timeout=True,
            dead_timeout=_ASIDE,
            pool_maxsize=_CONNECTIONS,
            ssl_context=nodes.tls,
        )

    def ask(self, method: str, path: str, body: object = None, params: Mapping[str, str] | None = None) -> Any:
        """The answer, decoded. Raises `Unavailable`, `Refused`, and `NotAllowed` for who may not ask."""
        try:
            return self._client.transport.perform_request(
                method, path, params=dict(params or {}), body=body, headers=None
            )
        except NotReached as error:
            raise Unavailable(SERVICE, _unreached(_text(error.error))) from None
        except TransportError as error:
            raise _meaning(error) from None
        except OpenSearchException as error:
            raise Unavailable(SERVICE, _text(error)) from None

    def there(self, path: str) -> bool:
        """Whether there is something of that name."""
        return bool(self.ask("HEAD", path))

    def bulk(self, alias: str, lines: Sequence[bytes]) -> BulkOutcome:
        """Write, as actions and their documents; acknowledged when it returns. Raises `Unavailable`, `Unusable`, and
        `Refused` where nothing has the alias.

        What the engine has no room or no time for now is `Unavailable` as a whole: it is written again then.
        """
        outcome = BulkOutcome()
        params = {"filter_path": "items.*._id,items.*.status,items.*.error.reason,items.*.error.type"}
        answer = self.ask("POST", f"/{alias}/_bulk", b"".join(lines), params | {"require_alias": "true"})
        for item in answer.get("items", ()):
            ((_, result),) = item.items()
            status, error = result["status"], result.get("error", {})
            reason = _text(f"{error.get('type', '')}: {error.get('reason', '')}")
            if status == 409:
                outcome.older += 1
            elif error.get("type") == "index_not_found_exception":
                raise Refused(404, reason)
            elif status < 300 or status == 404:
                continue
            elif status in _AWAY or error.get("type") == "cluster_block_exception":
                raise _away(reason)
            else:
                outcome.refused[result["_id"]] = reason
        return outcome

    def close(self) -> None:
        """End the connections."""
        self._client.close()


def _unreached(reason: str) -> str:
    """Why no answer came; with the setting that may not fit."""
    hint = next((hint for mark, hint in _HINTS.items() if mark in reason), "")
    return f"{reason}; {hint}" if hint else reason


def _away(reason: str) -> Unavailable:
    if any(mark in reason for mark in _FULL):
        detail = f"a node's disk is full and the index takes no more (free space there, it goes on by itself): {reason}"
        return Unavailable(SERVICE, detail, "full")
    return Unavailable(SERVICE, reason)


def _meaning(error: TransportError) -> Exception:
    status = error.status_code if isinstance(error.status_code, int) else 0
    reason = _text(_reason(error))
    if any(mark in reason for mark in _FULL) or status in _AWAY or "blocked by: [" in reason:
        return _away(reason)
    if status in (401, 403):
        hint = "see the settings opensearch_username, opensearch_password_env and opensearch_password_file"
        return NotAllowed(f"OpenSearch refuses its user ({status}): {reason}; {hint}")
    return Refused(status, reason)


def _reason(error: TransportError) -> str:
    """What the engine says, in its own words."""
    info = error.info
    if isinstance(info, Mapping):
        cause = info.get("error", info)
        if isinstance(cause, Mapping):
            root = cause.get("root_cause") or [{}]
            return str(root[0].get("reason") or cause.get("reason") or cause)
        return str(cause)
    return str(error.error)


def _text(text: object) -> str:
    return " ".join(str(text).split())[:_REASON]
