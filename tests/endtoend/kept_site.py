"""A site whose pages, titles, links and headers are hostile or nearly the same, for what shows stored pages."""

from html import escape

from gregor.worker.operate.seeds import Seed, publish
from gregor.worker.web.urls import Urls
from tests.endtoend.operated import Operated
from tests.memory_transport import Scripted

HOSTILE = "<img src=x onerror=alert(1)>"
HOST = "kept.example"
START = f"http://{HOST}/"
PROSE = " ".join(f"The {number}th sentence of the story is told at some length." for number in range(60))
_HTML = ("Content-Type", "text/html; charset=utf-8")
_SITE = {
    "": f"<title>{HOSTILE}</title><a href='story'>{escape(HOSTILE)}</a><a href='retold'>x</a><a href='again'>y</a>"
    f"<a href='gone'>z</a><a href='fails'>f</a><a href='javascript:alert(1)'>j</a> short",
    "story": f"<title>A story</title><p>{PROSE}",
    "retold": f"<title>A story, retold</title><p>{PROSE} The end",
    "again": f"<title>A story, again</title><p>{PROSE} The end.",
}


async def publish_site(worker: Operated) -> None:
    """Script the site and seed its start."""
    for path, text in _SITE.items():
        headers = (_HTML, ("X-Hostile", HOSTILE), ("Set-Cookie", "<script>alert(2)</script>=1"))
        worker.transport.script(START + path, Scripted(body=text.encode(), headers=headers))
    worker.transport.script(START + "gone", Scripted(status=410, body=b"gone"))
    worker.transport.script(START + "fails", Scripted(status=500))
    url = Urls().parse(START)
    assert url is not None
    await publish(worker.engine.log, worker.engine.store, [Seed(url)])


async def crawled(worker: Operated) -> None:
    """Publish the site, and wait until all of it is settled."""
    await publish_site(worker)
    for path in (*_SITE, "gone", "fails"):
        await worker.until_state(START + path)
