"""Queries as they were understood, for OpenSearch: which documents, and what each word is worth in each field."""

from collections.abc import Sequence
from typing import Any, Final

from gregor.search.fields import TEXTS, Together, Weights, places_together
from gregor.search.query import ParsedQuery, Phrase, QueryFilter
from gregor.search.typed_values import is_without_port
from gregor.search.words import of_pairs

NAME: Final = "name"
"""The field that every document has, and what is no document has not: its name in the index."""
SHOWN: Final = "shown"
"""The field that is kept of a document to show it by: a `Hit` in JSON."""
BOOST: Final = "boost"
"""The field by which a document's score is multiplied."""
SPELLING: Final = {
    "size": 20,
    "analyzer": "whitespace",
    "suggest_mode": "always",
    "max_edits": 2,
    "prefix_length": 0,
    "sort": "frequency",
    "max_term_freq": 1_000_000,
}
"""How terms are looked for that are spelled nearly like one."""

QueryBody = dict[str, Any]


def query_of(asked: ParsedQuery, least: int, weights: Weights, texts: Sequence[str] = TEXTS) -> QueryBody:
    """All of a query; ``least``: so many of the words have to be there, in these fields."""
    must: list[QueryBody] = []
    if asked.words:
        anywhere = [_in_any_field(word, weights, texts) for word in asked.words]
        must.append({"bool": {"should": anywhere, "minimum_should_match": least}})
    required = [_phrase(phrase, texts) for phrase in asked.phrases] + _wanted(asked)
    unwanted = [_phrase(phrase) for phrase in asked.without]
    unwanted += [_condition(condition) for condition in asked.filters if condition.without]
    query = {
        "bool": {
            "must": must,
            "should": [phrase for _, phrase in phrases_of(asked.words, weights, texts)],
            "filter": [{"exists": {"field": NAME}}, *required],
            "must_not": unwanted,
        }
    }
    return ranked(query)


def ranked(query: QueryBody) -> QueryBody:
    """A query whose scores are put up by the rank."""
    factor = {"field": BOOST, "missing": 1.0}
    return {"function_score": {"query": query, "field_value_factor": factor, "boost_mode": "multiply"}}


def of_document(name: str, query: QueryBody) -> QueryBody:
    """A query, of the document of a name alone."""
    return {"bool": {"must": [query], "filter": [{"term": {NAME: name}}]}}


def term(field: str, word: str, weights: Weights) -> QueryBody:
    """A term in a field, by its weight."""
    if pattern := of_pairs(word):
        return {"regexp": {field: {"value": pattern, "boost": getattr(weights, field)}}}
    return {"term": {field: {"value": word, "boost": getattr(weights, field)}}}


def phrases_of(words: Phrase, weights: Weights, texts: Sequence[str] = TEXTS) -> list[tuple[Together, QueryBody]]:
    """The words of a query together, in the fields where that is worth something."""
    return [
        (place, _side_by_side(place.field, words, place.worth, place.apart))
        for place in places_together(words, weights, texts)
    ]


def _in_any_field(word: str, weights: Weights, texts: Sequence[str]) -> QueryBody:
    return {"bool": {"should": [term(field, word, weights) for field in texts], "minimum_should_match": 1}}


def _side_by_side(field: str, words: Phrase, worth: float = 1.0, apart: int = 0) -> QueryBody:
    if len(words) == 1 and (pattern := of_pairs(words[0])):
        return {"regexp": {field: {"value": pattern, "boost": worth}}}
    return {"match_phrase": {field: {"query": " ".join(words), "boost": worth, "slop": apart}}}


def anywhere(word: str) -> QueryBody:
    """A term in any of the texts."""
    return _phrase((word,))


def _phrase(phrase: Phrase, texts: Sequence[str] = TEXTS) -> QueryBody:
    """Terms next to each other in one of the texts."""
    return {"bool": {"should": [_side_by_side(field, phrase) for field in texts], "minimum_should_match": 1}}


def _wanted(asked: ParsedQuery) -> list[QueryBody]:
    wanted: dict[str, list[QueryBody]] = {}
    for condition in asked.filters:
        if not condition.without:
            wanted.setdefault(condition.group, []).append(_condition(condition))
    conditions: list[QueryBody] = [
        {"bool": {"should": any_of, "minimum_should_match": 1}} for any_of in wanted.values()
    ]
    bounds = {"gte": asked.since, "lt": asked.until}
    if set_bounds := {name: bound for name, bound in bounds.items() if bound is not None}:
        conditions.append({"range": {"at": set_bounds}})
    return conditions


def _condition(condition: QueryFilter) -> QueryBody:
    match condition.name:
        case "inurl":
            return _side_by_side("url", condition.value)
        case "intitle":
            return _side_by_side("title", condition.value)
        case "host" if is_without_port(condition.value[0]):
            host = condition.value[0]
            any_of = [{"term": {"host": host}}, {"prefix": {"host": f"{host}:"}}]
            return {"bool": {"should": any_of, "minimum_should_match": 1}}
        case name:
            return {"term": {{"lang": "language"}.get(name, name): condition.value[0]}}
