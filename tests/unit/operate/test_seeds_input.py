"""Seeds: every form, and the one line that names what is wrong."""

import io
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import escape
from gregor.worker.config.credentials import basic
from gregor.worker.operate.seeds import Seed
from gregor.worker.operate.seeds_input import Seeds, open_seeds
from gregor.worker.web.urls import Urls
from tests.files import files_limited_to

URLS = Urls()
EMPTY = io.BytesIO()


def read(data: bytes) -> list[tuple[str, str, int, int | None]]:
    seeds = open_seeds([], "-", io.BytesIO(data), URLS)
    return [(seed.url.href, seed.label, seed.depth, seed.priority) for seed in seeds]


def test_it_is_told_what_is_done_with_how_many(tmp_path: Path) -> None:
    told: list[tuple[str, int | None]] = []

    def tell(doing: str, seeds: Iterable[Seed], total: int | None) -> Iterator[Seed]:
        told.append((doing, total))
        return iter(seeds)

    seeds = open_seeds(["http://a.test/"], "-", io.BytesIO(b"http://b.test/\n"), URLS, tell)
    assert [seed.url.host for seed in seeds] == ["a.test", "b.test"]
    assert told == [("checking seeds", None), ("publishing seeds", 2)]


def test_a_bare_dash_is_standard_input() -> None:
    for path in (None, "-"):
        seeds = open_seeds(["http://a.test/", "-"], path, io.BytesIO(b"http://b.test/\n"), URLS)
        assert [seed.url.host for seed in seeds] == ["a.test", "b.test"]
    with pytest.raises(BadInput, match=r"from standard input \(-\) or from seeds\.txt, not from both"):
        open_seeds(["-"], "seeds.txt", EMPTY, URLS)


def test_a_temporary_folder_without_room_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = b"http://a.test/\n" * 100_000
    with files_limited_to(500_000), pytest.raises(BadInput, match=re.escape(f"cannot keep seeds in {tmp_path}, which")):
        open_seeds([], "-", io.BytesIO(data), URLS)


def refused(data: bytes) -> str:
    with pytest.raises(BadInput) as error:
        read(data)
    return str(error.value)


def test_lines_of_urls_and_of_json() -> None:
    text = b"""\xef\xbb\xbfhttp://a.test\r
# a comment

  http://b.test/x
{"url": "http://c.test/", "label": "one", "depth": 2, "priority": 4}
{"url": "http://d.test/", "label": null}"""
    assert read(text) == [
        ("http://a.test/", "", 0, None),
        ("http://b.test/x", "", 0, None),
        ("http://c.test/", "one", 2, 4),
        ("http://d.test/", "", 0, None),
    ]


def test_arguments_come_first_and_all_can_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://b.test/\n")
    seeds = open_seeds(["http://a.test/"], str(tmp_path / "seeds"), EMPTY, URLS)
    assert [seed.url.host for seed in seeds] == [seed.url.host for seed in seeds] == ["a.test", "b.test"]
    assert seeds.count == 2
    seeds.close()


def test_a_pipe_can_be_read_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"http://a.test/\n",))
    writer.start()
    seeds = open_seeds([], str(pipe), EMPTY, URLS)
    writer.join()
    assert len(list(seeds)) == len(list(seeds)) == 1
    seeds.close()


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b"ftp://a.test/", "standard input:2: not an http(s) URL: 'ftp://a.test/'"),
        (b"a.test/x", "did you mean https://a.test/x?"),
        (b"no url", "not an http(s) URL"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"url": "http://a.test/"', ":2: "),
        (b'{"link": "http://a.test/"}', "unknown field 'link'"),
        (b'{"url": "http://a.test/", "lable": "x"}', "did you mean label?"),
        (b'{"label": "x"}', "missing required field url"),
        (b'{"url": "http://a.test/", "depth": -1}', "depth"),
        (b'{"url": "http://a.test/", "priority": 5}', "priority"),
        (b'{"url": "http://a.test/", "label": 5}', "expected text or none, got integer - at label"),
        (b"http://a.test/" + b"x" * 5000, "longer than max_url_length (4096 characters)"),
        (b"http://a.test/" + b" " * 2000 + b"x", "longer than max_url_length (4096 characters)"),
        (b'{"url": "mailto:a@b"}', "not an http(s) URL"),
        (b"http://a.test/\x1b[2J" + b"\x00" * 5000, ":2: "),
        (b"x" * (1024 * 1024 + 5), "longer than"),
    ],
)
def test_a_wrong_line_is_named(line: bytes, part: str) -> None:
    text = refused(b"http://good.test/\n" + line + b"\nhttp://good.test/\n")
    assert part.lower() in text.lower()
    assert text.isprintable()


