"""A console on loopback without tokens opens for the user who started it, and for nobody else."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from gregor.worker.api import opening
from gregor.worker.base.errors import BadInput
from gregor.worker.config.settings import Config, replace
from tests.endtoend.site import Here, Web


class Running:
    """A crawl with a console, until the test ends it."""

    def __init__(self, web: Web, *words: str) -> None:
        command = [sys.executable, "-m", "gregor", "crawl", "http://a.test/", *web.flags, *words]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.data = Path(web.flags[1])
        self.lines: list[str] = []

    def line(self, part: str) -> str:
        """The next line of standard error that has this part."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if part in line:
                return line.strip()
        raise AssertionError(self.lines)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


@pytest.fixture
def running(web: Web) -> Iterator[Running]:
    web.page("a.test/", "".join(f'<a href="/{number}">x</a>' for number in range(200)))
    crawl = Running(web, "--delay", "0.5", "--console", "127.0.0.1:0", "--set", "progress_interval=0.2")
    yield crawl
    crawl.stop()


def test_who_started_it_can_open_it(running: Running, web: Web, here: Here) -> None:
    url, _, token = running.line("the console is at ").rpartition("at ")[2].partition("#token=")
    kept = running.data / "console-token"
    assert kept.read_text().strip() == token
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE((running.data / "console.json").stat().st_mode) == 0o600
    asked = url + "api/v1/status"
    assert requests.get(asked, timeout=10).status_code == 401
    assert requests.get(asked, headers={"Authorization": f"Bearer {token}"}, timeout=10).status_code == 200
    running.line("0 errors")
    assert "pages/s" in here.said("status", *web.flags[:2])
    assert "pages/s" in here.said("status", *web.flags[:2], "--api", url.replace("127.0.0.1", "localhost"))
    here.said("pause", *web.flags[:2])
    assert "no API answers" not in here.err
    here.said("resume", *web.flags[:2])
    here.said("drain", "nosuchworker", *web.flags[:2], code=1)
    assert "no worker 'nosuchworker' runs; there are: " in here.err
    assert here.said("orders", *web.flags[:2]) == "no orders stand\n"
    running.stop()
    assert not (running.data / "console.json").exists()
    assert kept.read_text().strip() == token, "the next run has the same, so that an open console goes on"
    assert "lag" in here.said("status", *web.flags[:2])


def test_a_token_goes_only_to_a_process_that_runs(tmp_path: Path) -> None:
    config = replace(Config(), data=str(tmp_path), listen="127.0.0.1:0")
    opened = opening.with_token(config)
    with opening.announced(opened, "http://127.0.0.1:1/"):
        assert opening.place_and_token(config) == (
            "http://127.0.0.1:1/",
            (tmp_path / "console-token").read_text().strip(),
        )
        place = (tmp_path / "console.json").read_text()
    assert opening.place_and_token(config) == ("", "")
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / "console.json").write_text(place.replace(f'"pid":{os.getpid()}', f'"pid":{ended.pid}'))
    assert opening.place_and_token(config) == ("", "")


def test_what_has_tokens_or_is_reachable_by_others_gets_none(tmp_path: Path) -> None:
    for changes in (
        {"listen": "127.0.0.1:0", "viewer_token_env": "X"},
        {"listen": "0.0.0.0:0"},
        {"listen": ""},
    ):
        config = replace(Config(), data=str(tmp_path / "none"), **changes)
        assert opening.with_token(config) is config
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="operator_token_file"):
        opening.with_token(replace(Config(), data=str(tmp_path / "file" / "x"), listen="[::1]:0"))


def test_no_token_is_put_where_everybody_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A volume of a container: of root's, as a rule. What others may read without a token runs without one."""
    tmp_path.chmod(0o777)
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    config = replace(Config(), data=str(tmp_path), listen="127.0.0.1:0")
    with pytest.raises(BadInput, match="is not yours: set operator_token_file"):
        opening.with_token(config)
    everybody = replace(config, anonymous_read=True)
    assert opening.with_token(everybody) is everybody
    assert list(tmp_path.iterdir()) == []


def test_a_console_beside_a_finished_crawl(web: Web, here: Here) -> None:
    web.page("a.test/", "there")
    here.report("http://a.test/", *web.flags)
    command = [sys.executable, "-m", "gregor", "console", *web.flags[:2], "--listen", "localhost:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as console:
        assert console.stderr is not None
        line = next(line for line in console.stderr if "the console is at" in line)
        url, _, token = line.strip().rpartition("at ")[2].partition("#token=")
        headers = {"Authorization": f"Bearer {token}"}
        assert requests.get(url + "api/v1/status", headers=headers, timeout=10).status_code == 200
        console.send_signal(signal.SIGINT)
        assert console.wait(30) == 0
