"""A transaction of SQLite: all of it holds, or nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Begin one that may write, and commit it in the end; what fails within, or with the commit, takes it back.

    The connection commits by itself (``isolation_level=None``). Raises what the block and SQLite raise.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk makes SQLite take it back by itself
            connection.execute("ROLLBACK")
        raise
