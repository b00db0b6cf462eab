"""What befalls OpenSearch behind a crawl's back: deleted, emptied, read-only, away, other users, TLS, other mappings.
Each is one clear line, the doctor names it, and the index catches up or says what to do."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gregor.schemas.messages import Page
from gregor.search.adapters import opensearch_schema as schema
from gregor.search.adapters.opensearch_schema import IndexLayout
from gregor.worker.commands.cli import main
from tests.cluster.servers import Service
from tests.search.front import Front, front
from tests.search.opensearch import client_of, made
from tests.search.stored import crawl, page, store

PAGES = [page(f"http://h{number}.example.org/", f"fox number {number}") for number in range(5)]


class Folder:
    """A crawl on one machine whose index is in OpenSearch."""

    def __init__(
        self,
        opensearch: Service,
        folder: Path,
        capsys: pytest.CaptureFixture[str],
        environ: pytest.MonkeyPatch,
    ) -> None:
        self.client = client_of(opensearch)
        self.name = made(opensearch).shape.alias.removeprefix("gregor-") + "f"
        self.alias = f"gregor-{self.name}"
        self.data, self.file, self._capsys = folder / "data", folder / "gregor.toml", capsys
        self.environ = environ
        self.configure(opensearch.addresses)

    def configure(self, addresses: tuple[str, ...], *more: str) -> None:
        lines = [f'crawl = "{self.name}"', f"opensearch = {json.dumps(list(addresses))}", *more]
        settings = ("opensearch_replicas = 0", "server_timeout = 30.0", "start_timeout = 0.0", 'log_format = "text"')
        self.file.write_text("\n".join([*lines, *settings]))

    def words(self, command: str, *words: str) -> list[str]:
        return [command, "--config", str(self.file), "--data", str(self.data), *words]

    def run(self, command: str, *words: str) -> tuple[int, list[str]]:
        """Its exit code, and what it says."""
        self._capsys.readouterr()
        code = main(self.words(command, *words))
        said = self._capsys.readouterr()
        lines = [*said.out.splitlines(), *said.err.splitlines()]
        return code, [line for line in lines if " error asyncio " not in line]  # of tests before

    def doctor(self) -> str:
        return "\n".join(line for line in self.run("doctor")[1] if "opensearch" in line)

    def store(self, *pages: Page) -> None:
        async def whole() -> None:
            async with crawl(self.data) as engine:
                await store(engine, *pages)

        asyncio.run(whole())

    @contextmanager
    def following(self) -> Iterator[list[str]]:
        """Follow the crawl meanwhile; what is said of that."""
        line = [sys.executable, "-m", "gregor", *self.words("index")]
        follower, lines = subprocess.Popen(line, stderr=subprocess.PIPE, text=True), list[str]()
        assert follower.stderr is not None
        reading = threading.Thread(target=lines.extend, args=(follower.stderr,), daemon=True)
        reading.start()
        try:
            yield lines
            follower.terminate()
            assert follower.wait(60) == 0, lines
        finally:
            follower.kill()
            reading.join(10)

    def count(self, word: str = "fox") -> int:
        code, lines = self.run("search", "--jsonl", "--limit", "100", word)
        return len([line for line in lines if line.startswith("{")]) if code == 0 else -1

    def until(self, count: int, word: str = "fox") -> None:
        deadline = time.monotonic() + 60
        while self.count(word) != count:
            assert time.monotonic() < deadline, self.run("search", word)
            time.sleep(0.1)


@pytest.fixture
def folder(
    opensearch: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Folder]:
    opened = Folder(opensearch, tmp_path, capsys, monkeypatch)
    opened.store(*PAGES)
    yield opened
    for index in opened.client.ask("GET", f"/{opened.alias}.*", params={"filter_path": "*.aliases"}):
        opened.client.ask("DELETE", f"/{index}")


def delete(folder: Folder) -> None:
    folder.client.ask("DELETE", f"/{folder.alias}.1")


def empty(folder: Folder) -> None:
    names = folder.client.ask("GET", f"/{folder.alias}/_search?size=100")["hits"]["hits"]
    for hit in names:  # as delete_by_query does it, which is a module of its own
        folder.client.ask("DELETE", f"/{folder.alias}.1/_doc/{hit['_id']}?refresh=true")


def test_what_was_deleted_behind_its_back_is_made_anew(folder: Folder) -> None:
    for harm, named in ((delete, "holds no index"), (empty, "was emptied")):
        for _ in range(2):  # owners of documents that are forgotten with them
            assert folder.run("index", "--once")[0] == 0
        assert folder.count() == 5
        harm(folder)
        assert named in folder.doctor()
        assert folder.run("index", "--once")[0] == 0 and folder.count() == 5
    assert "emptied" not in folder.doctor() and "holds no" not in folder.doctor()
    with folder.following() as lines:
        folder.store(page("http://first.example.org/", "hen"))
        folder.until(1, "hen")
        for times, harm in enumerate((delete, empty), 1):
            folder.until(4 + times)
            harm(folder)
            folder.store(page(f"http://more{times}.example.org/", f"fox more {times}"))
            folder.until(5 + times)
    assert sum("made anew" in line and ("no index" in line or "emptied" in line) for line in lines) == 2, lines


def test_who_is_refused_or_not_trusted_is_told_what_to_set(folder: Folder, opensearch: Service, tmp_path: Path) -> None:
    (node,) = opensearch.addresses
    user = ('opensearch_username = "gregor"', 'opensearch_password_env = "WORD"')
    with front(node, tmp_path, user="gregor", password="right", tls=True) as safe:
        trusted = ("opensearch_tls = true", f'opensearch_ca_file = "{safe.ca_file}"')
        for more, word, hint in (
            (("opensearch_tls = true", *user), "right", "opensearch_ca_file"),
            (user, "right", "opensearch_tls"),
            (trusted, "right", "opensearch_username"),
            ((*trusted, *user), "wrong", "opensearch_password"),
        ):
            folder.configure((safe.address,), *more)
            folder.environ.setenv("WORD", word)
            for command in (("index", "--once"), ("search", "fox")):
                code, lines = folder.run(*command)
                assert code in (1, 2) and hint in lines[-1] and len(lines) <= 2, (command, lines)
            assert hint in folder.doctor() and "fail" in folder.doctor()
        folder.environ.setenv("WORD", "right")
        assert folder.run("index", "--once")[0] == 0 and folder.count() == 5
    folder.configure((node,), *trusted)
    for command in (("index", "--once"), ("search", "fox")):
        code, lines = folder.run(*command)
        assert code in (1, 2) and "opensearch_tls" in lines[-1], (command, lines)
    assert "opensearch_tls" in folder.doctor()


def full(folder: Folder, away: Front) -> Callable[[], None]:
    blocks = {"index.blocks.read_only_allow_delete": True}
    folder.client.ask("PUT", f"/{folder.alias}/_settings", blocks)
    return lambda: folder.client.ask("PUT", f"/{folder.alias}/_settings", dict.fromkeys(blocks))


def written_no_more(folder: Folder, away: Front) -> Callable[[], None]:
    blocks = {"index.blocks.write": True}
    folder.client.ask("PUT", f"/{folder.alias}/_settings", blocks)
    return lambda: folder.client.ask("PUT", f"/{folder.alias}/_settings", dict.fromkeys(blocks))


def gone(folder: Folder, away: Front) -> Callable[[], None]:
    away.end()
    return away.begin


def refused(folder: Folder, away: Front) -> Callable[[], None]:
    away.allowed = b"nobody"
    return lambda: setattr(away, "allowed", b"")


def test_what_keeps_it_from_being_written_is_told_once_and_caught_up_with(
    folder: Folder, opensearch: Service, tmp_path: Path
) -> None:
    def told(what: str) -> int:
        return sum(what in line for line in lines)

    def until(what: str, times: int) -> None:
        deadline = time.monotonic() + 60
        while told(what) < times:
            assert time.monotonic() < deadline, lines
            time.sleep(0.05)

    harms = {full: "disk is full", written_no_more: "blocks.write", gone: "unavailable", refused: "refuses its user"}
    with front(opensearch.addresses[0], tmp_path) as away:
        folder.configure((away.address,))
        with folder.following() as lines:
            folder.until(5)
            for times, (harm, named) in enumerate(harms.items(), 1):
                mend = harm(folder, away)
                folder.store(
                    *(page(f"http://m{times}-{number}.example.org/", f"ox {times} {number}") for number in range(3))
                )
                until("cannot be written", times)
                assert named in folder.doctor()
                time.sleep(1.2)  # some looks more
                mend()
                until("written again", times)
                assert told("cannot be written") == times, lines
            folder.until(3 * len(harms), "ox")


def test_an_index_of_other_fields_is_refused_and_made_anew_on_order(folder: Folder) -> None:
    template = {"index_patterns": [f"{folder.alias}.*"], "priority": 300, "template": {"mappings": {"dynamic": False}}}
    folder.client.ask("PUT", f"/_index_template/{folder.name}-ours", template)
    code, lines = folder.run("index", "--once")
    assert code == 2 and len(lines) == 1 and "has no anchors" in lines[0] and "--rebuild" in lines[0]
    folder.client.ask("DELETE", f"/_index_template/{folder.name}-ours")
    assert folder.run("index", "--once", "--rebuild")[0] == 0 and folder.count() == 5
    folder.client.ask("PUT", f"/{folder.alias}/_mapping", {"_meta": {"format": 0}})
    for command in (("index", "--once"), ("search", "fox"), ("crawl", "http://127.0.0.1:9/", "--index")):
        code, lines = folder.run(*command)
        assert code == 2 and len(lines) == 1 and "is of format 0" in lines[0] and "--rebuild" in lines[0]
    assert "is of format 0" in folder.doctor()
    assert folder.run("index", "--once", "--rebuild")[0] == 0 and folder.count() == 5


def test_crawls_of_like_names_do_not_meet(opensearch: Service) -> None:
    client, name = client_of(opensearch), made(opensearch).shape.alias
    shapes = [
        IndexLayout(name),
        IndexLayout(f"{name}-1"),
        IndexLayout(f"{name}-next"),
        IndexLayout(f"{name}-1-written"),
    ]
    made_of = {shape.alias: schema.create(client, shape, 1) for shape in shapes}
    for shape in shapes:
        schema.use(client, shape, made_of[shape.alias])
        schema.delete_others(client, shape, made_of[shape.alias])
    assert {shape.alias: schema.current(client, shape) for shape in shapes} == made_of
