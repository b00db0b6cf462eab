"""A shorter way to a URL that is known, found later: what was too deep from there is visited, and nothing again."""

from collections import Counter

from gregor.worker.operate.seeds import Seed, publish
from gregor.worker.web.urls import Urls
from tests.endtoend.operated import Operated, over

HOST = "http://h0.example"


async def _a_shorter_way(worker: Operated) -> None:
    def visited() -> set[str]:
        return {request.href for request in worker.transport.requests}

    await worker.until(lambda: f"{HOST}/3" in visited())
    known = Urls().parse(f"{HOST}/2")
    assert known is not None
    await publish(worker.engine.log, worker.engine.store, [Seed(known)])
    await worker.until(lambda: f"{HOST}/5" in visited())
    await worker.until(lambda: all(owned.crawl.partition.read_to_end for owned in worker.runtime.owned.values()))
    pages = {f"{HOST}/{number}": number for number in range(7)}
    rows = await worker.engine.store.rows(list(pages))
    assert [None if row is None else row.depth for row in rows] == [0, 1, 0, 1, 2, 3, None]
    counts = Counter(request.href for request in worker.transport.requests)
    assert all(counts[href] == 1 for href in pages if href != f"{HOST}/6")
    assert f"{HOST}/6" not in visited()


test_a_shorter_way_found_later_is_followed = over(_a_shorter_way, hosts=1, max_depth=3, delay=0.0)
