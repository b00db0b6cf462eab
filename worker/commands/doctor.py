"""`gregor doctor`: what could keep a crawl from going well here, a line each, and what limits the one that runs.

Exit code 1 when something has to be mended first.
"""

import argparse
import asyncio
import os

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FAILED, FINISHED, api_client
from gregor.worker.commands.common import settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A name to look up, and whom to ask."""
    parser.add_argument("--name", default="example.org", metavar="HOST", help="a host to look up; default: example.org")
    api_client.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look at everything."""
    failed = asyncio.run(_examine(arguments))
    return FAILED if failed or not _speed(arguments) else FINISHED


async def _examine(arguments: argparse.Namespace) -> bool:
    from gregor.worker.compose.doctor import examine

    failed = False
    async for finding in examine(settings(arguments).config, arguments.name, os.environ):
        _say(finding.level, finding.what, finding.text)
        failed = failed or finding.level == "fail"
    return failed


def _speed(arguments: argparse.Namespace) -> bool:
    """What limits the crawl that runs, if one can be asked; False when one should answer and refuses."""
    try:
        now = api_client.ask(arguments, settings(arguments).config, "GET", "/api/v1/status")["now"]
    except api_client.NotThere as error:
        _say("fail" if arguments.api else "ok", "speed", f"no crawl is asked: {error}")
        return not arguments.api
    except BadInput as error:
        _say("fail", "speed", str(error))
        return False
    _say("ok", "speed", f"{now['state']}, limited by {now['limiting']}; {now['advice']}")
    return True


def _say(level: str, what: str, text: str) -> None:
    print(f"{level:<5} {what:<12} {one_line(text)}")
