"""Packages that an extra installs: where one is missing, it is named."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gregor.worker.base.errors import BadInput

_EXTRAS: Final = {
    "cluster": ("cassandra", "confluent_kafka", "kazoo", "redis", "uvloop"),
    "dataframe": ("pandas",),
    "export": ("duckdb", "fsspec", "pyarrow", "s3fs"),
    "extract": ("dateparser", "price_parser", "yaml"),
    "opensearch": ("opensearchpy",),
    "pdf": ("pypdf",),
    "search": ("tantivy", "scipy", "numpy"),
    "spark": ("pyspark", "py4j"),
    "text": ("resiliparse",),
    "topic": ("sklearn", "threadpoolctl", "scipy", "numpy"),
    "tracing": ("opentelemetry",),
}
_WANTED_FOR: Final = {
    "cluster": "a crawl on servers needs their clients",
    "dataframe": "a DataFrame needs packages more",
    "opensearch": "an engine is missing",
    "search": "an engine is missing",
    "spark": "an engine is missing",
    "topic": "learning from labelled pages needs packages more",
}


def advice(error: ModuleNotFoundError, extra_wanted: str | None = None) -> str | None:
    """What to install for what is missing, in one line; None for what no extra has.

    Some packages are in several extras: ``extra_wanted`` is the one that whoever missed it is part of.
    """
    missing = (error.name or "").partition(".")[0]
    for extra, modules in _EXTRAS.items():
        if missing in modules and extra_wanted in (None, extra):
            wanted_for = _WANTED_FOR.get(extra, f"{missing} is missing")
            return f"{wanted_for}: pip install 'gregor-crawler[{extra}]'"
    return None


@contextmanager
def named_if_missing(extra_wanted: str | None = None) -> Iterator[None]:
    """Raises `BadInput` with that line in the place of the `ModuleNotFoundError`."""
    try:
        yield
    except ModuleNotFoundError as error:
        line = advice(error, extra_wanted)
        if line is None:
            raise
        raise BadInput(line) from None
