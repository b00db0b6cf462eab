"""A transaction holds whole or not at all, also when SQLite takes it back by itself."""

import sqlite3
from contextlib import closing

import pytest

from gregor.worker.base.transaction import transaction


def test_what_fails_is_taken_back_and_told_as_it_is() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE kept (value BLOB)")
        with transaction(connection):
            connection.execute("INSERT INTO kept VALUES ('first')")
        with pytest.raises(RuntimeError), transaction(connection):
            connection.execute("INSERT INTO kept VALUES ('second')")
            raise RuntimeError
        connection.execute("PRAGMA max_page_count = 10").fetchone()
        with pytest.raises(sqlite3.OperationalError, match="full"), transaction(connection):
            connection.execute("INSERT INTO kept VALUES ('third')")
            connection.executemany("INSERT INTO kept VALUES (?)", [(bytes(4096),)] * 20)
        with transaction(connection):
            connection.execute("INSERT INTO kept VALUES ('last')")
        assert connection.execute("SELECT value FROM kept").fetchall() == [("first",), ("last",)]
