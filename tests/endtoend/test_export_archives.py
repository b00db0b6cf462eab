"""`gregor export warc` in files of bounded size with an index, and as WACZ, read as others read them."""

import errno
import hashlib
import io
import json
import zipfile
from bisect import bisect_left
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from gregor.worker.archives.segments import Segments
from gregor.worker.archives.surt import surt
from gregor.worker.commands import cli
from tests.endtoend.stored import store
from tests.endtoend.test_commands import Output, bare
from tests.endtoend.test_import import output

__all__ = ["bare", "output"]

BODIES = {
    f"http://www.a.test/{n}": f"<title>T{n}</title>".encode() + hashlib.sha256(b"%d" % n).digest() * 40
    for n in range(8)
}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "data", BODIES)


def looked_up(lines: list[bytes], url: str) -> dict[str, Any]:
    """What a player finds: by halves, then the first line of the key."""
    key = surt(url).encode() + b" "
    line = lines[bisect_left(lines, key)]
    assert line.startswith(key)
    made: dict[str, Any] = json.loads(line.split(b" ", 2)[2])
    return made


def body_at(data: bytes, entry: dict[str, Any]) -> bytes:
    """The payload of the one record that an entry names."""
    start = int(entry["offset"])
    bodies: list[bytes] = []
    for record in ArchiveIterator(io.BytesIO(data[start : start + int(entry["length"])])):
        assert record.rec_headers.get_header("WARC-Target-URI") == entry["url"]
        bodies.append(record.content_stream().read())
    (body,) = bodies
    return body


def test_files_are_bounded_numbered_and_indexed(output: Output, tmp_path: Path) -> None:
    output.bytes("export", "warc", "-o", "site.warc.gz", "--size", "3KB", "--cdxj")
    files = sorted(tmp_path.glob("*.warc.gz"))
    assert files[0].name == "site-00001.warc.gz" and len(files) > 1
    lines = (tmp_path / "site.cdxj").read_bytes().splitlines()
    assert lines == sorted(lines) and len(lines) == len(BODIES)
    for file in files:
        assert file.stat().st_size <= 3000
        first = next(iter(ArchiveIterator(io.BytesIO(file.read_bytes()))))
        assert first.rec_type == "warcinfo" and first.rec_headers.get_header("WARC-Filename") == file.name
        assert Checker(Checked(str(file))).process_all() == 0
    for url, body in BODIES.items():
        entry = looked_up(lines, url)
        assert body_at((tmp_path / entry["filename"]).read_bytes(), entry) == body
    assert not list(tmp_path.glob("*.part"))


class Checked:
    """Arguments of warcio's checker."""

    verbose = False

    def __init__(self, *files: str) -> None:
        self.inputs = files


def test_a_record_larger_than_the_size_is_whole_in_a_file_of_its_own(output: Output, tmp_path: Path) -> None:
    output.bytes("export", "warc", "-o", "site.warc.gz", "--size", "100")
    assert len(list(tmp_path.glob("site-*.warc.gz"))) == len(BODIES)


