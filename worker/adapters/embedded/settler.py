"""A visit is settled in one transaction: its page, links, next ticket, row and mark are all there or none."""

import sqlite3

import msgspec

from gregor.schemas.messages import Page
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.adapters.embedded.log import EmbeddedLog
from gregor.worker.adapters.embedded.seen import put_claim, put_marks
from gregor.worker.adapters.embedded.store import (
    EmbeddedStore,
    SmallBodies,
    insert_entries,
    insert_letter,
    insert_rows,
)
from gregor.worker.base.pieces import with_pauses
from gregor.worker.borders.settlement import Settlement, bodies


class EmbeddedSettler:
    """`Settler`. Nobody listens to news on one machine."""

    def __init__(self, database: Database, log: EmbeddedLog, store: EmbeddedStore) -> None:
        self._database = database
        self._log = log
        self._store = store

    async def settle(self, settlement: Settlement) -> None:
        page, answer, small = settlement.page, settlement.answer, SmallBodies()
        if page is not None and answer is not None and not settlement.opted_out():
            with bodies(answer) as (body, kept):
                small = await self._store.put_large(page, body, kept)
        records = await with_pauses(self._log.records_of(settlement.tickets))
        packed = b"" if page is None else await self._store.packed(page)

        async def put(connection: sqlite3.Connection) -> tuple[str | None, bool]:
            # What is heard of its host from here on comes after this visit: it is asked once, before any pause.
            opted_out = settlement.opted_out()
            content = None if opted_out else page
            row = settlement.to_keep()
            owner = None if content is None else await self._put_page(connection, settlement, content, small, packed)
            if settlement.entry is not None:
                insert_entries(connection, settlement.partition, [settlement.entry], settlement.stamp())
            if settlement.letter is not None and not opted_out:
                insert_letter(connection, settlement.letter)
            if owner is not None:
                row = msgspec.structs.replace(row, state="duplicate")
            insert_rows(connection, [row], settlement.stamp())
            put_marks(connection, [settlement.mark])
            if not opted_out:
                await with_pauses(self._log.append(connection, records))
            return owner, not opted_out

        owner, published = await self._database.write_with_pauses(put)
        if owner is not None:
            settlement.relabel(owner)
        if published:
            settlement.published = settlement.tickets
            self._log.appended(records)

    async def _put_page(
        self,
        connection: sqlite3.Connection,
        settlement: Settlement,
        page: Page,
        small: SmallBodies,
        packed: bytes,
    ) -> str | None:
        """The page, under the owner of its content: given if that is another page, whose duplicate this one is.
        ``packed``: its record as the page is now."""
        owner = put_claim(connection, page.fingerprint, page.key) if settlement.claims else page.key
        if owner != page.key:
            page = msgspec.structs.replace(page, state="duplicate", duplicate_of=owner)
            packed = await self._store.packed(page)
        if settlement.answer is not None or owner != page.key:
            self._store.insert_page(connection, page, packed, small, settlement.stamp())
        return owner if owner != page.key else None
