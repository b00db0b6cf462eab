"""The operator's commands: by the API where one answers, else straight into the data folder."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from gregor.worker.adapters.embedded import change_orders, open_engine, standing_orders
from gregor.worker.commands import cli
from gregor.worker.compose.process import SystemClock
from gregor.worker.observe.bottleneck import ADVICE
from gregor.worker.orders.model import By, Order, give
from tests.endtoend.operated import OPERATOR, VIEWER, Operated, operated


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIEW", VIEWER)
    monkeypatch.setenv("OPERATE", OPERATOR)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    async def make() -> None:
        await (await open_engine(tmp_path / "data", 2, "", SystemClock())).close()

    asyncio.run(make())
    return tmp_path / "data"


def gregor(folder: Path, *words: str, code: int = 0) -> None:
    assert cli.main([words[0], "--data", str(folder), *words[1:]]) == code


def test_without_an_api_orders_are_left_in_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gregor(folder, "pause", "--why", "the site complains\n")
    gregor(folder, "block", "https://Bad.example/x", "--why", "asked by mail")
    gregor(folder, "delay", "*.slow.example", "9.5")
    found = standing_orders(folder)
    assert found.by_name.keys() == {"pause", "block bad.example", "delay *.slow.example"}
    assert found.of("delay") == {"*.slow.example": 9.5}
    capsys.readouterr()
    gregor(folder, "orders")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["pause", "block", "delay"]
    assert lines[0].endswith("the site complains\\n")
    gregor(folder, "orders", "--json")
    told = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["kind"], one["target"], one["value"], one["why"]) for one in told] == [
        ("pause", "", None, "the site complains\n"),
        ("block", "bad.example", None, "asked by mail"),
        ("delay", "*.slow.example", 9.5, ""),
    ]
    gregor(folder, "resume")
    gregor(folder, "unblock", "bad.example")
    gregor(folder, "delay", "*.slow.example", "none")
    assert not standing_orders(folder).by_name
    capsys.readouterr()
    gregor(folder, "orders")
    assert capsys.readouterr().out == "no orders stand\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["block", "a b"], "not a host"),
        (["delay", "a.example", "fast"], "'fast' must be a number (seconds) or none"),
        (["delay", "a.example", "1e9"], "a delay is a number from 0 to 86400 seconds"),
        (["stop"], "SIGTERM"),
        (["pause", "--api", "http://127.0.0.1:1"], "no API answers at http://127.0.0.1:1"),
        (["pause", "--api", "nonsense"], "--api nonsense"),
        (["pause", "--token-file", "/does/not/exist", "--api", "http://127.0.0.1:1"], "operator_token_file"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    gregor(folder, *words, code=2)
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1
    assert not standing_orders(folder).by_name


def test_a_folder_without_a_crawl_takes_no_orders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gregor(tmp_path / "nothing", "pause", code=2)
    assert "holds no crawl" in capsys.readouterr().err


def test_where_an_api_answers_it_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def case(worker: Operated) -> None:
        at_the_api = ("--set", "operator_token_env=OPERATE", "--api", worker.url)

        async def command(*words: str, code: int = 0, token: str = "OPERATE") -> None:
            flags = ("--set", f"operator_token_env={token}", "--api", worker.url)
            await asyncio.to_thread(gregor, tmp_path / "unused", *words, *flags, code=code)

        await command("pause", "--why", "by test")
        assert worker.runtime.services.coordinator.orders().paused
        await command("delay", "h0.example", "2")
        await command("block", "[::1]:8080")
        capsys.readouterr()
        await command("orders")
        told = capsys.readouterr().out.splitlines()
        assert told[0].startswith("pause")
        assert told[0].endswith("by test")
        assert [line.split()[:2] for line in told[1:]] == [["block", "[::1]:8080"], ["delay", "h0.example"]]
        await worker.until(lambda: worker.runtime.stats.limit == "paused")
        await command("status", "--data", str(tmp_path / "data"))
        status = capsys.readouterr().out
        assert status.startswith("paused, ")
        assert "limited by an order to pause\n" in status
        await asyncio.to_thread(gregor, tmp_path / "data", "doctor", "--name", "localhost", *at_the_api)
        speed = capsys.readouterr().out.splitlines()[-1].split(maxsplit=2)
        assert speed[:2] == ["ok", "speed"]
        assert speed[2] == f"paused, limited by an order to pause; {ADVICE['paused']}"
        await command("unblock", "[::1]:8080")
        await command("delay", "h0.example", "none")
        await command("resume", code=2, token="VIEW")
        assert "refused (403): This needs the token of an operator" in capsys.readouterr().err
        await command("resume")
        assert worker.runtime.services.coordinator.orders().by_name == {}
        await command("stop", "--why", "upgrade")
        await worker.until(lambda: worker.runtime.ending is not None)

    async def run() -> None:
        async with operated(tmp_path / "data") as worker:
            await case(worker)

    asyncio.run(run())


def test_every_kind_is_given_and_taken_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gregor(folder, "rate", "*", "2.5", "--why", "at night")
    gregor(folder, "concurrency", "*.a.example", "3")
    gregor(folder, "priority", "A.example", "1")
    gregor(folder, "budget", "*", "1000")
    change_orders(folder, lambda orders: give(orders, Order("drain", "worker-7"), By("x", 1.0, "", "command on x")))
    assert sorted((one.name, one.value) for one in standing_orders(folder).by_name.values()) == [
        ("budget *", 1000.0),
        ("concurrency *.a.example", 3.0),
        ("drain worker-7", None),
        ("priority a.example", 1.0),
        ("rate *", 2.5),
    ]
    gregor(folder, "orders", "--take-back", "rate *", "--why", "it is morning")
    for words in (["concurrency", "*.a.example", "none"], ["priority", "a.example", "none"], ["budget", "*", "none"]):
        gregor(folder, *words)
    gregor(folder, "undrain", "worker-7")
    assert not standing_orders(folder).by_name
    capsys.readouterr()
    gregor(folder, "orders", "--audit")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert "took back rate *" in lines[4]
    assert lines[4].endswith(": it is morning")
    gregor(folder, "orders", "--audit", "--json", "--limit", "2")
    told = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["number"], one["what"]) for one in told] == [
        (10, "took back drain worker-7"),
        (9, "took back budget *"),
    ]
    assert told[0]["where"].startswith("command on ")


def test_what_cannot_be_read_is_listed_and_taken_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = msgspec.msgpack.encode({"kind": "render"})
    change_orders(folder, lambda orders: msgspec.structs.replace(orders, unread={"render a.example": later}))
    gregor(folder, "pause")
    capsys.readouterr()
    gregor(folder, "orders")
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["pause", "unreadable"]
    gregor(folder, "orders", "--take-back", "render a.example")
    assert list(standing_orders(folder).by_name) == ["pause"]
    assert not standing_orders(folder).unread


def test_seeds_and_recrawls_go_by_the_api(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def case(worker: Operated) -> None:
        async def command(*words: str, code: int = 0) -> str:
            flags = ("--set", "operator_token_env=OPERATE", "--api", worker.url)
            await asyncio.to_thread(gregor, tmp_path / "unused", *words, *flags, code=code)
            said = capsys.readouterr()
            return said.out + said.err

        many = tmp_path / "seeds"
        many.write_text("".join(f"http://h0.example/seed{number}\n" for number in range(1203)))
        assert await command("seed", "http://h1.example/new", "--seeds", str(many)) == "1204 seeds published\n"
        url = "http://h0.example/0"
        await worker.until_state(url)
        assert "1 URL to be visited again" in await command("recrawl", url)
        await worker.until(lambda: sum(request.href == url for request in worker.transport.requests) == 2)
        assert "has no record" in await command("recrawl", "http://nobody.example/", code=1)
        assert "Number 1 is not an http(s) URL" in await command("recrawl", "nonsense", code=2)
        assert "0 URLs to be visited again" in await command("deadletters", "--retry", "--cause", "timeout")
        assert "0 dead letters dropped" in await command("deadletters", "--drop", "--cause", "timeout")
        assert "no worker 'worker-9' runs; there are: worker-1" in await command("drain", "worker-9", code=1)
        assert await command("drain", "worker-1", "--why", "upgrade") == ""
        await worker.until(lambda: not worker.runtime.owned)
        audit = (await command("orders", "--audit")).splitlines()
        done = " ".join(line.split()[2] for line in audit)
        assert done == "drain drop retry recrawl seed seed seed"
        assert "from 127.0.0.1: upgrade" in audit[0]
        data = tmp_path / "data"
        await asyncio.to_thread(gregor, data, "recrawl", url, code=2)
        said = capsys.readouterr().err
        assert "in use by process" in said
        assert "--api" in said

    async def run() -> None:
        async with operated(tmp_path / "data") as worker:
            await case(worker)

    asyncio.run(run())


def test_without_an_api_they_are_left_for_the_crawl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, url = tmp_path / "data", "http://h0.example/0"

    async def crawled() -> None:
        async with operated(data) as worker:
            await worker.until_state(url)

    async def goes_on() -> None:
        async with operated(data) as worker:
            await worker.until_state("http://h1.example/399")
            await worker.until(lambda: sum(request.href == url for request in worker.transport.requests) == 1)

    asyncio.run(crawled())
    flags = ("--set", "partitions=64")  # what the folder was made for counts
    gregor(data, "recrawl", url, *flags)
    gregor(data, "seed", "http://h1.example/399", "--set", "partitions=2")
    capsys.readouterr()
    gregor(data, "pages", "--state", "fetched", "--limit", "1")
    gregor(data, "explain", url)
    assert "waits in the log (recrawl)" in capsys.readouterr().out
    asyncio.run(goes_on())
