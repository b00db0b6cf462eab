"""What OpenSearch adds: owners, generations, what it refuses, what it has no room for, and when it is away."""

import asyncio
import json
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gregor.schemas.messages import Page
from gregor.search.adapters import opensearch_schema as schema
from gregor.search.adapters.opensearch_client import Client, OpenSearchNodes
from gregor.search.adapters.opensearch_index import OpenSearchIndex
from gregor.search.adapters.opensearch_records import OpenSearchLines
from gregor.search.adapters.opensearch_schema import DOCUMENTS_A_SHARD, MOST_SHARDS, IndexLayout
from gregor.search.adapters.opensearch_writer import name_of
from gregor.search.borders import Unusable
from gregor.search.documents import IndexedDocument
from gregor.search.query import parse
from gregor.worker.borders.errors import Unavailable
from gregor.worker.commands.cli import main
from gregor.worker.compose.opensearch import searched
from gregor.worker.compose.records_optout import take_out
from gregor.worker.config.settings import Config
from tests.cluster.servers import Service
from tests.cluster.servers.process import free_ports
from tests.search.opensearch import client_of, made, writing
from tests.search.stored import crawl, page, store
from tests.search.test_index import document, found


@pytest.mark.parametrize(
    ("documents", "shards"),
    [(1, 1), (DOCUMENTS_A_SHARD, 1), (DOCUMENTS_A_SHARD + 1, 2), (10**8, 40), (10**10, MOST_SHARDS)],
)
def test_shards_are_made_for_the_expected_size(documents: int, shards: int) -> None:
    template = schema.template_of(IndexLayout("gregor-x", documents=documents, replicas=2, refresh=0.5))
    settings = template["settings"]
    assert settings["number_of_shards"] == shards and settings["number_of_replicas"] == 2
    assert settings["refresh_interval"] == "500ms"


def test_names_are_what_the_engine_takes_and_each_content_has_its_own() -> None:
    names = ["a", "b" * 500, "b" * 501, "b" * 502, "\ud800", "x\n", "http://é/"]
    assert len({name_of(name) for name in names}) == len(names)
    assert all(len(name_of(name).encode()) <= 512 and name_of(name) != "position" for name in [*names, "position"])


def test_what_an_owner_before_sends_late_changes_nothing(opensearch: Service) -> None:
    index = made(opensearch)
    before = writing(index)
    before.put([document("fox", "an old fox")])
    before.commit(500)
    after = writing(index)
    after.put([document("fox", "a new fox")])
    after.remove(["hen"])
    after.commit(3)  # of a feed that was read anew
    before.put([document("fox", "an old fox"), document("hen", "a hen")])
    with pytest.raises(Unusable, match="written by another process"):
        before.commit(501)
    assert after.position() == 3
    after.refresh()
    assert found(after, "new") == ["fox"] and found(after, "old") == [] and found(after, "hen") == []


def test_lines_that_are_taken_out_are_gone_whoever_puts_them_late(opensearch: Service) -> None:
    index = made(opensearch)
    one, other = OpenSearchLines(index.client, index.name), OpenSearchLines(index.client, index.name)
    late = [document("c", "a fox", host="c.test"), document("d", "a hen", host="d.test")]
    one.put(late)
    one.commit(1)
    other.put(late)
    take_out(one, "c.test")
    assert found(one, "fox") == [] and found(one, "hen") == ["d"]
    other.commit(1)
    assert found(one, "fox") == [] and found(one, "hen") == ["d"]
    one.clear()
    one.commit(1)
    assert one.count() == 0


def test_what_is_refused_is_told_and_the_others_are_written(opensearch: Service) -> None:
    client, told = client_of(opensearch), dict[str, str]()
    index = made(opensearch).name + "-strict"
    mapping = {"properties": {"title": {"type": "integer"}, "name": {"type": "keyword"}}}
    client.ask("PUT", f"/{index}", {"mappings": mapping, "aliases": {schema.writers_of(index): {}}})

    def refused(document: IndexedDocument, reason: str) -> None:
        told[document.id] = reason

    opened = OpenSearchIndex(client, index, on_refused=refused)
    opened.begin()
    opened.put([document("word", "fox"), document("number", "7"), document("words", "two words")])
    opened.commit(1)
    assert opened.count() == 1 and opened.position() == 1
    assert set(told) == {"word", "words"} and all("failed to parse" in reason for reason in told.values())


