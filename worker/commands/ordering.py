"""What the commands of an operator share: they speak to the API where one runs, else to what coordinates the crawl."""

import argparse
import getpass
import os
import socket
import time
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import msgspec

from gregor.worker.borders import Orders
from gregor.worker.commands.common import DATA, Flag, add_settings, settings
from gregor.worker.config import Config
from gregor.worker.config_api import address, token
from gregor.worker.errors import BadInput, complain
from gregor.worker.orders import Kind, Order, give, host_of, take_back
from gregor.worker.text import one_line

_PATIENCE: Final = 10.0
_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class NotThere(Exception):
    """No API answers; the text says where it was looked for."""


def add_arguments(parser: argparse.ArgumentParser, *, host: bool = False, why: bool = False) -> None:
    """Whom to ask; the host of the order; why it is given."""
    if host:
        parser.add_argument("host", metavar="HOST", help="www.example.org, with its port if unusual; *.example.org")
    if why:
        parser.add_argument("--why", default="", metavar="TEXT", help="the reason, kept with the order")
    parser.add_argument("--api", metavar="URL", help="a worker's API; default: where listen says, if one answers there")
    add_settings(parser, (*DATA, Flag("--token-file", "operator_token_file", "FILE")))


def ordered(arguments: argparse.Namespace, kind: Kind, seconds: float | None = None) -> None:
    """Give an order. Raises `BadInput` and what reaching the coordinator raises."""
    host = host_of(arguments.host) if kind != "pause" else ""
    order = Order(kind, host, seconds, who(), time.time(), arguments.why)
    change = partial(give, order=order)
    body: dict[str, Any] = {"who": order.who, "why": order.why}
    if seconds is not None:
        body["seconds"] = seconds
    change(Orders())  # what cannot be is said before anybody is asked
    if not _by_api(arguments, "PUT", _path(kind, host), body):
        _directly(arguments, change)


def taken_back(arguments: argparse.Namespace, kind: Kind) -> None:
    """Take an order back; nothing when it does not stand."""
    host = host_of(arguments.host) if kind != "pause" else ""
    if not _by_api(arguments, "DELETE", _path(kind, host), {"who": who()}):
        _directly(arguments, partial(take_back, kind=kind, host=host))


def ask(arguments: argparse.Namespace, config: Config, method: str, path: str, body: object = None) -> Any:
    """One request to the API; its JSON. Raises `NotThere`, and `BadInput` for what the API refuses."""
    import requests

    url = arguments.api or _url(config)
    if not url:
        raise NotThere("no API is configured: set listen, or name one with --api")
    secret = token(config, "operator", os.environ) or token(config, "viewer", os.environ)
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    try:
        with requests.Session() as session:
            session.trust_env = False  # a token goes to the worker itself, by no proxy
            answer = session.request(
                method, url.rstrip("/") + path, json=body, headers=headers, timeout=_PATIENCE, allow_redirects=False
            )
    except requests.RequestException as error:
        if arguments.api and not isinstance(error, requests.ConnectionError):
            raise BadInput(f"--api {one_line(arguments.api, 200)}: {one_line(str(error), 200)}") from None
        raise NotThere(f"no API answers at {one_line(url, 200)}") from None
    if not answer.ok or answer.is_redirect:
        raise BadInput(f"the API at {one_line(url, 200)} refused ({answer.status_code}): {_detail(answer.content)}")
    return msgspec.json.decode(answer.content) if answer.content else None


def _by_api(arguments: argparse.Namespace, method: str, path: str, body: object) -> bool:
    config = settings(arguments).config
    try:
        ask(arguments, config, method, path, body)
    except NotThere as error:
        if arguments.api:
            raise BadInput(str(error)) from None
        return False
    return True


def _directly(arguments: argparse.Namespace, change: Any) -> None:
    from gregor.worker import composition

    composition.change_orders(settings(arguments).config, change)
    complain("no API answers: the order was left for the crawl, which obeys it as soon as it runs")


def _detail(content: bytes) -> str:
    try:
        found = msgspec.json.decode(content, type=dict[str, Any]).get("detail", "")
    except msgspec.MsgspecError:
        return "no reason given"
    return one_line(str(found), 300).rstrip(".")


def _url(config: Config) -> str:
    if not config.listen:
        return ""
    host, port = address(config)
    host = _ANYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _path(kind: Kind, host: str) -> str:
    return f"/api/v1/orders/{kind}" + (f"/{quote(host, safe='')}" if host else "")


def who() -> str:
    """Who gives an order."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
