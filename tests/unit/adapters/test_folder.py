"""The data folder: who may use it, and what refuses it; one clear line each."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from gregor.worker.adapters.embedded import change_orders
from gregor.worker.adapters.embedded.coordinator import read_orders
from gregor.worker.adapters.embedded.folder import Folder, FolderError, FolderInUse, connect_reading
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.orders.model import Order, Orders
from tests.contract.world import ordered


def make(path: Path, partitions: int = 64, canonical: str = "rules 1") -> str:
    folder = Folder.open(path, partitions, canonical)
    folder.close()
    return folder.crawl_id


def test_a_folder_keeps_its_random_id(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a"), make(tmp_path / "deep" / "er" / "b")
    assert first != second
    assert make(tmp_path / "a") == first


def test_an_empty_folder_is_as_good_as_none(tmp_path: Path) -> None:
    make(tmp_path)
    make(tmp_path)


def test_a_folder_in_use_is_refused_with_its_process(tmp_path: Path) -> None:
    folder = Folder.open(tmp_path, 64, "rules 1")
    with pytest.raises(FolderInUse, match=f"in use by process {os.getpid()}") as refused:
        make(tmp_path)
    assert refused.value.pid == os.getpid()
    folder.close()
    folder.close()
    make(tmp_path)


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from gregor.worker.adapters.embedded.folder import Folder;"
        "folder = Folder.open(pathlib.Path(sys.argv[1]), 64, 'rules 1'); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(FolderInUse, match=f"process {other.pid}:"):
            make(tmp_path)
        other.send_signal(signal.SIGKILL)
        other.wait()
    make(tmp_path)


def test_another_number_of_partitions_is_refused(tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(FolderError, match="number of partitions 64, not 128"):
        make(tmp_path, partitions=128)
    make(tmp_path)  # and it was let go


def test_another_canonical_form_is_refused(tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(FolderError, match="canonical form of URLs rules 1, not rules 2"):
        make(tmp_path, canonical="rules 2")


def test_another_format_is_refused(tmp_path: Path) -> None:
    make(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE name = 'format'")
    connection.close()
    with pytest.raises(FolderError, match="of format 999"):
        make(tmp_path)
    with pytest.raises(FolderError, match="of format 999"):
        connect_reading(tmp_path)


def test_a_folder_of_something_else_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FolderError, match="not empty and holds no crawl"):
        make(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"\x00" * 4096])
def test_a_broken_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DATABASE).write_bytes(content)
    with pytest.raises(FolderError, match=DATABASE):
        make(tmp_path)
    with pytest.raises(FolderError, match=DATABASE):
        connect_reading(tmp_path)


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(FolderError, match="no crawl of this program"):
        make(tmp_path)


def test_a_run_that_was_killed_while_it_made_the_folder_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("1\n")
    (tmp_path / DATABASE).touch()
    make(tmp_path)


def test_a_path_that_cannot_be_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, part in ((tmp_path / "file", "it is no folder"), (tmp_path / "file" / "below", "Not a directory")):
        with pytest.raises(FolderError, match=f"cannot be used: {part}"):
            make(path)


def test_a_folder_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(FolderError, match="cannot be used"):
        make(Path("/proc/crawl"))  # not even root may


def test_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("unmounted")
    with pytest.raises(FolderError, match="a link to unmounted, which is not there"):
        make(tmp_path / "link")


def test_reading_needs_a_crawl(tmp_path: Path) -> None:
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / DATABASE).touch()
    for path in (tmp_path, tmp_path / "none", tmp_path / "begun"):
        with pytest.raises(FolderError, match="holds no crawl"):
            connect_reading(path)


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    make(tmp_path)
    connection, made_for = connect_reading(tmp_path)
    assert made_for["partitions"] == "64"
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM meta")
    connection.close()


def test_orders_can_be_given_to_a_folder_in_use(tmp_path: Path) -> None:
    folder = Folder.open(tmp_path, 64, "rules 1")
    change_orders(tmp_path, lambda _: ordered(Order("pause")))
    connection, _ = connect_reading(tmp_path)
    assert read_orders(connection) == ordered(Order("pause"))
    connection.close()
    folder.close()


def test_orders_need_a_crawl(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="holds no crawl"):
        change_orders(tmp_path, lambda _: Orders())


def test_orders_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    make(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("CREATE TRIGGER full BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'no room'); END")
    connection.close()
    with pytest.raises(FolderError, match=r"orders in .* cannot be written: no room"):
        change_orders(tmp_path, lambda _: ordered(Order("pause")))
