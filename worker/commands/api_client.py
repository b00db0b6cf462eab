"""A worker's API, as commands ask it: where it is, what it answers, and who asks."""

import argparse
import getpass
import os
import socket
import time
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec

from gregor.worker.api import opening
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.commands.common import DATA, Flag, add_settings, settings
from gregor.worker.config.api import address, token
from gregor.worker.config.settings import Config
from gregor.worker.orders.model import By

_TIMEOUTS: Final = (10.0, 120.0)  # seconds, to connect and for an answer
_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class NotThere(Exception):
    """No API answers; the text says where it was looked for."""


def add_arguments(
    parser: argparse.ArgumentParser, *, host: bool = False, why: bool = False, flags: Sequence[Flag] = ()
) -> None:
    """Whom to ask; the host of the order; why it is given; further ``flags`` of settings."""
    if host:
        text = "www.example.org, with its port if unusual; *.example.org; * for the whole crawl"
        parser.add_argument("host", metavar="HOST", help=text)
    if why:
        parser.add_argument("--why", default="", metavar="TEXT", help="the reason, kept with the order")
    parser.add_argument("--api", metavar="URL", help="a worker's API; default: where listen says, if one answers there")
    add_settings(parser, (*DATA, Flag("--token-file", "operator_token_file", "FILE"), *flags))


def ask(arguments: argparse.Namespace, config: Config, method: str, path: str, body: object = None) -> Any:
    """One request to the API; its JSON. Raises `NotThere`, and `BadInput` for what the API refuses."""
    import requests

    own_url, own_token = opening.place_and_token(config)
    url = arguments.api or (own_url if own_url and config.listen.endswith(":0") else _url(config)) or own_url
    if not url:
        raise NotThere("no API is configured: set listen, or name one with --api")
    secret = token(config, "operator", os.environ) or token(config, "viewer", os.environ)
    if not secret and opening.same(url, own_url):
        secret = own_token
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    try:
        with requests.Session() as session:
            session.trust_env = False  # a token goes to the worker itself, by no proxy
            answer = session.request(
                method, url.rstrip("/") + path, json=body, headers=headers, timeout=_TIMEOUTS, allow_redirects=False
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


def quoted(text: str) -> str:
    """A text as a part of a path or a query."""
    return quote(text, safe="")


def by(arguments: argparse.Namespace) -> By:
    """Who gives an order, when and why."""
    who = getattr(arguments, "who", "") or f"{getpass.getuser()}@{socket.gethostname()}"
    return By(who, time.time(), getattr(arguments, "why", ""), f"command on {socket.gethostname()}")


def _detail(content: bytes) -> str:
    try:
        detail = msgspec.json.decode(content, type=dict[str, Any]).get("detail", "")
    except msgspec.MsgspecError:
        return "no reason given"
    return one_line(str(detail), 300).rstrip(".")


def _url(config: Config) -> str:
    if not config.listen:
        return ""
    host, port = address(config)
    host = _ANYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
