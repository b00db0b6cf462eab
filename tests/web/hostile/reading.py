"""Reads a document as a worker does: received, examined, its links judged. No server, no store."""

from typing import Final

from gregor.schemas.messages import Ticket
from gregor.worker.adapters.transport.framing import Framing
from gregor.worker.adapters.transport.receiver import Receiver
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Limits, Response
from gregor.worker.config.settings import Config
from gregor.worker.examine import Examiner
from gregor.worker.fetch.cookies import Cookies
from gregor.worker.fetch.outcomes import of_result
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.read.native import Core
from gregor.worker.read.processors import Processors
from gregor.worker.robots import file as robots_file
from gregor.worker.web.urls import Urls
from tests.web.hostile.document import CODING, HEADER, HTML, ROBOTS, SITEMAP

HREF: Final = "http://h/"
NOW: Final = 1e9
_PIECE: Final = 64 * 1024
_SMALL: Final = b"<p>some <a href=x>words</a>"


def read(body: bytes, kind: str, core: Core | None = None) -> str:
    """What was read of it, in a few words; `kind` as that of `Hostile`. ``core`` reads natively what it can."""
    if kind == ROBOTS:
        rules = robots_file.parse(body, "gregor")
        return f"{rules.decide(HREF + 'a' * 2000)} {len(rules.sitemaps)}"
    if kind.startswith(HEADER):
        return _headers(body.decode("latin-1"), kind.removeprefix(HEADER), core)
    if kind.startswith(CODING):
        return _coded(body, kind.removeprefix(CODING))
    fields = [] if kind == SITEMAP else [("Content-Type", kind)]
    return _examined(_response(body, fields), core, "sitemap" if kind == SITEMAP else "")


def _response(body: bytes, fields: list[tuple[str, str]], status: int = 200) -> Response:
    kept = SpooledBody(cap=len(body))
    kept.write(body)
    return Response(status, "OK", fields, "HTTP/1.1", kept, None, b"", b"", "127.0.0.1", 0.0, 0.0)


def _examined(response: Response, core: Core | None, link: str = "") -> str:
    urls, scope = Urls(), Scope(ScopeRules(), ["h"])
    examiner = Examiner(
        Config(),
        urls=urls,
        scope=lambda: scope,
        now=lambda: NOW,
        stats=Stats(),
        processors=Processors().natively(core),
        sent=RecentlySent(100),
        traps=Traps(),
    )
    url = urls.parse(HREF)
    assert url is not None
    content = examiner.examine(Ticket(url.href, url.key, url.host, link=link), url, response)
    page = content.page
    return (
        f"{len(page.text)} characters, {len(page.links)} links, {len(content.tickets)} sent, cut: {page.unread or 'no'}"
    )


def _headers(lines: str, name: str, core: Core | None) -> str:
    fields = [(name, line) for line in lines.split("\n")]
    url = Urls().parse(HREF)
    assert url is not None
    cookies = Cookies()
    cookies.store(url, fields, NOW)
    sent = len(cookies.header(url, NOW))
    rules = robots_file.time_to_live({key.lower(): value for key, value in fields}, NOW)
    outcomes = [of_result(_response(b"", fields, status), HREF, NOW, 1e6) for status in (302, 503)]
    receiver = Receiver(fields, Limits(), Framing(False, None))
    receiver.feed(_SMALL)
    said = _examined(_response(_SMALL, fields if name == "Content-Type" else [("Content-Type", HTML), *fields]), core)
    return f"{sent} of cookies, fresh for {rules}, {', '.join(type(each).__name__ for each in outcomes)}; {said}"


def _coded(body: bytes, coding: str) -> str:
    fields = [("Content-Type", HTML), ("Content-Encoding", coding)]
    limits = Config().max_body
    receiver = Receiver(fields, Limits(max_body=limits, max_wire=limits), Framing(False, None))
    for start in range(0, len(body), _PIECE):
        if not receiver.feed(body[start : start + _PIECE]):
            break
    receiver.finish(None)
    said = f"{receiver.body.size} bytes, {receiver.corrupt or receiver.truncated or 'whole'}"
    receiver.close()
    return said
