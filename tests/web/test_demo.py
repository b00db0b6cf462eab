"""The bundled web: what was recorded is what is served, and the recording is what its texts give."""

import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gregor.worker.demo import __main__ as demo
from gregor.worker.demo import warc
from gregor.worker.demo.server import HOSTS, SEEDS, WEB, serving
from tests.web import make_demo


def test_every_recorded_page_is_served() -> None:
    records = warc.index([WEB])
    assert len(records) >= 40
    assert {urlsplit(url).hostname for url in records} == set(HOSTS)
    with serving() as web:
        address = web.host_table_lines[0].split()[1]
        connection = http.client.HTTPConnection(address, timeout=10)
        for url, record in records.items():
            parts = urlsplit(url)
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            connection.request("GET", target, headers={"Host": parts.netloc})
            answer = connection.getresponse()
            recorded = warc.load(record)
            assert (answer.status, answer.read()) == (recorded.status, recorded.body), url
        connection.request("GET", "/news/00.html", headers={"Host": "harbour.example"})
        answer = connection.getresponse()
        assert (answer.status, len(answer.read())) == (404, int(answer.headers["Content-Length"]))
        connection.request("HEAD", "/", headers={"Host": "harbour.example:80"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"")
        connection.close()


def test_seeds_and_host_table_name_the_recorded_hosts() -> None:
    with serving() as web:
        assert web.seeds == SEEDS
        assert {line.split(":")[0] for line in web.host_table_lines} == set(HOSTS)


def test_the_recording_is_what_its_texts_give(tmp_path: Path) -> None:
    made = tmp_path / "web.warc.gz"
    make_demo.write(made)
    old, new = warc.index([WEB]), warc.index([made])
    assert {url: warc.load(record) for url, record in old.items()} == {url: warc.load(new[url]) for url in new}


def test_a_cut_file_is_a_clear_error(tmp_path: Path) -> None:
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(WEB.read_bytes()[:-20])
    with pytest.raises(ValueError, match="is cut"):
        warc.index([cut])


def test_a_host_table_that_cannot_be_written_is_a_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.serve(tmp_path / "none" / "demo.hosts") == 2
    assert "demo.hosts: No such file or directory" in capsys.readouterr().err
