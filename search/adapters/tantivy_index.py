"""`Index` in a folder, by tantivy. What is shown of a document is stored with it; its text is not: the crawl has it.

Texts come as terms, joined by spaces, and are split there alone: what a word is, is decided by `gregor.search.terms`.
How far the index is, is a document of its own, so that one commit writes both.
"""

import copy
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import tantivy

from gregor.search.adapters.damage import usable_index
from gregor.search.adapters.read_only import linked
from gregor.search.adapters.tantivy_query import POSITION, RANK, Queries
from gregor.search.adapters.tantivy_spelling import nearly_like
from gregor.search.adapters.whole_searcher import WholeSearcher
from gregor.search.borders import FARTHEST, Answer, Facet, Hit, ScorePart, Unusable
from gregor.search.documents import IndexedDocument
from gregor.search.facets import COUNTED, aggregations, facets
from gregor.search.fields import EXACT, QUICK, RANK_WORTH, SPOKEN, TEXTS, Weights, boost, fields, least, shown
from gregor.search.query import ParsedQuery
from gregor.search.spelling import still_there

_HEAP: Final = 64 * 1024 * 1024
_LISTED: Final = 20_000
"""Documents that are listed at once."""
_HIT: Final = msgspec.msgpack.Decoder(Hit)
_ANALYSER: Final = "terms"


class TantivyIndex:
    """`Index`."""

    def __init__(
        self, folder: Path, *, writable: bool = False, weights: Weights | None = None, heap: int = _HEAP
    ) -> None:
        """Open the index in a folder, made if need be when it is to be written, with so many bytes of memory for what
        is not in its files yet. Raises `Unusable`, `DiskFull`; so does whatever writes."""
        if writable:
            folder.mkdir(parents=True, exist_ok=True)
        elif not folder.is_dir() or not tantivy.Index.exists(str(folder)):
            raise Unusable(f"{folder} holds no index: make one with `gregor index`")
        with usable_index(folder):
            self._linked = None if writable else linked(folder)
            self._index = tantivy.Index(_schema(), str(folder if self._linked is None else self._linked.path))
            self._index.register_tokenizer(_ANALYSER, _analyser())
            self._writer = self._index.writer(heap, 1) if writable else None
        self._folder = folder
        self._schema = self._index.schema
        self._queries = Queries(self._schema, weights or Weights())
        self._quick = Queries(self._schema, weights or Weights(), QUICK)
        self._searcher = WholeSearcher(self._index.searcher(), self._folder)

    def position(self) -> int:
        return self._position() or 0

    def _position(self) -> int | None:
        """What the last commit says; None where nothing was committed."""
        return self._searcher.position(self._queries.position())

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        writer = self._writing()
        with usable_index(self._folder):
            for document in documents:
                writer.delete_documents_by_term("id", document.id)
                writer.add_document(_indexed(document))

    def remove(self, names: Collection[str]) -> None:
        writer = self._writing()
        for name in names:
            writer.delete_documents_by_term("id", name)

    def clear(self) -> None:
        """Take all documents out; as all that is written, seen after `commit`."""
        self._writing().delete_all_documents()

    def commit(self, position: int) -> None:
        writer = self._writing()
        with usable_index(self._folder):
            writer.delete_documents_by_term("id", POSITION)
            writer.add_document(tantivy.Document(id=POSITION, position=position))
            writer.commit()
            self._index.reload()
        self._searcher = WholeSearcher(self._index.searcher(), self._folder)

    def refreshed(self) -> "TantivyIndex":
        """The index as it was committed last; this one goes on with what it sees. Raises `Unusable`."""
        try:
            if self._linked is not None:
                self._linked.renew()
            self._index.reload()
        except (ValueError, OSError) as error:
            raise Unusable(f"the index cannot be read any more: {error}") from None
        again = copy.copy(self)
        again._searcher = WholeSearcher(self._index.searcher(), self._folder)
        return again

    def count(self) -> int:
        return self._searcher.num_docs - (self._position() is not None)

    def documents(self) -> Iterator[Hit]:
        searcher, query, offset = self._searcher, tantivy.Query.all_query(), 0
        while hits := searcher.search(query, _LISTED, count=False, offset=offset).hits:
            for _, address in hits:
                shown = searcher.doc(address).get_first("shown")
                if shown is not None:  # the position has none
                    yield msgspec.msgpack.decode(shown, type=Hit)
            offset += len(hits)

    def search(self, asked: ParsedQuery, limit: int = 10, offset: int = 0, *, quick: bool = False) -> Answer:
        if asked.is_empty:
            return Answer(partial=quick)
        most = least(asked)
        queries, offset = self._quick if quick else self._queries, min(offset, FARTHEST)
        limit = min(limit, FARTHEST - offset)
        chosen = self._newest if asked.newest else self._best
        result, any_word = chosen(queries.query_of(asked, most), limit, offset), False
        if not _count(result) and most > 1:
            result, any_word = chosen(queries.query_of(asked, 1), limit, offset), True
        scored = [(0.0 if asked.newest else score, address) for score, address in result.hits]
        hits = [self._hit(score, address) for score, address in scored] if limit > 0 else []
        return Answer(tuple(hits), _count(result), any_word, quick)

    def _best(self, query: "tantivy.Query", limit: int, offset: int) -> "tantivy.SearchResult":
        by_rank = RANK if self._searcher.has(self._queries.ranked()) else None  # without ranks it takes a tenth less
        return self._searcher.search(query, max(1, limit), offset=offset, weight_by_field=by_rank)

    def _newest(self, query: "tantivy.Query", limit: int, offset: int) -> "tantivy.SearchResult":
        return self._searcher.search(query, max(1, limit), offset=offset, order_by_field="at")

    def facets(self, asked: ParsedQuery, *, any_word: bool = False) -> tuple[Facet, ...]:
        if asked.is_empty:
            return ()
        query = self._queries.query_of(asked, 1 if any_word else least(asked))
        return facets(self._searcher.aggregate(query, aggregations()))

    def frequency(self, term: str) -> int:
        return self._searcher.frequencies(TEXTS, [term])[term]

    def near(self, term: str) -> dict[str, int]:
        counts = nearly_like(self._searcher, term)
        return still_there(counts, lambda other: _count(self._searcher.search(self._queries.anywhere(other), 1)))

    def document(self, name: str) -> Hit | None:
        if name == POSITION or not _is_text(name):
            return None
        found = self._searcher.search(self._queries.named(name), 1, count=False).hits
        return self._hit(0.0, found[0][1]) if found else None

    def why(self, asked: ParsedQuery, name: str) -> list[ScorePart]:
        hit = self.document(name)
        if hit is None:
            return []
        reasons = [reason for word in asked.words for reason in self._worth(word, name)]
        for place, phrase in self._queries.phrases_of(asked.words):
            if score := self._score(phrase, name):
                reasons.append(ScorePart(place.spoken, " ".join(asked.words), score))
        if hit.rank and reasons:
            ranked = sum(reason.score for reason in reasons) * RANK_WORTH * hit.rank
            reasons.append(ScorePart("links that lead there (rank)", "", ranked))
        return reasons

    def _worth(self, word: str, name: str) -> list[ScorePart]:
        """What a word is worth in each field."""
        scores = {field: self._score(self._queries.term(field, word), name) for field in TEXTS}
        return [ScorePart(SPOKEN[field], word, score) for field, score in scores.items() if score]

    def _score(self, query: "tantivy.Query", name: str) -> float:
        """What a query is worth for one document."""
        both = tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, self._queries.named(name)), (tantivy.Occur.Must, query)]
        )
        return float(sum(score for score, _ in self._searcher.search(both, 1, count=False).hits))

    def close(self) -> None:
        # Files that are being merged are merged to the end: with few of them a query takes two thirds of the time.
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.wait_merging_threads()

    def _writing(self) -> "tantivy.IndexWriter":
        if self._writer is None:
            raise RuntimeError("the index was opened for searching")
        return self._writer

    def _hit(self, score: float, address: "tantivy.DocAddress") -> Hit:
        hit = _HIT.decode(self._searcher.doc(address)["shown"][0])
        msgspec.structs.force_setattr(
            hit, "score", score
        )  # nobody else has it yet; a copy would cost as much as reading
        return hit


