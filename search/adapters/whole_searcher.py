"""A searcher of tantivy's whose files may be damaged: what it cannot read is said as that, not as a fault of ours."""

from collections.abc import Callable, Iterable, Sequence
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
        self._has: bool | None = None
        self._position: list[int] | None = None

    @property
    def num_docs(self) -> int:
        """How many documents there are."""
        return int(self._searcher.num_docs)

    def search(self, query: "tantivy.Query", limit: int, **options: Any) -> "tantivy.SearchResult":
        """See tantivy."""
        return self._read(lambda: self._searcher.search(query, limit, **options))

    def has(self, query: "tantivy.Query") -> bool:
        """Whether any document is found by a query, always the same one: it is asked once."""
        if self._has is None:
            self._has = bool(self.search(query, 1, count=False).hits)
        return self._has

    def position(self, query: "tantivy.Query") -> int | None:
        """What the document of a query says of how far the index is, always the same one: it is asked once."""
        if self._position is None:
            hits = self.search(query, 1, count=False).hits
            self._position = [int(self.doc(address).get_first("position") or 0) for _, address in hits]
        return self._position[0] if self._position else None

    def doc(self, address: "tantivy.DocAddress") -> "tantivy.Document":
        """See tantivy."""
        return self._read(lambda: self._searcher.doc(address))

    def frequencies(self, fields: Sequence[str], terms: Iterable[str]) -> dict[str, int]:
        """How many documents have each term, in the field where most have it."""
        ask = self._searcher.doc_freq
        return self._read(lambda: {term: max([ask(field, term) for field in fields]) for term in terms})

    def terms_with(self, field: str, begin: str, limit: int) -> list[tuple[str, int]]:
        """The terms of a field that begin so, each with how many documents have it; so many, the commonest."""
        return self._read(lambda: self._searcher.terms_with_prefix(field, begin, None, limit))

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