def test_a_wrong_argument_is_named() -> None:
    with pytest.raises(BadInput, match="seed 2: not an http"):
        Seeds(["http://a.test/", "nothing"], None, "", URLS)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(BadInput, match=reason):
            open_seeds([], str(path), EMPTY, URLS)


def test_credentials_are_kept_for_their_origin() -> None:
    known: dict[str, str] = {}
    data = b'https://me:a%3Ab@a.test:8443/\n{"url": "http://you@a.test/x"}\nhttp://you:@a.test/y\nhttp://b.test/\n'
    seeds = open_seeds(["http://c.test/@b"], "-", io.BytesIO(data), URLS, authorizations=known)
    assert not [seed.url.href for seed in seeds if "you" in seed.url.href or "me:" in seed.url.href]
    assert known == {"https://a.test:8443": basic("me", "a:b"), "http://a.test": basic("you", "")}


@pytest.mark.parametrize(
    "seed",
    [
        *("https://a.test/2020/https://user@x.test/", "https://a.test/login?next=https://b:c@c.test/"),
        *("https://a.test/#https://b:c@c.test/", "https://a.test/://@x", "https://a.test/me:secret@b.test"),
        *("https://@a.test/", "https://:@a.test/", "https:\\\\a.test\\x://me:secret@b.test"),
    ],
)
def test_what_only_looks_like_credentials_is_none(seed: str) -> None:
    known = {"https://a.test": "Bearer of a table"}
    assert Seeds([seed], None, "", URLS, authorizations=known).count == 1
    assert known == {"https://a.test": "Bearer of a table"}
    assert Seeds([seed], None, "", URLS).count == 1


@pytest.mark.parametrize(
    "seed",
    [
        *(
            "https:me:secret@a.test/",
            "https:/me:secret@a.test/",
            r"https:\\me:secret@a.test/",
            "HTTPS:///me:secret@a.test",
        ),
        *("ht\ntps://me:sec\tret@a.test/", " https://me:secret@a.test/x?y=https://you:other@b.test/ "),
    ],
)
def test_credentials_are_those_of_the_url_however_it_is_written(seed: str) -> None:
    known: dict[str, str] = {}
    assert Seeds([seed], None, "", URLS, authorizations=known).count == 1
    assert known == {"https://a.test": basic("me", "secret")}
    with pytest.raises(BadInput, match="are not used here"):
        Seeds([seed], None, "", URLS)


@pytest.mark.parametrize(
    ("seeds", "part"),
    [
        (["http://me:secret\udcff@a.test/"], "have to be text"),
        (["http://a.test/", "http://me:secret@a.test/", "http://me:other@a.test/x"], "seed 3: another user name or"),
        (["http://m%3Ae:secret@a.test/"], "the name without colon"),
        (["http://me:secret%0A@a.test/"], "have to be text"),
        (["http://me:secret%FF@a.test/"], "have to be text"),
    ],
)
def test_credentials_that_cannot_be_sent_are_refused_in_words(seeds: list[str], part: str) -> None:
    with pytest.raises(BadInput) as error:
        Seeds(seeds, None, "", URLS, authorizations={})
    assert part in str(error.value)
    assert "secret" not in str(error.value)
    with pytest.raises(BadInput, match="are not used here: give them by username_env") as error:
        Seeds(seeds, None, "", URLS)
    assert "secret" not in str(error.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_seeds_or_one_line(data: bytes) -> None:
    try:
        seeds = list(open_seeds([], "-", io.BytesIO(data), URLS))
        assert all(isinstance(seed, Seed) for seed in seeds)
    except BadInput as error:
        assert escape(str(error)) == str(error)
