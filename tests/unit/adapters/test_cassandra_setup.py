"""The versions of Cassandra's tables: what has been applied is known by its number alone."""

from gregor.worker.adapters.cluster.cassandra_setup import versions


def test_each_version_of_the_tables_has_a_number_of_its_own() -> None:
    """Of two with one number, the later would never reach a keyspace that has the earlier."""
    numbers = [version.number for version in versions()]
    assert numbers == list(range(1, len(numbers) + 1))
