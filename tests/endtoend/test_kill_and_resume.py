"""The real process, killed and stopped at random moments: the same command goes on until all of it is crawled."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.endtoend import small_web
from tests.endtoend.small_web import CRAWL_DELAY, DELAY, FAST, SLOW, Asked, SmallWeb

KILLS = 5
LAG = 0.6
"""Seconds that the server may note a request too late, since it shares the processor with the crawl."""
PATIENCE = 60.0


def gregor(*words: str) -> "subprocess.Popen[bytes]":
    line = [sys.executable, "-m", "gregor.worker.commands.cli", *words]
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(*words: str, code: int = 0) -> bytes:
    """Standard output of a command."""
    with gregor(*words) as process:
        out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, errors.decode(errors="replace")
    return out


def result(folder: Path) -> dict[str, Any]:
    """What the crawl says of every URL, but for what depends on the order in which copies were met."""
    pages = [json.loads(line) for line in run("pages", "--data", str(folder / "data"), "--jsonl").splitlines()]
    found = {}
    for page in pages:
        copy = page["url"].endswith("/copy")
        state = "fetched or duplicate" if copy else page["state"]
        links = sorted(link["url"] for link in page["links"] or ())
        found[page["url"]] = (state, page["status"], page["sha256"], page["title"], page["redirected_to"], links)
    assert len(found) == len(pages)
    assert Counter(page["state"] for page in pages if page["url"].endswith("/copy"))["fetched"] == 1
    return found


def unlucky(runs: list[list[Asked]]) -> list[Asked]:
    """Requests that were made again although they were not in flight when a run ended.

    A host is asked one thing at a time: what was in flight is the last request of each host, and nothing before it.
    """
    found: list[Asked] = []
    before: dict[tuple[str, str], bool] = {}  # whether it was the last one of its host in its run
    for requests in runs:
        last = {request.host: request for request in requests}
        now: dict[tuple[str, str], bool] = {}
        for request in requests:
            where = (request.host, request.path)
            found += [request] if where in now or not before.get(where, True) else []
            now[where] = request is last[request.host]
        before |= now
    return found


def impolite(log: list[Asked], host: str, delay: float) -> list[tuple[Asked, Asked]]:
    """Requests to a host that are closer than their number allows."""
    mine = list(enumerate(request for request in log if request.host == host))
    pairs = combinations(mine, 2)
    return [(one, two) for (i, one), (j, two) in pairs if two.at - one.at < (j - i) * delay - LAG]


def check_politeness(web: SmallWeb) -> None:
    pages = [request for request in web.log if request.path != "/robots.txt"]
    assert not impolite(pages, SLOW, CRAWL_DELAY)
    assert not [pair for host in FAST for pair in impolite(web.log, host, DELAY)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    with small_web.serving() as web:
        run(*web.command_line(folder))
        assert not unlucky([web.log])
        check_politeness(web)
    return result(folder)


@pytest.mark.parametrize("processes", [1, 2])
def test_killed_at_random_moments_it_finishes_as_if_it_had_not_been(
    undisturbed: dict[str, Any], tmp_path: Path, processes: int
) -> None:
    chance = random.Random(1)
    runs: list[list[Asked]] = []
    with small_web.serving() as web:
        line = [*web.command_line(tmp_path), "--processes", str(processes)]
        for number in range(KILLS):
            begun = len(web.log)
            with gregor(*line) as process:
                if number % 3:  # else while it starts
                    assert web.wait_for(begun + 1, PATIENCE)
                time.sleep(chance.uniform(0.0, 0.8))
                assert process.poll() is None, "it ended before it was killed"
                process.kill()
                process.communicate()
            runs.append(web.log[begun : web.settled()])
        begun = len(web.log)
        run(*line)
        runs.append(web.log[begun:])
        check_politeness(web)
        assert not unlucky(runs)
        assert sum(bool(requests) for requests in runs) > KILLS // 2
    run("audit", "--data", str(tmp_path / "data"))  # ends with 1 when it finds a violation
    assert result(tmp_path) == undisturbed


@pytest.mark.parametrize("processes", [1, 3])
def test_stopped_by_signals_it_repeats_nothing(undisturbed: dict[str, Any], tmp_path: Path, processes: int) -> None:
    with small_web.serving() as web:
        line = [*web.command_line(tmp_path), "--processes", str(processes)]
        for number in (signal.SIGINT, signal.SIGTERM):
            with gregor(*line, "--json") as process:
                assert web.wait_for(len(web.log) + 15, PATIENCE)
                process.send_signal(number)
                out, _ = process.communicate(timeout=PATIENCE)
            assert (process.returncode, json.loads(out)["reason"]) == (3, "stopped")
        run(*line)
        check_politeness(web)
        assert set(Counter((one.host, one.path) for one in web.log).values()) == {1}
        asked = len(web.log)
        assert b"othing is left to do" in run(*line)
        assert web.settled() == asked
    assert result(tmp_path) == undisturbed


def test_requests_that_are_too_close_are_found() -> None:
    log = [Asked(at, "a", "/") for at in (0.0, 0.9, 2.1, 2.4)]
    assert impolite(log, "a", 1.0) == [(log[2], log[3])]
    assert not impolite(log, "b", 1.0)


def test_what_was_in_flight_is_told_from_what_was_not() -> None:
    first, second, third = (Asked(0.0, "a", path) for path in ("/1", "/2", "/3"))
    assert not unlucky([[first, second], [second, third], [third]])
    assert unlucky([[first, second], [first]]) == [first]
    assert unlucky([[first, second], [second, second]]) == [second]
    assert unlucky([[first], [second], [third], [first]]) == []
