"""What a crawl was made for is kept beside its data on every server, and never changes."""

from collections.abc import Mapping
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line

WAY_OUT: Final = "it is fixed once per crawl: set it back, or begin another crawl under another name (setting crawl)"
_WAYS: Final = {
    "crawl": "two crawls never share one: set crawl back, or give this one another place",
    "id": "they are of two crawls: Cassandra's keyspace was made anew, and this was not; begin under another name "
    "(setting crawl)",
}


def compare(place: str, wanted: Mapping[str, str], kept: Mapping[str, str]) -> None:
    """Raises BadInput, saying what to do, when what is kept at a place was made for something else."""
    for name, value in wanted.items():
        if kept.get(name) != value:
            was = one_line(str(kept.get(name)))
            raise BadInput(f"{place} was made for {name} = {was}, not {value}; {_WAYS.get(name, WAY_OUT)}")
