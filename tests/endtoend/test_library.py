"""`gregor.open` and `gregor.Crawl`: every example of docs/library.md, and what it gives."""

import asyncio
import pickle
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import gregor
from gregor.schemas.messages import Link
from gregor.worker.demo.server import serving
from tests.endtoend.stored import store
from tests.reading import AT

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), re.DOTALL)
PAGE = b"""<h1>One</h1><a href=/b>b</a><time datetime=2026-11-29>
<script type="application/ld+json">{"@type": "Thing", "name": "n"}</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library")
    link = Link("http://a.test/b", "a", text="b")
    store(made / "data", {"http://a.test/": PAGE, "http://b.test/": b"<h1>Two"}, {"http://a.test/": [link]})
    (made / "rules.toml").write_text('[[item]]\nname = "x"\n[item.fields]\ntitle = "h1"')
    return made


@pytest.fixture(autouse=True)
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The bundled web on loopback, as settings in the environment; a start page in it."""
    table = tmp_path_factory.mktemp("town") / "hosts.table"
    with serving() as web:
        table.write_text("\n".join(web.host_table_lines))
        yield {
            "GREGOR_HOST_TABLE": str(table),
            "GREGOR_DELAY_FACTOR": "0",
            "GREGOR_MAX_CRAWL_DELAY": "0.05",
            "GREGOR_MAX_TIME": "60",
            "GREGOR_DELAY": "0",
        }


