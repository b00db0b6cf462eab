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

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import DATA, Flag, add_settings, settings
from gregor.worker.config.api import address, token
from gregor.worker.config.settings import Config
from gregor.worker.orders.model import KINDS, RULES, By, Kind, Order, check, give, name_of, take_back
from gregor.worker.orders.targets import target_of

_PATIENCE: Final = (10.0, 120.0)  # seconds, to connect and for an answer
_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class NotThere(Exception):
    """No API answers; the text says where it was looked for."""


def add_arguments(parser: argparse.ArgumentParser, *, host: bool = False, why: bool = False) -> None:
    """Whom to ask; the host of the order; why it is given."""
    if host:
        text = "www.example.org, with its port if unusual; *.example.org; * for the whole crawl"
        parser.add_argument("host", metavar="HOST", help=text)
    if why:
        parser.add_argument("--why", default="", metavar="TEXT", help="the reason, kept with the order")
    parser.add_argument("--api", metavar="URL", help="a worker's API; default: where listen says, if one answers there")
    add_settings(parser, (*DATA, Flag("--token-file", "operator_token_file", "FILE")))


def add_value(parser: argparse.ArgumentParser, kind: Kind, metavar: str) -> None:
    """The arguments of an order that has a value."""
    add_arguments(parser, host=True, why=True)
    parser.add_argument("value", metavar=metavar, help=f"{RULES[kind].unit}, or none to take the order back")


def run_value(arguments: argparse.Namespace, kind: Kind) -> int:
    """Give an order that has a value, or take it back."""
    if arguments.value == "none":
        taken_back(arguments, kind, arguments.host)
        return FINISHED
    try:
        value = float(arguments.value)
    except ValueError:
        raise BadInput(f"{one_line(arguments.value, 80)!r} must be a number ({RULES[kind].unit}) or none") from None
    ordered(arguments, kind, arguments.host, value)
    return FINISHED


def ordered(arguments: argparse.Namespace, kind: Kind, target: str = "", value: float | None = None) -> None:
    """Give an order. Raises `BadInput` and what reaching the coordinator raises."""
    order = Order(kind, target_of(kind, target), value)
    check(order)  # what cannot be is said before anybody is asked
    who = by(arguments)
    body: dict[str, Any] = {"who": who.who, "why": who.why}
    if value is not None:
        body["value"] = value
    if by_api(arguments, "PUT", _path(kind, order.target), body) is None:
        _directly(arguments, partial(give, order=order, by=who))


def taken_back(arguments: argparse.Namespace, kind: Kind, target: str = "") -> None:
    """Take an order back; nothing when it does not stand."""
    target = target_of(kind, target)
    _take_back(arguments, name_of(kind, target), _path(kind, target))


def taken_back_by_name(arguments: argparse.Namespace, name: str) -> None:
    """Take an order back by its name in the list, readable or not."""
    kind, _, target = name.partition(" ")
    known = next((one for one in KINDS if one == kind), None)
    unread = f"/api/v1/orders/unread/{quoted(name)}"
    _take_back(arguments, name, unread if known is None else _path(known, target))


def _take_back(arguments: argparse.Namespace, name: str, path: str) -> None:
    who = by(arguments)
    if by_api(arguments, "DELETE", path, {"who": who.who, "why": who.why}) is None:
        _directly(arguments, partial(take_back, name=name, by=who))


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


def by_api(arguments: argparse.Namespace, method: str, path: str, body: object = None) -> Any:
    """What the API answers, True for an empty answer; None when none answers and none was named by --api."""
    try:
        answer = ask(arguments, settings(arguments).config, method, path, body)
    except NotThere as error:
        if arguments.api:
            raise BadInput(str(error)) from None
        return None
    return True if answer is None else answer


def _directly(arguments: argparse.Namespace, change: Any) -> None:
    from gregor.worker.compose.engine import engine_of

    engine_of(settings(arguments).config).change_orders(change)
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


def _path(kind: Kind, target: str) -> str:
    return f"/api/v1/orders/{kind}" + (f"/{quoted(target)}" if target else "")


def quoted(text: str) -> str:
    """A text as a part of a path or a query."""
    return quote(text, safe="")


def by(arguments: argparse.Namespace) -> By:
    """Who gives an order, when and why."""
    who = f"{getpass.getuser()}@{socket.gethostname()}"
    return By(who, time.time(), getattr(arguments, "why", ""), f"command on {socket.gethostname()}")
