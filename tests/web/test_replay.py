"""The bundled web is crawled, exported as WARC, played from that file, and crawled again: the same comes out of it."""

import hashlib
import http.client
import io
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker
from warcio.warcwriter import WARCWriter

from gregor.worker.demo import server
from tests.web import crawler, make_demo, pywb_player, warc_server

LIMIT_SECONDS = 60.0
YEAR = datetime.now(UTC).year
OPTIONS = {"scope": "any", "delay": 0, "delay_factor": 0, "max_crawl_delay": 0.05, "sitemaps": True}


def crawled(seeds: list[str], table: Path, data: Path, *more: str) -> dict[str, dict[str, Any]]:
    """What a crawl found, by URL."""
    line = [*seeds, "--host-table", str(table), *crawler.arguments(OPTIONS), *more]
    ended = crawler.crawl(line, data, LIMIT_SECONDS)
    assert ended.status == 0, ended.said()
    return {record["url"]: record for record in map(json.loads, crawler.pages(data))}


@contextmanager
def reading(path: Path) -> Iterator[Iterator[Any]]:
    with path.open("rb") as file:
        yield iter(ArchiveIterator(file))


def resolved(source: Path, target: Path) -> None:
    """The file with each revisit record as the response that it stands for, as a replayer joins the two."""
    with reading(source) as records:
        payloads = {
            record.rec_headers.get_header("WARC-Record-ID"): record.raw_stream.read()
            for record in records
            if record.rec_type == "response"
        }
    with target.open("wb") as out, reading(source) as records:
        writer = WARCWriter(out, gzip=True)
        for record in records:
            if record.rec_type in ("response", "revisit"):
                url, original = map(record.rec_headers.get_header, ("WARC-Target-URI", "WARC-Refers-To"))
                body = io.BytesIO(payloads[original] if original else record.raw_stream.read())
                head = record.http_headers
                made = writer.create_warc_record(url, "response", payload=body, http_headers=head)
                writer.write_record(made)


@pytest.fixture(scope="module")
def webs(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("replay")
    table, archive, played = folder / "hosts.table", folder / "crawl.warc.gz", folder / "played.warc.gz"
    with server.serving() as web:
        seeds = list(web.seeds)
        table.write_text("\n".join(web.host_table_lines))
        first = crawled(seeds, table, folder / "first")
    subprocess.run([crawler.GREGOR, "export", "warc", "--data", folder / "first", "-o", archive], check=True)
    resolved(archive, played)
    with warc_server.serving([played], folder) as recorded:
        more = ("--set", f"ca_file={recorded.ca}")
        second = crawled(seeds, recorded.host_table, folder / "second", *more)
    return first, second, archive


def test_the_archive_is_whole(webs: tuple[dict[str, Any], dict[str, Any], Path], capsys: Any) -> None:
    assert Checker(SimpleNamespace(inputs=[str(webs[2])], verbose=True)).process_all() == 0
    assert "failed" not in capsys.readouterr().out


def test_what_is_played_is_what_was_crawled(webs: tuple[dict[str, Any], dict[str, Any], Path]) -> None:
    first, second, _ = webs
    said = ("status", "state", "rule", "redirected_to", "sha256", "title")
    states = ("fetched", "redirected", "gone", "denied")
    before = {url: [one[name] for name in said] for url, one in first.items() if one["state"] in states}
    after = {url: [one[name] for name in said] for url, one in second.items() if one["state"] in states}
    assert {url for url in before if before[url] != after.get(url)} == set()
    assert {one["state"] for one in second.values()} >= {"fetched", "redirected", "gone", "denied", "duplicate"}


def test_redirects_errors_and_robots_have_their_heads(webs: tuple[dict[str, Any], dict[str, Any], Path]) -> None:
    with reading(webs[2]) as records:
        heads = {record.rec_headers.get_header("WARC-Target-URI"): record.http_headers for record in records}
    assert heads[f"{make_demo.TOWN}/visit"].get_statuscode().startswith("30")
    assert heads[f"{make_demo.TOWN}/visit"].get_header("Location")
    assert heads[f"{make_demo.TOWN}/news/00.html"].get_statuscode() in ("404", "410")
    assert heads[f"{make_demo.TOWN}/robots.txt"].get_statuscode() == "200"


@pytest.fixture(scope="module")
def pywb(webs: tuple[dict[str, Any], dict[str, Any], Path]) -> Iterator[http.client.HTTPConnection]:
    folder = webs[2].parent / "pywb"
    folder.mkdir()
    with pywb_player.playing(webs[2], folder) as (host, port):
        connection = http.client.HTTPConnection(host, port, timeout=60)
        yield connection
        connection.close()


def test_pywb_plays_every_answer(
    webs: tuple[dict[str, Any], dict[str, Any], Path], pywb: http.client.HTTPConnection
) -> None:
    """Pages, copies of pages (revisit records), redirects and errors, as they were: by the modifier ``id_``."""
    states = ("fetched", "duplicate", "redirected", "gone")
    wrong, played = [], Counter[str]()
    for url, page in webs[0].items():
        if page["state"] not in states or not page["status"]:
            continue
        pywb.request("GET", f"/{pywb_player.COLLECTION}/{YEAR}id_/{url}")
        answer = pywb.getresponse()
        body = answer.read()
        said: list[Any] = [answer.status]
        meant: list[Any] = [page["status"]]
        if page["state"] == "redirected":
            said.append(urljoin(url, answer.getheader("Location")))
            meant.append(page["redirected_to"])
        elif page["sha256"]:
            said.append(hashlib.sha256(body).hexdigest())
            meant.append(page["sha256"])
        played[page["state"]] += 1
        if said != meant:
            wrong.append((url, page["state"], said, meant))
    assert not wrong
    assert set(played) == set(states)


def test_pywb_leads_on_from_a_redirect(pywb: http.client.HTTPConnection) -> None:
    at, ways = f"/{pywb_player.COLLECTION}/{YEAR}mp_/{make_demo.TOWN}/visit", 0
    while True:
        pywb.request("GET", at)
        answer = pywb.getresponse()
        body = answer.read()
        if answer.status // 100 != 3:
            break
        at, ways = urlsplit(answer.getheader("Location") or "")._replace(scheme="", netloc="").geturl(), ways + 1
    assert (answer.status, ways > 0) == (200, True)
    assert f"/{pywb_player.COLLECTION}/".encode() in body  # its links stay in the archive
