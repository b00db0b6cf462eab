"""Where commands may write: never over a crawl."""

from pathlib import Path

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.commands.output import output


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    (tmp_path / "index" / "1").mkdir(parents=True)
    for name in ("crawl.db", "crawl.db-wal", "lock", "pages.csv", "index/1/book.db"):
        (tmp_path / name).write_text("before")
    return tmp_path


@pytest.mark.parametrize("name", ["crawl.db", "crawl.db-wal", "lock", "index/1/book.db"])
def test_nothing_is_written_over_a_file_of_a_crawl(name: str, crawl: Path) -> None:
    with pytest.raises(BadInput, match="it is a file of a crawl"), output(str(crawl / name)):
        pass
    assert (crawl / name).read_text() == "before"


@pytest.mark.parametrize("name", ["pages.csv", "more.csv"])
def test_what_a_command_wrote_beside_it_is_written_anew(name: str, crawl: Path) -> None:
    with output(str(crawl / name)) as file:
        file.write(b"after")
    assert (crawl / name).read_text() == "after"
