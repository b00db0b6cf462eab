"""`gregor crawl --processes`: one crawl by several processes, of which any may be killed."""

import json
import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.measure import begun_by
from tests.endtoend import small_web
from tests.endtoend.test_kill_and_resume import PATIENCE, check_politeness, gregor, result, run

HOSTS = len(small_web.FAST) + 1


def test_another_process_goes_on_where_one_was_killed(tmp_path: Path) -> None:
    chance = random.Random(3)
    with small_web.serving() as web:
        with gregor(*web.command_line(tmp_path), "--processes", "3", "--json") as crawl:
            for requests in (8, 40):
                assert web.wait_for(requests, PATIENCE)
                os.kill(chance.choice(begun_by(crawl.pid)), signal.SIGKILL)
            out, errors = crawl.communicate(timeout=PATIENCE)
        assert crawl.returncode == 0, errors.decode()
        assert errors.count(b"(signal 9): another one goes on with its partitions") == 2
        report = json.loads(out)
        assert report["reason"] == "finished"
        check_politeness(web)
        again = Counter((request.host, request.path) for request in web.log)
        assert max(again.values()) <= 2
        assert sum(count - 1 for count in again.values()) <= 2 * HOSTS
    run("audit", "--data", str(tmp_path / "data"))
    run("check", "--data", str(tmp_path / "data"))
    assert report["total_pages_200"] == sum(page[1] == 200 for page in result(tmp_path).values())


def test_a_budget_is_that_of_all(tmp_path: Path) -> None:
    """Whatever the number of processes, which differs from run to run."""
    with small_web.serving() as web:
        for processes, pages in (("4", 17), ("1", 20), ("2", 29)):
            line = [*web.command_line(tmp_path), "--processes", processes, "--max-pages", str(pages), "--json"]
            assert json.loads(run(*line))["total_pages_200"] == pages


@pytest.mark.parametrize("given", ["0", "some", "65", "1.5", "-2"])
def test_what_is_no_number_of_processes_is_refused(tmp_path: Path, given: str) -> None:
    with gregor("crawl", "http://a.test/", "--data", str(tmp_path), f"--processes={given}") as refused:
        _, errors = refused.communicate(timeout=PATIENCE)
    assert refused.returncode == 2
    assert errors.startswith(b"gregor: processes ")
    assert errors.count(b"\n") == 1
