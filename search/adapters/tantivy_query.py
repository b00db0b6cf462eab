"""Queries as they were understood, for tantivy: which documents, and what each word is worth in each field."""

from collections.abc import Sequence
from typing import Final

import tantivy

from gregor.search.fields import TEXTS, Together, Weights, places_together
from gregor.search.query import ParsedQuery, Phrase, QueryFilter
from gregor.search.typed_values import is_without_port
from gregor.search.words import of_pairs

POSITION: Final = "position"
"""The name of the document that says how far the index is."""
RANK: Final = "rank"
"""The field by which a document's score is multiplied."""
_REMEMBERED: Final = 4096
"""Words whose part of a query is remembered: most of those that people type are typed again."""


class Queries:
    """Makes the queries for an index of this schema, whose words are looked for in these of its fields."""

    def __init__(self, schema: "tantivy.Schema", weights: Weights, texts: Sequence[str] = TEXTS) -> None:
        self._schema = schema
        self._texts = texts
        self.weights = weights
        self._words: dict[str, tantivy.Query] = {}

    def query_of(self, asked: ParsedQuery, least: int) -> "tantivy.Query":
        """All of a query; ``least``: so many of the words have to be there."""
        query = tantivy.Query
        parts: list[tuple[tantivy.Occur, tantivy.Query]] = []
        all_of_them = least >= len(asked.words)  # which the engine finds sooner than so many of them
        occur = tantivy.Occur.Must if all_of_them else tantivy.Occur.Should
        words = [(occur, self._in_any_field(word)) for word in asked.words]
        if all_of_them:
            parts += words
        elif words:
            parts.append((tantivy.Occur.Must, query.boolean_query(words, least)))
        parts += [(tantivy.Occur.Should, phrase) for _, phrase in self.phrases_of(asked.words)]
        parts += [(tantivy.Occur.Must, self._phrase(phrase, self._texts)) for phrase in asked.phrases]
        parts += [(tantivy.Occur.MustNot, self._phrase(phrase)) for phrase in asked.without]
        parts += self._conditions(asked)
        if not words and all(occur == tantivy.Occur.MustNot for occur, _ in parts):
            parts.append((tantivy.Occur.Must, query.all_query()))
        return query.boolean_query(parts)

    def term(self, field: str, term: str) -> "tantivy.Query":
        """A term in a field, by its weight."""
        found = self._term(field, term, "freq")
        return tantivy.Query.boost_query(found, getattr(self.weights, field))

    def anywhere(self, term: str) -> "tantivy.Query":
        """A term in any of the texts; it is worth nothing."""
        return self._phrase((term,))

    def phrases_of(self, words: Phrase) -> list[tuple[Together, "tantivy.Query"]]:
        """The words of a query together, in the fields where that is worth something."""
        query = tantivy.Query
        phrases = [
            (place, query.phrase_query(self._schema, place.field, [*words], place.apart))
            for place in places_together(words, self.weights, self._texts)
        ]
        return [(place, query.boost_query(phrase, place.worth)) for place, phrase in phrases]

    def ranked(self) -> "tantivy.Query":
        """Documents that have a rank."""
        return tantivy.Query.range_query(self._schema, RANK, tantivy.FieldType.Float, 0.0, None, include_lower=False)

    def position(self) -> "tantivy.Query":
        """The document that says how far the index is."""
        return tantivy.Query.term_query(self._schema, "id", POSITION, "basic")

    def named(self, name: str) -> "tantivy.Query":
        """The document of a name; it is worth nothing."""
        return tantivy.Query.const_score_query(tantivy.Query.term_query(self._schema, "id", name, "basic"), 0.0)

    def _in_any_field(self, term: str) -> "tantivy.Query":
        query = self._words.get(term)
        if query is None:
            query = tantivy.Query.boolean_query(
                [(tantivy.Occur.Should, self.term(field, term)) for field in self._texts]
            )
            if len(self._words) >= _REMEMBERED:
                self._words.clear()
            self._words[term] = query
        return query

    def _term(self, field: str, term: str, counted: str) -> "tantivy.Query":
        """A term in a field; a lone character of a script without spaces in the pairs that it is a part of."""
        if pattern := of_pairs(term):
            return tantivy.Query.regex_query(self._schema, field, pattern)
        return tantivy.Query.term_query(self._schema, field, term, counted)

    def _phrase(self, phrase: Phrase, fields: Sequence[str] = TEXTS) -> "tantivy.Query":
        """Terms next to each other in one of the texts; it counts nothing more than its terms do."""
        query = tantivy.Query
        in_fields = [
            query.phrase_query(self._schema, field, list(phrase))
            if len(phrase) > 1
            else self._term(field, phrase[0], "basic")
            for field in fields
        ]
        return query.const_score_query(
            query.boolean_query([(tantivy.Occur.Should, in_field) for in_field in in_fields]), 0.0
        )

    def _conditions(self, asked: ParsedQuery) -> list[tuple["tantivy.Occur", "tantivy.Query"]]:
        query, conditions = tantivy.Query, []
        wanted: dict[str, list[tantivy.Query]] = {}
        for condition in asked.filters:
            if condition.without:
                conditions.append((tantivy.Occur.MustNot, self._condition(condition)))
            else:
                wanted.setdefault(condition.group, []).append(self._condition(condition))
        for alternatives in wanted.values():
            any_of = query.boolean_query([(tantivy.Occur.Should, alternative) for alternative in alternatives])
            conditions.append((tantivy.Occur.Must, query.const_score_query(any_of, 0.0)))
        if asked.since is not None or asked.until is not None:
            kind, open_end = tantivy.FieldType.Float, asked.until is None
            dated = query.range_query(self._schema, "at", kind, asked.since, asked.until, include_upper=open_end)
            conditions.append((tantivy.Occur.Must, query.const_score_query(dated, 0.0)))
        if not asked.words:  # it has no words
            conditions.append((tantivy.Occur.MustNot, query.term_query(self._schema, "id", POSITION)))
        return conditions

    def _condition(self, condition: QueryFilter) -> "tantivy.Query":
        match condition.name:
            case "inurl":
                return self._phrase(condition.value, ("url",))
            case "intitle":
                return self._phrase(condition.value, ("title",))
            case "host" if is_without_port(condition.value[0]):
                return self._of_any_port(condition.value[0])
            case name:
                field = {"lang": "language"}.get(name, name)
                return tantivy.Query.term_query(self._schema, field, condition.value[0], "basic")

    def _of_any_port(self, host: str) -> "tantivy.Query":
        """A host by its name alone."""
        query = tantivy.Query
        pattern = "".join(f"\\{sign}" if sign in ".[]" else sign for sign in host)
        of_ports = query.regex_query(self._schema, "host", f"{pattern}:[0-9]+")
        return query.boolean_query(
            [
                (tantivy.Occur.Should, query.term_query(self._schema, "host", host, "basic")),
                (tantivy.Occur.Should, of_ports),
            ]
        )
