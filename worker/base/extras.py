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
    "tracing": ("opentelemetry",),
}
_WANTED_FOR: Final = {
    "cluster": "a crawl on servers needs their clients",
    "dataframe": "a DataFrame needs packages more",
    "opensearch": "an engine is missing",
    "search": "an engine is missing",
    "spark": "an engine is missing",
}


def advice(error: ModuleNotFoundError) -> str | None:
    """What to install for what is missing, in one line; None for what no extra has."""
    missing = (error.name or "").partition(".")[0]
    for extra, modules in _EXTRAS.items():
        if missing in modules:
            wanted_for = _WANTED_FOR.get(extra, f"{missing} is missing")
            return f"{wanted_for}: pip install 'gregor-crawler[{extra}]'"
    return None


@contextmanager
def named_if_missing() -> Iterator[None]:
    """Raises `BadInput` with that line in the place of the `ModuleNotFoundError`."""
    try:
        yield
    except ModuleNotFoundError as error:
        line = advice(error)
        if line is None:
            raise
        raise BadInput(line) from None
