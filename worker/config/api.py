"""The settings of the API that a worker serves: a part of the crawl's settings. Secrets are never in the config."""

import ipaddress
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line
from gregor.worker.config.native import Native

_ADDRESS = re.compile(r"(?:(?P<name>[a-z0-9.-]+)|\[(?P<six>[0-9a-f:.]+)\]):(?P<port>[0-9]{1,5})", re.IGNORECASE)
SHORTEST_TOKEN = 16


class Api(Native, frozen=True, kw_only=True):
    """Where the API listens and whom it answers."""

    listen: Annotated[
        str, Meta(description="ADDRESS:PORT of metrics, API and console; port 0: any free one; empty: off")
    ] = ""
    anonymous_read: Annotated[
        bool, Meta(description="whoever reaches a loopback address may read without a token; orders still need one")
    ] = False
    viewer_token_env: Annotated[str, Meta(description="environment variable with the token of those who read")] = ""
    viewer_token_file: Annotated[str, Meta(description="file with it")] = ""
    operator_token_env: Annotated[str, Meta(description="environment variable with the token of those who order")] = ""
    operator_token_file: Annotated[str, Meta(description="file with it")] = ""
    api_rate: Annotated[float, Meta(gt=0, description="requests a second that the API answers; more get 429")] = 100.0


def address(api: Api) -> tuple[str, int]:
    """Host and port of `listen`. Raises `BadInput`."""
    match = _ADDRESS.fullmatch(api.listen)
    if match is None or int(match["port"]) > 65535:
        raise BadInput(f"listen {one_line(api.listen, 80)!r} must be ADDRESS:PORT, for example 127.0.0.1:9100")
    return match["name"] or match["six"], int(match["port"])


def reachable(url: str, peer: str) -> str:
    """A URL at which an API listens as others reach it: for "any address", the one by which this machine reaches
    ``peer`` (HOST:PORT); the URL as it is where no address is found. Nothing is sent."""
    port = url.rstrip("/").rpartition(":")[2]
    if url not in (f"http://0.0.0.0:{port}/", f"http://[::]:{port}/"):
        return url
    host, _, where = peer.rpartition(":")
    try:
        family, kind, *_, to = socket.getaddrinfo(host.strip("[]"), where, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(to)
            own = probe.getsockname()[0]
    except OSError:
        return url
    return f"http://[{own}]:{port}/" if ":" in own else f"http://{own}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether a host as it is written in an address is this machine's own."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_api(api: Api) -> None:
    """What types cannot say. Raises `BadInput`."""
    if not api.listen:
        return
    host, _ = address(api)
    if api.anonymous_read and not is_loopback(host):
        raise BadInput(f"anonymous_read is for a loopback address only, not for {one_line(host)}: use viewer_token_env")


def token(api: Api, role: str, environ: Mapping[str, str]) -> str:
    """The token of "viewer" or "operator"; empty when none is set. Raises `BadInput` naming the setting."""
    variable: str = getattr(api, f"{role}_token_env")
    path: str = getattr(api, f"{role}_token_file")
    if variable and path:
        raise BadInput(f"{role}_token_env and {role}_token_file exclude each other")
    if not variable and not path:
        return ""
    where = f"{role}_token_{'env' if variable else 'file'} {one_line(variable or path)}"
    try:
        value = environ.get(variable, "") if variable else Path(path).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: cannot be read: {why(error)}") from None
    if len(value) < SHORTEST_TOKEN or not value.isascii() or not value.isprintable() or " " in value:
        raise BadInput(f"{where}: a token is at least {SHORTEST_TOKEN} characters of ASCII without spaces")
    return value
