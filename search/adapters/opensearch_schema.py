"""Indexes of OpenSearch: how they are made, and which of a crawl's generations is searched.

A crawl has an alias, `gregor-CRAWL`, that names the generation in use, `gregor-CRAWL.N`. The engine moves it at once:
whoever searches sees the old one or the new one, never none. A template makes every generation alike; what operators
set in one of a higher priority wins. No crawl's name has a dot: neither names nor templates of two crawls can meet.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gregor.search.adapters.opensearch_client import Client, Refused
from gregor.search.adapters.opensearch_query import BOOST, NAME, SHOWN
from gregor.search.borders import IndexLost, Unusable
from gregor.search.facets import COUNTED
from gregor.search.fields import EXACT, TEXTS

FORMAT: Final = 6
"""Of the fields, and of how texts become terms: an index of another one is made anew."""
DOCUMENTS_A_SHARD: Final = 2_500_000
"""So many documents of the web are about 25 GB: beyond 50 a shard is slow to move and to recover."""
MOST_SHARDS: Final = 256
_REMEMBERED: Final = "1h"
"""How long a deleted document's version is known: a write that was on its way for so long is refused."""


class IndexLayout(msgspec.Struct, frozen=True):
    """How the index of a crawl is laid out; ``crawl`` names what it is made of, so that no other crawl writes it."""

    alias: str
    crawl: str = ""
    documents: int = 1_000_000  # that are expected
    replicas: int = 1
    refresh: float = 1.0  # seconds until what was written is found

    @property
    def next_alias(self) -> str:
        """The alias of the generation that is made to take the place of the one in use."""
        return f"{self.alias}.next"

    def generation(self, number: int) -> "Generation":
        """The generation of a number."""
        return Generation(number, f"{self.alias}.{number}")

    @property
    def shards(self) -> int:
        """Enough for the expected documents."""
        return max(1, min(MOST_SHARDS, -(-self.documents // DOCUMENTS_A_SHARD)))


class Generation(msgspec.Struct, frozen=True, order=True):
    """An index that may be searched under the alias."""

    number: int
    index: str

    @property
    def writers(self) -> str:
        """The alias by which it is written: what is written by no alias would make an index that was deleted anew."""
        return writers_of(self.index)


def writers_of(index: str) -> str:
    """The alias by which an index is written."""
    return f"{index}-written"


def gone(index: str) -> IndexLost:
    """That an index is not there any more."""
    return IndexLost(f"OpenSearch has no index {index} now: make one with `gregor index`")


def emptied(index: str) -> IndexLost:
    """That what was written last into an index is not in it any more."""
    return IndexLost(f"{index} was emptied by somebody else: `gregor index` makes it anew")


def current(client: Client, shape: IndexLayout) -> Generation | None:
    """The generation in use; None when there is none. Raises `Unusable` for one of another format or crawl."""
    if not client.there(f"/_alias/{shape.alias}"):
        return None
    index = max(client.ask("GET", f"/_alias/{shape.alias}"))
    check(client, shape, index)
    return Generation(_number(shape, index), index)


def check(client: Client, shape: IndexLayout, index: str) -> None:
    """Raises `Unusable` for an index of another format or crawl, or of fields that are not this version's."""
    try:
        mapping = client.ask("GET", f"/{index}/_mapping")[index]["mappings"]
    except Refused as refused:
        raise (gone(index) if refused.status == 404 else refused) from None
    if reason := _other(shape, mapping):
        raise Unusable(f"{index} is {reason}: make it anew with `gregor index --rebuild`")


def _other(shape: IndexLayout, mapping: Mapping[str, Any]) -> str:
    """What an index of these mappings is that is not this version's, or this crawl's; "" for one that can be used."""
    about = mapping.get("_meta", {})
    if about.get("format") != FORMAT:
        return f"of format {about.get('format')}, this version reads format {FORMAT}"
    if shape.crawl and about.get("crawl") != shape.crawl:
        return "of another crawl of this name"
    if missing := sorted(_properties().keys() - mapping.get("properties", {}).keys()):
        return f"made by a template that has no {', '.join(missing)} (of a higher priority than that of {shape.alias}?)"
    return ""


def targets(client: Client, shape: IndexLayout) -> list[str]:
    """The indexes that are to be written: the one in use, and the next one while it is made; without those that this
    version cannot write."""
    wanted, chosen = {shape.alias, shape.next_alias}, []
    for name, about in client.ask("GET", f"/{shape.alias}.*").items():
        if wanted.intersection(about["aliases"]) and not _other(shape, about["mappings"]):
            chosen.append(name)
    return sorted(chosen)


def generations(client: Client, shape: IndexLayout) -> list[Generation]:
    """Those that there are, in use or not."""
    names = client.ask("GET", f"/{shape.alias}.*", params={"filter_path": "*.aliases"})
    return sorted(Generation(_number(shape, name), name) for name in names if _number(shape, name))


def newest(client: Client, shape: IndexLayout) -> int:
    """The highest number of a generation that there is; 0: none is."""
    return max((each.number for each in generations(client, shape)), default=0)


def create(client: Client, shape: IndexLayout, number: int) -> Generation:
    """Make a generation, if it is not there."""
    generation = shape.generation(number)
    template = {"index_patterns": [f"{shape.alias}.*"], "priority": 100, "template": template_of(shape)}
    client.ask("PUT", f"/_index_template/{shape.alias}", template)
    try:
        about = {"_meta": {"format": FORMAT, "crawl": shape.crawl}}
        client.ask("PUT", f"/{generation.index}", {"mappings": about, "aliases": {generation.writers: {}}})
    except Refused as refused:
        if "exists" not in str(refused):
            raise Unusable(f"OpenSearch makes no index {generation.index}: {refused}") from None
    return generation


def was_written(client: Client, index: str) -> bool:
    """Whether anything ever was written into an index, though it may have been deleted."""
    stats = client.ask("GET", f"/{index}/_stats", params={"level": "shards", "filter_path": "**.max_seq_no"})
    shards = [
        copy for about in stats.get("indices", {}).values() for copies in about["shards"].values() for copy in copies
    ]
    return any(copy["seq_no"]["max_seq_no"] >= 0 for copy in shards)


def use(client: Client, shape: IndexLayout, generation: Generation) -> None:
    """Search this one from now on, at once."""
    aliases = client.ask("GET", f"/_alias/{shape.alias}") if client.there(f"/_alias/{shape.alias}") else {}
    actions = [
        *({"remove": {"index": index, "alias": shape.alias, "must_exist": False}} for index in aliases),
        {"remove": {"index": f"{shape.alias}.*", "alias": shape.next_alias, "must_exist": False}},
        {"add": {"index": generation.index, "alias": shape.alias}},
    ]
    client.ask("POST", "/_aliases", {"actions": actions})


def prepare(client: Client, shape: IndexLayout, generation: Generation) -> None:
    """Have it written beside the one in use; one that was begun before is not any more."""
    actions = [
        {"remove": {"index": f"{shape.alias}.*", "alias": shape.next_alias, "must_exist": False}},
        {"add": {"index": generation.index, "alias": shape.next_alias}},
    ]
    client.ask("POST", "/_aliases", {"actions": actions})


def delete_others(client: Client, shape: IndexLayout, kept: Generation) -> None:
    """Free what generations hold that are not used any more."""
    for other in generations(client, shape):
        if other != kept:
            client.ask("DELETE", f"/{other.index}", params={"ignore_unavailable": "true"})


def template_of(shape: IndexLayout) -> dict[str, Any]:
    """Settings and fields. Texts come as terms and are split at spaces alone; what a word is, is decided by
    `gregor.search.terms`.

    What is written is kept whole: the engine keeps it anyway for a while, for copies that come back, and to take parts
    out of it is work of its own. A hit is read from what is shown of it alone.
    """
    return {
        "settings": {
            "number_of_shards": shape.shards,
            "number_of_replicas": shape.replicas,
            "refresh_interval": f"{max(1, round(shape.refresh * 1000))}ms",
            "gc_deletes": _REMEMBERED,
        },
        "mappings": {
            "dynamic": False,
            "properties": _properties(),
        },
    }


def _properties() -> dict[str, Any]:
    text = {"type": "text", "analyzer": "whitespace", "index_options": "positions"}
    exact = {
        name: {"type": "keyword", "ignore_above": 8000, "doc_values": name in COUNTED, "norms": False} for name in EXACT
    }
    return {
        **dict.fromkeys(TEXTS, text),
        **exact,
        NAME: {"type": "keyword"},
        "at": {"type": "double"},
        BOOST: {"type": "float", "index": False},
        SHOWN: {"type": "keyword", "index": False, "doc_values": False, "store": True},
        "position": {"type": "long", "index": False, "doc_values": False},
    }


def _number(shape: IndexLayout, index: str) -> int:
    found = re.fullmatch(re.escape(shape.alias) + r"\.([0-9]{1,9})", index)
    return int(found[1]) if found else 0
