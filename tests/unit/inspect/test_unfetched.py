"""What a run whose time was over says where nothing has come yet."""

import asyncio

from gregor.schemas.messages import HostRecord
from gregor.schemas.parts import Failing
from gregor.worker.inspect.unfetched import why_not_yet
from gregor.worker.web.urls import Urls
from tests.reading import MemoryReader, row, ticket

NO_NAME = "robots.txt unreachable (nxdomain: the name does not exist)"


def said(reader: MemoryReader, *seeds: str) -> str:
    urls = [url for seed in seeds if (url := Urls().parse(seed)) is not None]
    return asyncio.run(why_not_yet(reader, urls))


def test_seeds_that_failed_so_far_are_named_with_their_causes() -> None:
    failing = Failing("http://a.test", 1, 2e9, NO_NAME)
    tried = row(ticket("http://b.test/"), "waiting", outcome="status 500")
    reader = MemoryReader([tried], hosts=[HostRecord("a.test", failing=(failing,)), HostRecord("c.test")])
    text = said(reader, "http://a.test/", "http://b.test/", "http://c.test/", "http://d.test/")
    assert text == f"nothing was fetched so far: http://a.test/ waits ({NO_NAME}); http://b.test/ waits (status 500)"
    many = said(reader, *(f"http://a.test/{number}" for number in range(5)))
    assert many.endswith("; and 2 more") and many.count("waits") == 3


def test_where_nothing_failed_there_was_only_no_time() -> None:
    settled = row(ticket("http://b.test/"), "redirected")
    assert said(MemoryReader([settled]), "http://a.test/", "http://b.test/") == ""
