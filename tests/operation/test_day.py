"""A day on one machine: every command of docs/operations.md is typed, in its order, beside a crawl on loopback."""

import socket
import time
from pathlib import Path

import requests

from benchmarks import anyhost
from tests.operation.shell import Shell, commands, shell

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
ONE_MACHINE = PAGE[: PAGE.index("## A day on servers")]
PATIENCE = 120.0


def test_every_command_does_what_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with anyhost.serving(tmp_path) as table:
        variables = {
            "GREGOR_HOST_TABLE": str(table),
            "GREGOR_DELAY": "0.2",
            "GREGOR_DELAY_FACTOR": "0",
            "GREGOR_LINGER": "true",
        }
        with shell(tmp_path, variables) as typed:
            for command in commands(ONE_MACHINE):
                line = command.replace("https://", "http://").replace("127.0.0.1:9100", address)
                said = typed.run(line)
                assert said.code == 0, f"{line}: {said.text}\n{typed.logs()}"
                assert "Traceback" not in said.text
                if line.startswith("gregor crawl"):
                    wait_for_pages(typed, tmp_path, address)
                if line.startswith("gregor stop"):
                    wait_for_the_end(typed, address)


def wait_for_pages(typed: Shell, folder: Path, address: str) -> None:
    """The crawl answers, and has stored the seed and more."""
    headers = {"Authorization": f"Bearer {(folder / 'viewer-token').read_text().strip()}"}
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            answer = requests.get(f"http://{address}/api/v1/status", headers=headers, timeout=10)
            if answer.json()["counts"]["total_pages_200"] >= 2:
                return
        except requests.ConnectionError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"the crawl does not come on: {typed.logs()}")


def wait_for_the_end(typed: Shell, address: str) -> None:
    """Nobody answers any more, and the crawl has let go of its folder."""
    assert typed.run("wait").code == 0, typed.logs()
    with socket.socket() as probe:
        host, _, port = address.rpartition(":")
        assert probe.connect_ex((host, int(port))) != 0