def _is_text(name: str) -> bool:
    """Whether it can be written: half a surrogate pair cannot, and names nothing."""
    return not any("\ud800" <= sign <= "\udfff" for sign in name)


def _count(found: "tantivy.SearchResult") -> int:
    count: int = found.count  # type: ignore[attr-defined]  # the stubs leave it out
    return count


def _schema() -> "tantivy.Schema":
    builder = tantivy.SchemaBuilder()
    for name in ("id", *EXACT):
        builder.add_text_field(name, fast=name in COUNTED, tokenizer_name="raw", index_option="basic")
    for name in TEXTS:
        builder.add_text_field(name, tokenizer_name=_ANALYSER, index_option="position")
    builder.add_float_field("at", fast=True, indexed=True)
    builder.add_float_field(RANK, fast=True)
    builder.add_unsigned_field(POSITION, stored=True)
    builder.add_bytes_field("shown", stored=True)
    return builder.build()


def _analyser() -> "tantivy.TextAnalyzer":
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def _indexed(document: IndexedDocument) -> "tantivy.Document":
    values: dict[str, Any] = {
        **fields(document),
        "id": document.id,
        RANK: 2.0 ** boost(document.rank) - 2.0,  # the engine multiplies by log2(2 + this)
        "shown": msgspec.msgpack.encode(shown(document)),
    }
    return tantivy.Document(**values)