def full(*arguments: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_files_of_an_earlier_export_of_the_name_go_once_the_new_ones_are_whole(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output.bytes("export", "warc", "-o", "site.warc.gz", "--size", "100")
    (tmp_path / "site-00099.warc.gz").write_text("of somebody else")
    (tmp_path / "site-one.warc.gz").write_text("of somebody else")
    with monkeypatch.context() as patched:
        patched.setattr(Segments, "write", full)
        assert "No space left" in output.refused("export", "warc", "-o", "site.warc.gz", "--size", "1GB")
    assert len(list(tmp_path.glob("site-0000?.warc.gz"))) == len(BODIES)
    output.bytes("export", "warc", "-o", "site.warc.gz", "--size", "1GB")
    names = sorted(file.name for file in tmp_path.glob("site*"))
    assert names == ["site-00001.warc.gz", "site-00099.warc.gz", "site-one.warc.gz"]


@pytest.mark.parametrize("words", [[], ["--size", "1GB"]])
def test_no_index_of_an_earlier_export_stays_beside_new_files(words: list[str], output: Output, tmp_path: Path) -> None:
    output.bytes("export", "warc", "-o", "site.warc.gz", "--cdxj", *words)
    (tmp_path / "other.cdxj").write_text("of somebody else")
    assert (tmp_path / "site.cdxj").exists()
    output.bytes("export", "warc", "-o", "site.warc.gz", *words)
    assert [file.name for file in tmp_path.glob("*.cdxj")] == ["other.cdxj"]
    output.bytes("export", "warc", "-o", "site.warc.gz", "--cdxj", *words)
    assert (tmp_path / "site.cdxj").stat().st_size


@pytest.mark.parametrize(
    "words", [["-o", "site.wacz"], ["--wacz", "-o", "site.zip"], ["--wacz", "-o", "s.wacz", "--size", "4KB"]]
)
def test_a_wacz_says_what_is_in_it(words: list[str], output: Output, tmp_path: Path) -> None:
    output.bytes("export", "warc", *words)
    with zipfile.ZipFile(tmp_path / words[words.index("-o") + 1]) as wacz:
        assert wacz.testzip() is None
        package = json.loads(wacz.read("datapackage.json"))
        assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
        described = {resource["path"]: resource for resource in package["resources"]}
        assert described.keys() == set(wacz.namelist()) - {"datapackage.json", "datapackage-digest.json"}
        for path, resource in described.items():
            content = wacz.read(path)
            assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
            assert (resource["bytes"], resource["name"]) == (len(content), path.rpartition("/")[2])
        digest = json.loads(wacz.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{hashlib.sha256(wacz.read('datapackage.json')).hexdigest()}"
        head, *pages = [json.loads(line) for line in wacz.read("pages/pages.jsonl").splitlines()]
        assert head["format"] == "json-pages-1.0" and {page["url"] for page in pages} == BODIES.keys()
        lines = wacz.read("indexes/index.cdxj").splitlines()
        for url, body in BODIES.items():
            entry = looked_up(lines, url)
            info = wacz.getinfo(f"archive/{entry['filename']}")
            assert info.compress_type == zipfile.ZIP_STORED
            assert body_at(wacz.read(info), entry) == body


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["csv", "--size", "1GB"], "are for warc"),
        (["jsonl", "--wacz"], "are for warc"),
        (["warc", "--size", "1GB"], "want the name of a file"),
        (["warc", "--cdxj", "-o", "x.wacz"], "leave --cdxj out"),
        (["warc", "--cdxj", "-o", ".warc.gz"], "names no file"),
        (["warc", "--cdxj", "-o", "nowhere/x.warc.gz"], "cannot write"),
        (["csv", "-o", "x.XLSX"], "write CSV, which they open, as -o x.csv"),
        (["sqlite", "-o", "x.ods"], "spreadsheets are not written"),
    ],
)
def test_what_does_not_go_together_is_one_line(words: list[str], part: str, output: Output, tmp_path: Path) -> None:
    said = output.refused("export", *words)
    assert part in said and said.count("\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == {"data"}


@pytest.mark.parametrize("size", ["0", "1XB", "-1", "GB", "1.5GB", ""])
def test_what_is_no_size_is_refused(size: str) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["export", "warc", "-o", "x.warc.gz", f"--size={size}"])
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.com/", "com,example)/"),
        ("http://example.com/A/b/?z=1&a=2", "com,example)/a/b?a=2&z=1"),
        ("http://example.com:8080/x/", "com,example:8080)/x"),
        ("https://example.com:443/x?A=B", "com,example)/x?a=b"),
        ("http://1.2.3.4/a", "4,3,2,1)/a"),
        ("http://[::1]/x", "::1)/x"),
        ("http://example.com/?", "com,example)/"),
        ("http://example.com/a//b/../%2Fc", "com,example)/a/c"),
        ("http://user:pw@www2.example.com", "com,example)/"),
        ("http://xn--bcher-kva.de/%C3%A9?q=%20a", "de,xn--bcher-kva)/%c3%a9?q=%20a"),
        ("http://example.com/i.php?PHPSESSID=0123456789abcdef0123456789abcdef&x=1", "com,example)/i.php?x=1"),
    ],
)
def test_keys_are_those_that_players_look_up(url: str, key: str) -> None:
    assert surt(url) == key