def test_a_full_disk_is_told_as_full_and_it_goes_on_afterwards(opensearch: Service) -> None:
    index = made(opensearch)
    opened = writing(index)
    opened.put([document("fox", "fox")])
    for value in (True, None):
        settings = {"index.blocks.read_only_allow_delete": value}
        index.client.ask("PUT", f"/{index.name}/_settings", settings)
        if value:
            with pytest.raises(Unavailable, match=r"OpenSearch is full: .*disk") as full:
                opened.commit(1)
            assert full.value.condition == "full" and opened.position() == 0
    opened.commit(1)
    assert found(opened, "fox") == ["fox"]


def test_who_is_away_is_told_in_one_line() -> None:
    client = Client(OpenSearchNodes((("127.0.0.1", free_ports(1)[0]),), timeout=2.0))
    with pytest.raises(Unavailable, match="OpenSearch is unavailable") as away:
        client.ask("GET", "/")
    assert "\n" not in str(away.value)


def test_whoever_searches_hears_in_time_of_a_node_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hung:
        config = Config(engine="cluster", opensearch=(f"127.0.0.1:{hung.getsockname()[1]}",), server_timeout=0.4)
        began = time.monotonic()
        with pytest.raises(Unavailable, match="OpenSearch is unavailable"):
            searched(config)
        assert time.monotonic() - began < 1.2


def test_a_node_that_has_no_shard_yet_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(OpenSearchNodes((("127.0.0.1", free_ports(1)[0]),)))
    monkeypatch.setattr(client, "ask", lambda *words: {"_all": {"primaries": {}}})
    with pytest.raises(Unavailable, match="no shard of gregor-x-1 is there yet"):
        OpenSearchIndex(client, "gregor-x-1").write_count()


def test_one_of_several_nodes_is_enough(opensearch: Service) -> None:
    (address,) = opensearch.addresses
    host, _, port = address.rpartition(":")
    nodes = OpenSearchNodes((("127.0.0.1", free_ports(1)[0]), (host, int(port))))
    assert all(Client(nodes).ask("GET", "/")["version"]["number"] for _ in range(3))


def test_a_state_that_was_pinned_stays_as_it_is(opensearch: Service) -> None:
    opened = writing(made(opensearch))
    opened.put([document(f"fox{number}", "fox") for number in range(5)])
    opened.commit(1)
    kept = opened.pinned()
    before = found(kept, "fox")
    opened.put([document("fox9", "fox fox")])
    opened.remove(before[:2])
    opened.commit(2)
    assert [found(kept, "fox", 2, at) for at in (0, 2, 4)] == [before[:2], before[2:4], before[4:]]
    assert kept.position() != opened.position() and kept.is_kept()
    kept.close()
    again = opened.pinned()
    assert set(found(again, "fox")) == {"fox9", *before[2:]}
    again.close()


def test_an_index_that_is_gone_or_of_another_kind_is_refused_in_one_line(opensearch: Service) -> None:
    index = made(opensearch, "mine")
    with pytest.raises(Unusable, match="of another crawl"):
        schema.current(index.client, IndexLayout(index.shape.alias, "yours"))
    assert schema.current(index.client, IndexLayout(index.shape.alias)) is not None
    opened = writing(index)
    index.client.ask("PUT", f"/{index.name}/_mapping", {"_meta": {"format": 0}})
    with pytest.raises(Unusable, match="is of format 0, this version reads"):
        schema.current(index.client, index.shape)
    index.client.ask("DELETE", f"/{index.name}")
    for ask in (opened.position, opened.count, lambda: opened.search(parse("fox")), lambda: opened.document("fox")):
        with pytest.raises(Unusable, match="has no index"):
            ask()
    opened.put([document("fox")])
    with pytest.raises(Unusable, match="has no index"):
        opened.commit(1)
    assert schema.current(index.client, index.shape) is None


