"""`Index` in a folder, by tantivy. What is shown of a document is stored with it; its text is not: the crawl has it.

Texts come as terms, joined by spaces, and are split there alone: what a word is, is decided by `gregor.search.terms`.
How far the index is, is a document of its own, so that one commit writes both.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import tantivy

from gregor.search.borders import Answer, Hit, Unusable
from gregor.search.documents import (
    MOST_TERMS,
    MOST_URLS,
    Document,
    anchor_terms,
    languages,
    sites,
    types,
    url_terms,
)
from gregor.search.query import Asked, Filter
from gregor.search.terms import terms

_HEAP: Final = 64 * 1024 * 1024
_MAY_LACK: Final = 4
"""One in so many words of a query may be missing in what is found."""
_LONGEST_PHRASE: Final = 6
"""Words of a query that are looked for together in texts: more of them are a title, and seldom stand in a text."""
_POSITION: Final = "position"
_RANK: Final = "rank"
_RANK_WORTH: Final = 0.25
"""By so much of its score the best ranked document is put up; one that is not ranked stays as it is."""
_ANALYSER: Final = "terms"
_EXACT: Final = ("id", "host", "site", "language", "type")
_TEXTS: Final = ("title", "text", "anchors", "url")


class Weights(msgspec.Struct, frozen=True):
    """What a term counts in each field, and what it is worth that words stand together."""

    title: float = 3.0
    text: float = 1.0
    anchors: float = 1.5
    url: float = 0.7
    title_phrase: float = 2.0
    text_phrase: float = 1.0
    tie: float = 0.4


class TantivyIndex:
    """`Index`."""

    def __init__(self, folder: Path, *, writable: bool = False, weights: Weights | None = None) -> None:
        """Open the index in a folder, made if need be when it is to be written. Raises `Unusable`."""
        self._weights = weights or Weights()
        if writable:
            folder.mkdir(parents=True, exist_ok=True)
        elif not folder.is_dir() or not tantivy.Index.exists(str(folder)):
            raise Unusable(f"{folder} holds no index: make one with `gregor index`")
        try:
            self._index = tantivy.Index(_schema(), str(folder))
            self._index.register_tokenizer(_ANALYSER, _analyser())
            self._writer = self._index.writer(_HEAP, 1) if writable else None
        except ValueError as error:
            raise Unusable(f"{folder} cannot be used: {error}; `gregor index --rebuild` makes the index anew") from None
        self._schema = self._index.schema
        self._searcher = self._index.searcher()

    def position(self) -> int:
        query = tantivy.Query.term_query(self._schema, "id", _POSITION)
        for _, address in self._searcher.search(query, 1, count=False).hits:
            return int(self._searcher.doc(address).get_first("position") or 0)
        return 0

    def put(self, documents: Sequence[Document]) -> None:
        writer = self._writing()
        for document in documents:
            writer.delete_documents_by_term("id", document.id)
            writer.add_document(_indexed(document))

    def remove(self, names: Collection[str]) -> None:
        writer = self._writing()
        for name in names:
            writer.delete_documents_by_term("id", name)

    def commit(self, position: int) -> None:
        writer = self._writing()
        writer.delete_documents_by_term("id", _POSITION)
        writer.add_document(tantivy.Document(id=_POSITION, position=position))
        writer.commit()
        self.refresh()

    def refresh(self) -> None:
        """See what another process has committed since."""
        self._index.reload()
        self._searcher = self._index.searcher()

    def count(self) -> int:
        return self._searcher.num_docs - (1 if self.position() else 0)

    def search(self, asked: Asked, limit: int = 10, offset: int = 0) -> Answer:
        if asked.is_empty:
            return Answer()
        most = len(asked.words) - len(asked.words) // _MAY_LACK
        found = self._searcher.search(self._query(asked, most), limit, offset=offset, weight_by_field=_RANK)
        any_word = False
        if not _count(found) and most > 1:
            any_word = True
            found = self._searcher.search(self._query(asked, 1), limit, offset=offset, weight_by_field=_RANK)
        return Answer(tuple(self._hit(score, address) for score, address in found.hits), _count(found), any_word)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.rollback()
            self._writer = None

    def _writing(self) -> "tantivy.IndexWriter":
        if self._writer is None:
            raise RuntimeError("the index was opened for searching")
        return self._writer

    def _hit(self, score: float, address: "tantivy.DocAddress") -> Hit:
        shown = msgspec.msgpack.decode(self._searcher.doc(address)["shown"][0], type=Hit)
        return msgspec.structs.replace(shown, score=score)

    def _query(self, asked: Asked, least: int) -> "tantivy.Query":
        """``least``: so many of the words have to be there."""
        weights, query = self._weights, tantivy.Query
        parts: list[tuple[tantivy.Occur, tantivy.Query]] = []
        words = [(tantivy.Occur.Should, self._term(word)) for word in asked.words]
        if words:
            parts.append((tantivy.Occur.Must, query.boolean_query(words, least)))
        if len(asked.words) > 1:
            together: list[str | tuple[int, str]] = list(asked.words)
            in_text = weights.text_phrase if len(together) <= _LONGEST_PHRASE else 0.0
            for field, worth in (("title", weights.title_phrase), ("text", in_text)):
                if worth:
                    phrase = query.boost_query(query.phrase_query(self._schema, field, together), worth)
                    parts.append((tantivy.Occur.Should, phrase))
        parts += [(tantivy.Occur.Must, self._anywhere(phrase)) for phrase in asked.phrases]
        parts += [(tantivy.Occur.MustNot, self._anywhere(phrase)) for phrase in asked.without]
        parts += self._conditions(asked)
        if not words and all(occur == tantivy.Occur.MustNot for occur, _ in parts):
            parts.append((tantivy.Occur.Must, query.all_query()))
        return query.boolean_query(parts)

    def _term(self, term: str) -> "tantivy.Query":
        """A term in any of the texts; the field where it is worth most counts most."""
        query = tantivy.Query
        fields = [
            query.boost_query(query.term_query(self._schema, field, term, "freq"), getattr(self._weights, field))
            for field in _TEXTS
        ]
        return query.disjunction_max_query(fields, self._weights.tie)

    def _anywhere(self, phrase: tuple[str, ...], fields: Sequence[str] = _TEXTS) -> "tantivy.Query":
        """Terms next to each other in one of the texts; it counts nothing more than its terms do."""
        query = tantivy.Query
        found = [
            query.phrase_query(self._schema, field, list(phrase))
            if len(phrase) > 1
            else query.term_query(self._schema, field, phrase[0], "basic")
            for field in fields
        ]
        return query.const_score_query(query.boolean_query([(tantivy.Occur.Should, one) for one in found]), 0.0)

    def _conditions(self, asked: Asked) -> list[tuple["tantivy.Occur", "tantivy.Query"]]:
        query, conditions = tantivy.Query, []
        wanted: dict[str, list[tantivy.Query]] = {}
        for condition in asked.filters:
            if condition.without:
                conditions.append((tantivy.Occur.MustNot, self._condition(condition)))
            else:
                wanted.setdefault(condition.name, []).append(self._condition(condition))
        for found in wanted.values():
            any_of = query.boolean_query([(tantivy.Occur.Should, one) for one in found])
            conditions.append((tantivy.Occur.Must, query.const_score_query(any_of, 0.0)))
        if asked.since is not None or asked.until is not None:
            dated = query.range_query(
                self._schema, "at", tantivy.FieldType.Float, asked.since, asked.until, include_upper=asked.until is None
            )
            conditions.append((tantivy.Occur.Must, query.const_score_query(dated, 0.0)))
        if not asked.words:  # it has no words
            conditions.append((tantivy.Occur.MustNot, query.term_query(self._schema, "id", _POSITION)))
        return conditions

    def _condition(self, condition: Filter) -> "tantivy.Query":
        match condition.name:
            case "inurl":
                return self._anywhere(condition.value, ("url",))
            case "intitle":
                return self._anywhere(condition.value, ("title",))
            case name:
                field = {"lang": "language"}.get(name, name)
                return tantivy.Query.term_query(self._schema, field, condition.value[0], "basic")


def _count(found: "tantivy.SearchResult") -> int:
    count: int = found.count  # type: ignore[attr-defined]  # the stubs leave it out
    return count


def _schema() -> "tantivy.Schema":
    builder = tantivy.SchemaBuilder()
    for name in _EXACT:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in _TEXTS:
        builder.add_text_field(name, tokenizer_name=_ANALYSER, index_option="position")
    builder.add_float_field("at", fast=True, indexed=True)
    builder.add_float_field(_RANK, fast=True)
    builder.add_unsigned_field(_POSITION, stored=True)
    builder.add_bytes_field("shown", stored=True)
    return builder.build()


def _analyser() -> "tantivy.TextAnalyzer":
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def _indexed(document: Document) -> "tantivy.Document":
    keys = [key for key, _ in document.keys[:MOST_URLS]]
    shown = Hit(
        id=document.id,
        key=document.key,
        visit=document.visit,
        keys=tuple(keys),
        href=document.href,
        host=document.host,
        title=document.title,
        language=document.language,
        content_type=document.content_type,
        at=document.at,
        size=document.size,
        score=0.0,
        near=document.near,
        rank=document.rank,
    )
    fields: dict[str, Any] = {
        "id": document.id,
        "host": document.host,
        "site": sites(document.host),
        "language": languages(document.language),
        "type": types(document.content_type),
        "title": " ".join(terms(document.title)),
        "text": " ".join(terms(document.text)[:MOST_TERMS]),
        "anchors": " ".join(anchor_terms(document.anchors)),
        "url": " ".join(url_terms(keys)),
        "at": document.at,
        _RANK: 2.0 ** (1.0 + _RANK_WORTH * document.rank) - 2.0,  # the engine multiplies by log2(2 + this)
        "shown": msgspec.msgpack.encode(shown),
    }
    return tantivy.Document(**fields)
