"""Whether the worker in this container is well: exit code 0 or 1, and one line that says why.

It knows the settings that the worker has from the environment and the config file, not those of its command line.
Without `listen` nothing can be asked: then it only shows that the program loads.
"""

import http.client
import os
import sys

from gregor import __version__
from gregor.worker.base.errors import why
from gregor.worker.config.api import address
from gregor.worker.config.sources import load

_TIMEOUT = 3.0
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def main() -> int:
    """Ask once."""
    config = load(None, os.environ).config
    if not config.listen:
        print(f"gregor {__version__}; listen is not set")
        return 0
    host, port = address(config)
    connection = http.client.HTTPConnection(_EVERY_ADDRESS.get(host, host), port, timeout=_TIMEOUT)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        print(answer.status, answer.read(500).decode("ascii", "replace"))
    except (OSError, http.client.HTTPException) as error:
        print(f"{config.listen} does not answer: {why(error)}")
        return 1
    return 0 if answer.status == http.HTTPStatus.OK else 1


if __name__ == "__main__":
    sys.exit(main())
