"""`gregor doctor`: a line for each thing, and an exit code that says whether something has to be mended."""

import resource
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.exporting import make
from gregor.worker.commands import cli
from gregor.worker.inspect import machine


@pytest.fixture
def silent() -> Iterator[str]:
    """A resolver that never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def door() -> Iterator[str]:
    """A server that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> "Doctor":
    monkeypatch.setattr(machine, "clock_is_kept", lambda: True)
    monkeypatch.setattr(machine, "disk", lambda _: (50 << 30, 100 << 30))
    monkeypatch.setattr(machine, "memory", lambda: 8 << 30)
    return Doctor(tmp_path, capsys)


class Doctor:
    """Runs the command on an empty folder, whatever else is set."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def __call__(self, *changes: str, code: int = 0) -> dict[str, str]:
        """Level and text by what was looked at."""
        words = ["doctor", "--name", "localhost", "--set", f"data={self._folder / 'data'}"]
        for change in ("user_agent=bot/1 (+https://www.kb.nl/bot)", *changes):
            words += ["--set", change]
        assert cli.main(words) == code
        lines = self._capsys.readouterr().out.splitlines()
        found: dict[str, str] = {}
        for line in lines:
            what = line[6:18].strip()
            found[what] = (
                f"{found[what]}; {line[:5].strip()} {line[19:]}" if what in found else f"{line[:5].strip()} {line[19:]}"
            )
        return found

    def again(self) -> dict[str, str]:
        """The same, after what another command has said."""
        self._capsys.readouterr()
        return self()


def test_all_is_well(doctor: Doctor) -> None:
    found = doctor()
    assert found.keys() == {"config", "clock", "open files", "memory", "reading", "data folder", "disk", "DNS", "speed"}
    assert all(text.startswith("ok ") for text in found.values()), found


def test_each_fault_is_named(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert doctor(f"concurrency={min(10000, most)}", "max_body=1", code=1)["open files"].startswith(f"fail {most} ")
    assert doctor("max_body=1000000000")["memory"].startswith("warn 8.0 GiB")
    assert doctor("operator_token_env=NOT_THERE", code=1)["config"].startswith("fail operator_token_env")
    assert doctor("robots=ignore")["config"].startswith("warn robots.txt is ignored")
    assert doctor("include=re:(", code=1)["config"].startswith("fail ")
    monkeypatch.setattr(machine, "clock_is_kept", lambda: False)
    assert doctor()["clock"].startswith("warn nothing keeps it right")
    monkeypatch.setattr(machine, "disk", lambda _: (5 << 30, 100 << 30))
    assert doctor()["disk"].startswith("warn 5.0 GiB of 100.0 GiB")
    monkeypatch.setattr(machine, "disk", lambda _: (1 << 20, 100 << 30))
    assert doctor(code=1)["disk"].startswith("fail ")


def test_a_resolver_that_does_not_answer(doctor: Doctor, silent: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["doctor", "--name", "a.example", "--set", f"resolver={silent}", "--set", "connect_timeout=0.2"]
    assert cli.main(words) == 1
    assert "fail  DNS" in capsys.readouterr().out
    assert doctor("proxy=http://127.0.0.1:1")["DNS"] == "ok the proxy looks names up"


def test_the_data_folder(doctor: Doctor, tmp_path: Path) -> None:
    assert doctor()["data folder"].endswith("will be made")
    (tmp_path / "data").mkdir()
    assert doctor()["data folder"].endswith("is empty")
    (tmp_path / "data" / "crawl.db").write_bytes(b"not a database, by no means")
    assert doctor(code=1)["data folder"].startswith("fail ")


def test_what_an_earlier_version_left_undone_is_named_with_what_mends_it(doctor: Doctor, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    make(folder, 20)  # pages without sketches
    generation = folder / "index" / "1"
    generation.mkdir(parents=True)
    (folder / "index" / "current").write_text("1 0")
    found = doctor()
    assert found["near"].startswith("warn ") and "`gregor rebuild-near`" in found["near"]
    assert found["index"].startswith("warn ") and "`gregor index --rebuild`" in found["index"]
    assert cli.main(["rebuild-near", "--data", str(folder)]) == 0
    assert doctor.again()["near"] == "ok near-duplicates of stored pages are found"


def test_servers_are_reached(doctor: Doctor, door: str, closed: str) -> None:
    there = [f"{server}={door}" for server in ("kafka", "zookeeper", "redis", "cassandra")]
    found = doctor("engine=cluster", *there, "server_timeout=0.5", code=1)  # nobody speaks behind that door
    for server, name in {
        "kafka": "Kafka",
        "zookeeper": "ZooKeeper",
        "redis": "Redis",
        "cassandra": "Cassandra",
    }.items():
        assert found[server].startswith(f"ok {door} accepts connections; fail {name} is unavailable: ")
    found = doctor("engine=cluster", *there, f"redis={door},{closed}", code=1)
    assert found["redis"] == f"ok {door} accepts connections; fail {closed} cannot be reached: Connection refused"


def test_where_it_would_listen(doctor: Doctor, closed: str) -> None:
    assert doctor(f"listen={closed}")["listen"] == f"ok {closed} is free"
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = f"127.0.0.1:{server.getsockname()[1]}"
        threading.Thread(target=_refuse_all, args=(server,), daemon=True).start()
        assert doctor(f"listen={where}")["listen"].startswith(f"ok {where} is served")


def _refuse_all(server: socket.socket) -> None:
    try:
        while True:
            server.accept()[0].close()
    except OSError:
        return