@pytest.fixture
def settled(town: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in town.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("example", [example for example in EXAMPLES if "gregor.Crawl(" in example])
def test_every_example_crawls(
    example: str,
    town: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in town.items():
        monkeypatch.setenv(name, value)
    example = example.replace("https://www.example.org/", "http://harbour.example/").replace("delay=1", "delay=0")
    exec(compile(example, "docs/library.md", "exec"), {"__name__": "example"})
    assert "http://harbour.example/" in capsys.readouterr().out


async def rest(data: Path) -> list[str]:
    async with gregor.Crawl(data=data) as crawl:
        return [page.url async for page in crawl]


def test_a_crawl_that_is_left_goes_on(settled: None, folder: Path, tmp_path: Path) -> None:
    first = []
    rules = [str(folder / "rules.toml")]
    with gregor.Crawl(["http://harbour.example/"], data=tmp_path / "data", rules=rules, delay=0.02) as crawl:
        for page in crawl:
            first.append(page.url)
            assert page.items()[0]["title"] == page.css("h1")[0]
            if len(first) == 2:
                break
        first.append(next(iter(crawl)).url)
        crawl.stop()
    assert crawl.reason == "stopped"
    with pytest.raises(RuntimeError, match="once"):
        crawl.__enter__()
    more = asyncio.run(rest(tmp_path / "data"))
    with gregor.open(tmp_path / "data") as archive:
        stored = {page.url for page in archive.pages()}
        items = list(archive.items())
        assert all(page.items == pickle.loads(pickle.dumps(page.items)) for page in archive.pages())
        assert [item["title"] for page in archive.pages() for item in page.items()] == [item["title"] for item in items]
        assert archive.arrow("items").num_rows == len(items) > 5
    assert {item["_url"] for item in items} <= stored and {item["_change"] for item in items} == {"new"}
    assert len(stored) > 5 and set(first) | set(more) <= stored and not set(first) & set(more)
    assert asyncio.run(rest(tmp_path / "data")) == []
    with pytest.warns(RuntimeWarning, match=r"settings of this crawl change: .*delay was 0, now 0\.03"):
        gregor.Crawl(data=tmp_path / "data", delay=0.03)


@pytest.mark.parametrize("example", [example for example in EXAMPLES if "gregor.open(" in example])
def test_every_example_reads(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(example, "docs/library.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out


def test_a_page() -> None:
    with gregor.open("data") as crawl:
        page = crawl.page("http://A.test")
        assert page is not None
        assert (page.url, page.host, page.status, page.state, page.version) == (
            "http://a.test/",
            "a.test",
            200,
            "fetched",
            1,
        )
        assert (page.fetched_at, page.language, page.label) == (datetime.fromtimestamp(AT, UTC), "en", None)
        assert (page.css("h1"), page.css("a::attr(href)"), page.xpath("//h1/text()")) == (["One"], ["/b"], ["One"])
        assert page.json("name") == ["n"] and page.schema("Thing") == [{"@type": "Thing", "name": "n"}]
        assert page.html.encode() == page.body == PAGE
        assert page.items("rules.toml")[0]["title"] == "One"
        assert [link.text for link in page.links] == ["b"]
        assert crawl.page("http://none.test/") is None
        with pytest.raises(gregor.BadInput, match="url wants a text, not NoneType"):
            crawl.page(None)  # type: ignore[arg-type]
        with pytest.raises(gregor.BadInput, match="version wants an integer, not str"):
            crawl.page("http://a.test/", "1")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no CSS selector"):
            page.css("li[")


def test_what_is_chosen() -> None:
    with gregor.open("data", max_url_length=2000) as crawl:
        assert {page.url for page in crawl.pages()} == {"http://a.test/", "http://b.test/"}
        assert [page.url for page in crawl.pages(host="b.test")] == ["http://b.test/"]
        assert not list(crawl.pages(since=datetime.now(UTC))) and not list(crawl.pages(state="gone"))
        assert [item["title"] for item in crawl.items(["rules.toml"], host="b.test")] == ["Two"]
        assert [link["target"] for link in crawl.links()] == ["http://a.test/b"]
        assert crawl.explain("http://a.test/")["state"] == "fetched"
        assert crawl.arrow("hosts").column("host").to_pylist() == ["a.test", "b.test"]
        first = next(iter(crawl.pages()))  # the rest is left, and closing waits for nobody
        assert first.title == "One"


def test_a_table_as_a_frame() -> None:
    with gregor.open("data") as crawl:
        assert set(crawl.dataframe("links")["target"]) == {"http://a.test/b"}


def test_of_a_frame_the_extra_that_has_all_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    with gregor.open("data") as crawl, pytest.raises(gregor.BadInput, match=r"gregor-crawler\[dataframe\]"):
        crawl.dataframe("links")


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        ("pandas", "dataframe", lambda: gregor.open("data").dataframe("links")),
        ("pyarrow", "export", lambda: gregor.open("data").dataframe("links")),
        ("pyarrow", "export", lambda: gregor.open("data").arrow("pages")),
        ("cassandra", "cluster", lambda: gregor.open("data", engine="cluster", cassandra=["127.0.0.1:1"])),
        ("resiliparse", "text", lambda: gregor.Crawl("http://a.test/", data="new", text="main").__enter__()),
    ],
)
def test_a_package_that_is_missing_is_named(
    module: str, extra: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = (module, "gregor.worker.adapters.cluster", "gregor.worker.compose.cluster")
    for name in [name for name in sys.modules if name == module or name.startswith(loaded[1:])]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(gregor.BadInput) as caught:
        use()
    assert f"pip install 'gregor-crawler[{extra}]'" in str(caught.value) and "\n" not in str(caught.value)


async def reading_in_a_loop() -> int:
    with gregor.open("data") as crawl:
        return len(list(crawl.pages()))


def test_it_reads_where_a_loop_runs_as_in_a_notebook() -> None:
    assert asyncio.run(reading_in_a_loop()) == 2


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: gregor.open("nowhere"), "nowhere"),
        (lambda: gregor.open("data", dely=1), "did you mean delay?"),
        (lambda: gregor.open("data", delay=object()), "delay wants a text, a number"),
        (lambda: gregor.open("data").page("nothing"), "not an http(s) URL"),
        (lambda: list(gregor.open("data").pages(since=datetime(2026, 1, 1))), "with a time zone"),  # noqa: DTZ001
        (lambda: list(gregor.open("data").pages(since="soon")), "an age such as 12h"),
        (lambda: list(gregor.open("data").pages(since=[])), "unix seconds, a datetime"),  # type: ignore[arg-type]
        (lambda: list(gregor.open("data").pages(state="nix")), "there are fetched, duplicate"),
        (lambda: list(gregor.open("data").links(host="a b")), "is no host"),
        (lambda: list(gregor.open("data").items("nowhere.toml")), "cannot read nowhere.toml"),
        (lambda: gregor.Crawl(data="nowhere"), "no seed is given, and there is no crawl in nowhere"),
        (lambda: gregor.Crawl("nothing", data="nowhere"), "seed 1: not an http(s) URL"),
        (lambda: gregor.Crawl("http://a.test/", rules="nowhere.toml"), "cannot read nowhere.toml"),
        (lambda: gregor.Crawl("http://a.test/", dely=1), "did you mean delay?"),
        (lambda: gregor.Crawl("http://a.test/", engine="cluster"), "gregor.Crawl is for one machine"),
    ],
)
def test_what_cannot_be_is_one_line(call: object, part: str) -> None:
    assert callable(call)
    with pytest.raises(gregor.BadInput) as caught:
        call()
    assert part in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_closed_says_so() -> None:
    with gregor.open("data") as crawl:
        page = next(iter(crawl.pages(since="2000-01-01", host="HTTP://A.test/")))
    for call in (lambda: list(crawl.pages()), lambda: crawl.page("http://a.test/"), lambda: page.body):
        with pytest.raises(RuntimeError, match="this crawl is closed"):
            call()


def test_a_crawl_of_which_nothing_came_says_why(settled: None, tmp_path: Path) -> None:
    with (
        pytest.warns(RuntimeWarning, match="the seed could not be fetched: http://nowhere.invalid/"),
        gregor.Crawl("http://nowhere.invalid/", data=tmp_path / "data", retries=0) as crawl,
    ):
        assert list(crawl) == []


def test_damage_is_a_warning(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with (
        sqlite3.connect(folder / "data" / "crawl.db") as source,
        sqlite3.connect(tmp_path / "data" / "crawl.db") as copy,
    ):
        source.backup(copy)
        copy.execute("UPDATE pages SET data = x'00' WHERE key = 'http://a.test/'")
    with gregor.open(tmp_path / "data") as crawl, pytest.warns(RuntimeWarning, match="gregor check"):
        assert [page.url for page in crawl.pages()] == ["http://b.test/"]


def test_importing_reads_nothing_heavy() -> None:
    code = "import gregor, sys; sys.exit(any(name.startswith('gregor.worker') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert not hasattr(gregor, "anything")
