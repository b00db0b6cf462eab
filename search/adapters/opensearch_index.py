"""`Index` in OpenSearch. What is shown of a document is stored with it, in a field of its own.

A document is named by its content, written whole, and carries a version that only grows: what comes late or twice
changes nothing. The position is a document of its own, written when all before it were acknowledged: after a crash it
says no more than what is there.
"""

import copy
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import msgspec

from gregor.search.adapters.opensearch_client import SERVICE, Client, Refused
from gregor.search.adapters.opensearch_query import (
    NAME,
    SHOWN,
    SPELLING,
    QueryBody,
    anywhere,
    of_document,
    phrases_of,
    query_of,
    term,
)
from gregor.search.adapters.opensearch_schema import emptied, gone, writers_of
from gregor.search.adapters.opensearch_writer import BulkWriter, ReportRefusal, ignore, name_of, version_of
from gregor.search.borders import FARTHEST, Answer, Facet, Hit, ScorePart, TakenOver, Unusable
from gregor.search.documents import IndexedDocument
from gregor.search.facets import aggregations, facets
from gregor.search.fields import QUICK, RANK_WORTH, SPOKEN, TEXTS, Weights, least
from gregor.search.query import ParsedQuery
from gregor.search.spelling import LONG, apart, still_there
from gregor.worker.borders.errors import Unavailable

_POSITION: Final = "position"
_KEPT: Final = "5m"
"""How long a state is kept for the next page of results."""
_LISTED: Final = 1000
"""Documents that are listed at once."""
_TIME: Final = "2s"


