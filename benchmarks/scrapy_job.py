"""The same job for Scrapy, tuned: `python -m benchmarks.scrapy_job SEEDS OUTPUT`, with http_proxy naming the server.

robots.txt obeyed, requests deduplicated, title, text and links of each page as JSON lines; everything that costs and is
not asked for is off. The proxy setting stands in for a host table: the server tells hosts apart by the request itself.
With ``loopback`` as one more argument all names are at 127.0.0.1, and the seeds alone are asked.
"""

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "CONCURRENT_ITEMS": 1000,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "REFERER_ENABLED": False,
    "DOWNLOADER_STATS": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "LOGSTATS_INTERVAL": 0,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "REACTOR_THREADPOOL_MAXSIZE": 20,
}


class Loopback(CachingThreadedResolver):
    """All names are at the loopback address."""

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802 - Twisted's name
        """See `twisted.internet.interfaces.IResolverSimple`."""
        return defer.succeed("127.0.0.1")


class Bench(scrapy.Spider):
    """Follows every link. XPath over the one parsed tree costs a third of what LinkExtractor does."""

    name = "bench"
    follows = True

    async def start(self) -> AsyncIterator[Any]:
        """The seeds, subject to the filter of duplicates like all others."""
        for url in self.start_urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            return
        links = list(filter(None, (_joined(response, href) for href in response.xpath("//a/@href").getall())))
        yield {
            "url": response.url,
            "title": response.xpath("//title/text()").get(),
            "text": " ".join(" ".join(response.xpath("//body//text()").getall()).split()),
            "links": links,
        }
        for link in links if self.follows else ():
            yield scrapy.Request(link)


def _joined(response: Any, href: str) -> str | None:
    try:
        return str(response.urljoin(href))
    except ValueError:  # no URL
        return None


def main() -> None:
    seeds, output = Path(sys.argv[1]).read_text().split(), sys.argv[2]
    loopback = sys.argv[3:] == ["loopback"]
    resolver = {"DNS_RESOLVER": Loopback} if loopback else {}
    process = CrawlerProcess({**SETTINGS, **resolver, "FEEDS": {output: {"format": "jsonlines"}}})
    process.crawl(Bench, start_urls=seeds, follows=not loopback)
    process.start()


if __name__ == "__main__":
    main()
