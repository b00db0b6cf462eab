"""The pages of a recorded web as the crawl would store them, without a crawl."""

from collections.abc import Iterator
from pathlib import Path

from gregor.schemas.messages import Page, Ticket
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.demo import warc
from gregor.worker.examine import Examiner
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.read.processors import ProcessorError, Processors
from gregor.worker.web.urls import Urls

AT = 1_700_000_000.0
"""When they were fetched: any time does, so long as it is the same in every run."""


def page_files(folder: Path) -> list[Path]:
    """The WARC files of a folder that hold pages: neither robots.txt nor second captures."""
    return sorted(file for file in folder.glob("*.warc.gz") if not file.name.startswith(("extras", "recaptures")))


def pages(files: list[Path]) -> Iterator[Page]:
    """The documents of WARC files, each once, with their links; redirects and what cannot be read are left out."""
    urls, scope = Urls(), Scope(ScopeRules("any"))
    examiner = Examiner(
        Config(scope="any"),
        urls=urls,
        scope=lambda: scope,
        now=lambda: AT,
        stats=Stats(),
        processors=Processors(),
        sent=RecentlySent(1),
        traps=Traps(),
    )
    for address, record in warc.index(files).items():
        answer, url = warc.load(record), urls.parse(address)
        if url is None or not 200 <= answer.status < 300:
            continue
        body = SpooledBody(cap=len(answer.body))
        body.write(answer.body)
        lines = [line.decode("latin-1").partition(":") for line in answer.headers]
        headers = [(name.strip(), value.strip()) for name, _, value in lines]
        response = Response(answer.status, "OK", headers, "HTTP/1.1", body, None, b"", b"", "127.0.0.1", 0.0, 0.0)
        try:
            yield examiner.examine(Ticket(url.href, url.key, url.host), url, response).page
        except ProcessorError:
            continue