class OpenSearchIndex:
    """`Index`. Every method may raise `Unavailable`, or `IndexLost` where the index is gone."""

    def __init__(
        self, client: Client, index: str, *, weights: Weights | None = None, on_refused: ReportRefusal = ignore
    ) -> None:
        """Open it for searching; `begin` to write. ``on_refused`` hears of documents that the engine takes under no
        circumstances, with the reason."""
        self._client = client
        self._index = index
        self._weights = weights or Weights()
        self._writer = BulkWriter(client, index, on_refused)
        self._count = 0
        self._epoch = 0
        self._state = ""  # a point in time that is searched; "": the index as it is
        self._made = 0

    def is_begun(self) -> bool:
        """Whether anybody writes it, or did."""
        return bool(self._about())

    def begin(self) -> None:
        """Write from now on: whoever wrote before changes nothing more, even by what is still on its way.

        Raises `Unusable` when another process begins at the same time.
        """
        record = self._about()
        about = {"position": 0, **record.get("_source", {})}
        if not self._say({**about, "epoch": about.get("epoch", 0) + 1}, record):
            raise Unusable(f"{self._index} is begun to be written by another process")
        self._epoch = about.get("epoch", 0) + 1

    def position(self) -> int:
        if self._made:
            return self._made
        record = self._about()
        return int(record["_source"]["position"]) if record else 0

    def _about(self) -> Any:
        """The document that says how far the index is; {} where there is none."""
        (record,) = self._asked("POST", f"/{self._index}/_mget", {"ids": [_POSITION]})["docs"]
        if "error" in record:
            raise gone(self._index)
        return record if record["found"] else {}

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        for document in documents:
            self._writer.put(document, self._version())

    def remove(self, names: Collection[str]) -> None:
        for name in names:
            self._writer.remove(name, self._version())

    def commit(self, position: int) -> None:
        self._version()
        self._writer.flush()
        record = self._about()
        if not record:
            raise emptied(self._index)
        is_mine = record.get("_source", {}).get("epoch") == self._epoch
        if not is_mine or not self._say({"position": position, "epoch": self._epoch}, record):
            raise TakenOver(f"{self._index} is written by another process now")
        self.refresh()

    def _say(self, about: dict[str, int], before: dict[str, Any]) -> bool:
        """Write how far the index is, in place of what was found there; False when that has changed meanwhile."""
        condition = {"op_type": "create"}
        if before:
            condition = {"if_seq_no": str(before["_seq_no"]), "if_primary_term": str(before["_primary_term"])}
        path = f"/{writers_of(self._index)}/_doc/{_POSITION}"
        try:
            self._asked("PUT", path, about, {"require_alias": "true", **condition})
        except Refused as refused:
            if refused.status != 409:
                raise
            return bool(self._about().get("_source") == about)  # it may have been written, and asked for again
        return True

    def _version(self) -> int:
        if not self._epoch:
            raise RuntimeError("the index was opened for searching")
        self._count += 1
        return version_of(self._epoch, self._count)

    def refresh(self) -> None:
        """Have what was written found from now on."""
        self._asked("POST", f"/{self._index}/_refresh")

    def pinned(self) -> "OpenSearchIndex":
        """The index as it is found now, whatever is written later; kept for minutes after each use."""
        again = copy.copy(self)
        answer = self._asked("POST", f"/{self._index}/_search/point_in_time", params={"keep_alive": _KEPT})
        again._state, again._made = answer["pit_id"], time.time_ns() // 1_000_000
        return again

    def is_kept(self) -> bool:
        """Whether the state that this is pinned to is there still."""
        try:
            self.document("")
        except Unusable:
            return False
        return True

    def write_count(self) -> int:
        """A number that changes whenever something was written."""
        shards = self._asked("GET", f"/{self._index}/_stats/indexing")["_all"]["primaries"].get("indexing")
        if shards is None:
            raise Unavailable(SERVICE, f"no shard of {self._index} is there yet")
        return int(shards["index_total"]) + int(shards["delete_total"])

    def count(self) -> int:
        return int(self._asked("POST", f"/{self._index}/_count", {"query": {"exists": {"field": NAME}}})["count"])

    def documents(self) -> Iterator[Hit]:
        pinned = self if self._state else self.pinned()
        try:
            after: list[object] = []
            listed = {"query": {"exists": {"field": NAME}}, "size": _LISTED, "sort": [{NAME: "asc"}]}
            while hits := pinned._ask_search(listed | ({"search_after": after} if after else {}))["hits"]["hits"]:
                after = hits[-1]["sort"]
                yield from map(_hit, hits)
        finally:
            if pinned is not self:
                pinned.close()

    def search(self, asked: ParsedQuery, limit: int = 10, offset: int = 0, *, quick: bool = False) -> Answer:
        if asked.is_empty:
            return Answer(partial=quick)
        offset = min(offset, FARTHEST)
        limit = min(limit, FARTHEST - offset)
        most, texts = least(asked), QUICK if quick else TEXTS
        answer = self._search(query_of(asked, most, self._weights, texts), limit, offset, newest=asked.newest)
        any_word = False
        if not answer["hits"]["total"]["value"] and most > 1 and not answer["timed_out"]:
            any_word = True
            answer = self._search(query_of(asked, 1, self._weights, texts), limit, offset, newest=asked.newest)
        hits, total = answer["hits"]["hits"], answer["hits"]["total"]["value"]
        return Answer(tuple(map(_hit, hits)), total, any_word, quick or bool(answer["timed_out"]))

    def facets(self, asked: ParsedQuery, *, any_word: bool = False) -> tuple[Facet, ...]:
        if asked.is_empty:
            return ()
        query = query_of(asked, 1 if any_word else least(asked), self._weights)
        answer = self._ask_search({"query": query, "size": 0, "aggs": aggregations(), "timeout": _TIME})
        return () if answer["timed_out"] else facets(answer["aggregations"])

    def frequency(self, term: str) -> int:
        counts = {field: {"term": {field: term}} for field in TEXTS}
        body = {"size": 0, "aggs": {"in": {"filters": {"filters": counts}}}}
        buckets = self._ask_search(body)["aggregations"]["in"]["buckets"]
        return max(int(bucket["doc_count"]) for bucket in buckets.values())

    def near(self, term: str) -> dict[str, int]:
        by_field = {f"in {field}": {"text": term, "term": {"field": field, **SPELLING}} for field in TEXTS}
        suggested = self._ask_search({"size": 0, "suggest": by_field})["suggest"]
        counts: dict[str, int] = {}
        for option in (option for entries in suggested.values() for entry in entries for option in entry["options"]):
            counts[option["text"]] = max(option["freq"], counts.get(option["text"], 0))
        slips = {other: apart(term, other, 2) for other in counts if other != term}
        close = [other for other, many in slips.items() if many <= 1]
        if not close and len(term) >= LONG:
            close = [other for other, many in slips.items() if many <= 2]
        near = {other: counts[other] for other in close}
        return still_there(near, lambda other: int(self._search(anywhere(other), 0, 0)["hits"]["total"]["value"]))

    def document(self, name: str) -> Hit | None:
        query = {"constant_score": {"filter": {"term": {NAME: name_of(name)}}, "boost": 0.0}}
        hits = self._search(query, 1, 0)["hits"]["hits"]
        hit = _hit(hits[0]) if hits else None
        return hit if hit is not None and hit.id == name else None

    def why(self, asked: ParsedQuery, name: str) -> list[ScorePart]:
        hit = self.document(name)
        if hit is None:
            return []
        reasons: list[ScorePart] = []
        scores = iter(self._scores(name_of(name), self._worth(asked)))
        for word in asked.words:
            worth = {field: next(scores) for field in TEXTS}
            reasons += [ScorePart(SPOKEN[field], word, score) for field, score in worth.items() if score]
        for place, _ in phrases_of(asked.words, self._weights):
            if score := next(scores):
                reasons.append(ScorePart(place.spoken, " ".join(asked.words), score))
        if hit.rank and reasons:
            ranked = sum(reason.score for reason in reasons) * RANK_WORTH * hit.rank
            reasons.append(ScorePart("links that lead there (rank)", "", ranked))
        return reasons

    def close(self) -> None:
        """What was not committed is gone; a state that was kept is let go. The client is whoever's it is."""
        self._writer.forget()
        if self._state:
            state, self._state = self._state, ""
            try:
                self._client.ask("DELETE", "/_search/point_in_time", {"pit_id": [state]})
            except (Unavailable, Unusable):
                return  # it ends by itself after minutes

    def _worth(self, asked: ParsedQuery) -> list[QueryBody]:
        words = [term(field, word, self._weights) for word in asked.words for field in TEXTS]
        return words + [phrase for _, phrase in phrases_of(asked.words, self._weights)]

    def _scores(self, name: str, queries: Sequence[QueryBody]) -> list[float]:
        """What each query is worth for one document, asked in one request."""
        lines: list[object] = []
        for query in queries:
            head = {} if self._state else {"index": self._index}
            lines += [{**head, "search_type": "dfs_query_then_fetch"}]
            pinned = {"pit": {"id": self._state, "keep_alive": _KEPT}} if self._state else {}
            lines += [self._body(of_document(name, query), 1, 0) | {"_source": False} | pinned]
        body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        answers = self._asked("POST", "/_msearch", body)["responses"] if queries else []
        return [sum(float(hit["_score"]) for hit in answer["hits"]["hits"]) for answer in answers]

    def _search(self, query: QueryBody, limit: int, offset: int, *, newest: bool = False) -> Any:
        body = self._body(query, limit, offset)
        by_time = {"sort": [{"at": "desc"}, {NAME: "asc"}], "track_scores": False} if newest else {}
        return self._ask_search({**body, **by_time})

    def _ask_search(self, body: dict[str, object]) -> Any:
        path = "/_search" if self._state else f"/{self._index}/_search"
        pinned = {"pit": {"id": self._state, "keep_alive": _KEPT}} if self._state else {}
        kept = {"_source": False, "stored_fields": [SHOWN]}
        return self._asked("POST", path, {**body, **kept, **pinned}, {"search_type": "dfs_query_then_fetch"})

    def _body(self, query: QueryBody, limit: int, offset: int) -> dict[str, object]:
        """Equal scores are in the order of the names, so that pages of hits are one list."""
        return {
            "query": query,
            "size": limit,
            "from": offset,
            "sort": [{"_score": "desc"}, {NAME: "asc"}],
            "track_total_hits": True,
            "track_scores": True,
            "timeout": _TIME,
        }

    def _asked(self, method: str, path: str, body: object = None, params: dict[str, str] | None = None) -> Any:
        try:
            return self._client.ask(method, path, body, params)
        except Refused as refused:
            if refused.status == 404:
                raise gone(self._index) from None
            raise


def _hit(found: Any) -> Hit:
    hit = msgspec.json.decode(found["fields"][SHOWN][0], type=Hit)
    return msgspec.structs.replace(hit, score=float(found["_score"] or 0.0))
