"""The generations of an index on servers as its workers see them: made, written, filled, searched."""

import time
from collections.abc import Callable
from typing import Final

from gregor.schemas.messages import DeadLetter
from gregor.search.adapters import opensearch_schema as schema
from gregor.search.adapters.opensearch_client import SERVICE, Client, Refused
from gregor.search.adapters.opensearch_schema import Generation
from gregor.search.adapters.opensearch_writer import BulkWriter
from gregor.search.borders import Unusable
from gregor.search.documents import IndexedDocument
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.opensearch import letter_of, nodes_of, shape_of
from gregor.worker.config.settings import Config

KNOWN: Final = 2.0
"""Seconds for which a worker writes to the generations that it knows."""


class Generations:
    """The generations that are written. Its methods wait: use a thread."""

    def __init__(self, config: Config, crawl: str, on_letter: Callable[[DeadLetter], None]) -> None:
        self.client = Client(nodes_of(config))
        self.shape = shape_of(config, crawl)
        self._on_letter = on_letter
        self._targets: list[str] = []
        self._looked = float("-inf")

    def current(self) -> Generation:
        """The one in use; the first one is made, by several that begin at once the same. Raises `Unusable`,
        `Unavailable`."""
        generation = schema.current(self.client, self.shape)
        if generation is None:
            there = schema.generations(self.client, self.shape)
            generation = there[-1] if there else schema.create(self.client, self.shape, 1)
            schema.use(self.client, self.shape, generation)
        return generation

    def next(self) -> Generation:
        """A new one."""
        return schema.create(self.client, self.shape, schema.newest(self.client, self.shape) + 1)

    def write(self, documents: dict[str, IndexedDocument | None], version: int) -> None:
        """Write documents to all that are written; acknowledged when it returns."""
        now = time.monotonic()
        if now - self._looked > KNOWN or not self._targets:
            self._targets, self._looked = schema.targets(self.client, self.shape), now
        if not self._targets:
            raise Unavailable(SERVICE, f"it has no index {self.shape.alias} that this version writes")
        try:
            for index in self._targets:
                writer = BulkWriter(self.client, index, self._refused)
                for content, document in documents.items():
                    if document is None:
                        writer.remove(content, version)
                    else:
                        writer.put(document, version)
                writer.flush()
        except Unusable as error:  # a generation went meanwhile: those that are there now are written
            self._targets = []
            raise Unavailable(SERVICE, str(error)) from None

    def is_filled(self, index: str) -> bool:
        """Whether all that was stored before it was made has been told."""
        (record,) = self.client.ask("POST", f"/{index}/_mget", {"ids": ["position"]})["docs"]
        return bool(record.get("found"))

    def filled(self, index: str) -> None:
        """It has."""
        params = {"require_alias": "true"}
        self.client.ask("PUT", f"/{schema.writers_of(index)}/_doc/position", {"position": 1, "epoch": 1}, params)

    def unfilled(self) -> None:
        """All that is stored has to be told once more."""
        for index in schema.targets(self.client, self.shape):
            try:
                self.client.ask("DELETE", f"/{schema.writers_of(index)}/_doc/position")
            except Refused as refused:
                if refused.status != 404:  # else it was not filled yet
                    raise

    def _refused(self, document: IndexedDocument, reason: str) -> None:
        self._on_letter(letter_of(document, reason))
