"""One run of a reported case: players, crawler, judgement. A process of its own, so that it can have its own network.

`python -m tests.web.case_run PLAY CASE FOLDER [--again N] [--own-network]` prints {"failures": [{"expected", "seen"}]}.
"""

import argparse
import fcntl
import functools
import json
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.web import crawler, player
from tests.web.judge import Seen, judge

DEFAULTS: dict[str, Any] = {
    "scope": "any",
    "delay": 0.1,
    "max_pages": 20,
    "max_depth": 5,
    "connect_timeout": 2,
    "read_timeout": 3,
    "total_timeout": 10,
    "max_body": 2097152,
    "retries": 1,
    "retry_pause": 0.5,
    "cookies": "off",
    "meta_refresh": "off",
    "sitemaps": "off",
    "nofollow": "on",
}
"""The options of every run (cases/README.md, "run.options")."""

RESOLVER = "resolver"
"""An option that asks for what every run does here anyway: names are looked up at the player."""

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def loopback_up() -> None:
    """Switches on the loopback interface of a new network namespace, as `ip link set lo up` does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def limit(check: Sequence[dict[str, Any]]) -> float:
    """After how many seconds the crawler is killed."""
    return min(float(assertion["ends_within_s"]) for assertion in check if "ends_within_s" in assertion)


def command_line(run: dict[str, Any], cas: Sequence[Path], folder: Path) -> tuple[list[str], dict[str, str]]:
    """The crawler's arguments for a run, and the secrets for its environment."""
    options = DEFAULTS | run.get("options", {})
    options.pop(RESOLVER, None)
    text, secrets = crawler.config_file(options)
    (folder / "case.toml").write_text(text)
    line = [*run["seeds"], *crawler.arguments(options), "--config", str(folder / "case.toml")]
    line += ["--resolver", f"{player.ADDRESS}:{player.DNS_PORT}"]
    for address in (player.ADDRESS, *run.get("play", {}).get("listen", ())):
        line += ["--allow-network", f"{address}/{128 if ':' in address else 32}"]
    if cas:
        (folder / "ca.pem").write_text("".join(ca.read_text() for ca in cas))
        line += ["--ca-file", str(folder / "ca.pem")]
    return line, secrets


def run_case(play: Path, case: Path, again: int, folder: Path) -> list[dict[str, Any]]:
    """Plays and crawls one run of the case; returns the assertions that failed, with what was seen instead."""
    whole = json.loads(case.read_text(encoding="utf-8"))
    spec = [whole, *whole.get("again", ())][again]
    more = spec["run"].get("play", {})
    with ExitStack() as stack:

        def start(address: str, name: str, *ports: int) -> player.Player:
            return stack.enter_context(player.playing(play, case, address, folder / f"{name}.log", ports or (80, 8081)))

        players = [start(player.ADDRESS, "player")]
        players += [start(address, f"listen-{n}") for n, address in enumerate(more.get("listen", ()))]
        traps = [start(address, f"trap-{n}", 80) for n, address in enumerate(more.get("traps", ()))]
        line, secrets = command_line(spec["run"], [one.ca for one in players if one.ca], folder)
        data = folder / "data"
        ended = crawler.crawl(line, data, limit(spec["check"]), secrets)
    logs = [player.read(one.log) for one in players]
    seen = Seen(
        requests=sorted((request for requests, _ in logs for request in requests), key=lambda request: request.at),
        ends=[end for _, ends in logs for end in ends],
        ended=ended,
        record=functools.cache(lambda url: crawler.record(url, data)),
    )
    failures = [
        {"expected": assertion, "seen": verdict}
        for assertion in spec["check"]
        if (verdict := judge(assertion, seen)) is not None
    ]
    for trap in traps:
        trapped = [request.address for request in player.read(trap.log)[0]]
        if trapped:
            failures.append({"expected": {"no request to a trap": trap.log.stem}, "seen": ", ".join(trapped)})
    if failures:
        failures.append({"expected": "(its output)", "seen": ended.said()[-2000:]})
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Run one reported case.")
    parser.add_argument("play", type=Path)
    parser.add_argument("case", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--again", type=int, default=0, help="which run of the case: 0 is the first")
    parser.add_argument("--own-network", action="store_true", help="this process is in a new network namespace")
    options = parser.parse_args()
    if options.own_network:
        loopback_up()
    print(json.dumps({"failures": run_case(options.play, options.case, options.again, options.folder)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