@pytest.fixture
def configured(opensearch: Service, tmp_path: Path) -> Callable[..., list[str]]:
    """A command on a data folder whose index is in OpenSearch."""
    config = tmp_path / "gregor.toml"
    name = made(opensearch).shape.alias.removeprefix("gregor-") + "c"
    nodes = json.dumps(list(opensearch.addresses))
    config.write_text(f'crawl = "{name}"\nopensearch = {nodes}\nopensearch_replicas = 0\nserver_timeout = 60.0\n')

    def command(*words: str) -> list[str]:
        return [words[0], "--config", str(config), "--data", str(tmp_path / "data"), *words[1:]]

    command.name = name  # type: ignore[attr-defined]
    return command


def test_a_crawl_on_one_machine_is_indexed_and_searched_there(
    configured: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(*words: str) -> list[str]:
        capsys.readouterr()
        assert main(configured("search", "--jsonl", *words)) == 0
        return [json.loads(line)["key"] for line in capsys.readouterr().out.splitlines()]

    a, b = "http://a.example.org/", "http://b.example.org/"
    asyncio.run(more(tmp_path / "data", page(a, "A fox jumps"), page(b, "A dog sleeps")))
    assert main(configured("search", "fox")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "holds no index" in line
    assert main(configured("index", "--once")) == 0
    assert search("fox") == [a] and search("dog") == [b]
    assert main(configured("index", "--once", "--rebuild")) == 0
    assert (tmp_path / "data/index/current").read_text().startswith("2 ") and search("fox") == [a]
    assert main(configured("rank")) == 0
    assert main(configured("optout", "a.example.org", "--wait", "0")) == 0
    assert search("fox") == [] and search("dog") == [b]
    shutil.rmtree(tmp_path / "data/index")  # it is safe, and what the engine has is made anew
    asyncio.run(more(tmp_path / "data", page(b, "A cat sleeps", 2)))
    assert main(configured("index", "--once")) == 0
    assert search("dog") == [] and search("cat") == [b]


def test_what_is_refused_is_a_dead_letter(
    configured: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], opensearch: Service
) -> None:
    asyncio.run(more(tmp_path / "data", page("http://a.example.org/", "7", title="seven"), page("http://b.org/", "8")))
    client = client_of(opensearch)
    alias = f"gregor-{configured.name}"  # type: ignore[attr-defined]
    properties = schema.template_of(IndexLayout(alias))["mappings"]["properties"] | {"title": {"type": "integer"}}
    template = {"mappings": {"properties": properties}}
    client.ask(
        "PUT",
        "/_index_template/strict",
        {"index_patterns": [f"{alias}.*"], "priority": 200, "template": template},
    )
    try:
        for _ in range(2):
            assert main(configured("index", "--once", "--rebuild")) == 0
    finally:
        client.ask("DELETE", "/_index_template/strict")
    capsys.readouterr()
    assert main(configured("deadletters", "--jsonl")) == 0
    (letter,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (letter["url"], letter["cause"]) == ("http://a.example.org/", "index") and "failed to parse" in letter[
        "detail"
    ]


def test_the_doctor_says_what_keeps_it_from_being_written(
    configured: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], opensearch: Service
) -> None:
    def told() -> str:
        capsys.readouterr()
        main(configured("doctor"))
        return "\n".join(line for line in capsys.readouterr().out.splitlines() if "opensearch" in line)

    asyncio.run(more(tmp_path / "data", page("http://a.example.org/", "A fox jumps")))
    assert main(configured("index", "--once")) == 0
    assert "answers as it is configured" in told() and "read-only" not in told()
    client, alias = client_of(opensearch), f"gregor-{configured.name}"  # type: ignore[attr-defined]
    client.ask("PUT", f"/{alias}/_settings", {"index.blocks.read_only_allow_delete": True})
    assert "a node's disk is full" in told()
    assert main(configured("index", "--once")) in (0, 1)
    client.ask("PUT", f"/{alias}/_settings", {"index.blocks.read_only_allow_delete": None})


async def more(data: Path, *pages: Page) -> None:
    async with crawl(data) as engine:
        await store(engine, *pages)
