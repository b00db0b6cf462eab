"""A searcher of tantivy's whose files may be damaged: what it cannot read is said as that, not as a fault of ours."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import tantivy

from gregor.search.borders import Unusable

T = TypeVar("T")
_PANIC: Final = "PanicException"
"""What pyo3 makes of a panic in Rust: no Exception, and of a class that cannot be imported."""


class WholeSearcher:
    """What an index asks of a searcher. Every method raises `Unusable` where a file is damaged."""

    def __init__(self, searcher: "tantivy.Searcher", folder: Path) -> None:
        """``folder``: where the files are."""
        self._searcher = searcher
        self._folder = folder

    @property
    def num_docs(self) -> int:
        """How many documents there are."""
        return int(self._searcher.num_docs)

    def search(self, query: "tantivy.Query", limit: int, **options: Any) -> "tantivy.SearchResult":
        """See tantivy."""
        return self._read(lambda: self._searcher.search(query, limit, **options))

    def doc(self, address: "tantivy.DocAddress") -> "tantivy.Document":
        """See tantivy."""
        return self._read(lambda: self._searcher.doc(address))

    def doc_freq(self, field: str, term: str) -> int:
        """See tantivy."""
        return self._read(lambda: self._searcher.doc_freq(field, term))

    def aggregate(self, query: "tantivy.Query", wanted: dict[str, Any]) -> dict[str, Any]:
        """See tantivy."""
        return self._read(lambda: self._searcher.aggregate(query, wanted))

    def _read(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except BaseException as error:
            if isinstance(error, ValueError | OSError) or type(error).__name__ == _PANIC:
                text = f"{self._folder} is damaged: {' '.join(str(error).split())}; `gregor index --rebuild` makes the "
                raise Unusable(f"{text}index anew") from None
            raise
