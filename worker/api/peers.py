"""The APIs of the workers of a crawl, asked all at once."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import msgspec
import requests

from gregor.worker.borders.members import Worker
from gregor.worker.observe.logging import logs

T = TypeVar("T")
_LOG = logs("api")
_PATIENCE: Final = 2.0
_AT_ONCE: Final = 16


class Peers:
    """Asks with a viewer's token; it goes to the workers themselves, by no proxy."""

    def __init__(self, token: str) -> None:
        """``token``: empty where the workers answer without one."""
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="gregor-peers")

    async def ask(self, workers: Iterable[Worker], path: str, kind: type[T]) -> list[T]:
        """What those answer that do."""
        loop = asyncio.get_running_loop()
        asked = [loop.run_in_executor(self._threads, self._ask, one, path, kind) for one in workers if one.api]
        return [found for found in await asyncio.gather(*asked) if found is not None]

    def close(self) -> None:
        """Wait for what was asked."""
        self._threads.shutdown()

    def _ask(self, worker: Worker, path: str, kind: type[T]) -> T | None:
        url = f"{worker.api.rstrip('/')}/api/v1/{path}"
        try:
            with requests.Session() as session:
                session.trust_env = False
                answer = session.get(url, headers=self._headers, timeout=_PATIENCE, allow_redirects=False)
            if answer.status_code == 200:
                return msgspec.json.decode(answer.content, type=kind)
            reason = f"status {answer.status_code}"
        except (requests.RequestException, msgspec.MsgspecError) as error:
            reason = str(error)
        _LOG.warning("a worker does not answer", worker=worker.name, url=url, error=reason)
        return None
