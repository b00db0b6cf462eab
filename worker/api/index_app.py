"""The metrics of `gregor index`."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gregor.worker.api.access import Access
from gregor.worker.api.app import Gate, routed
from gregor.worker.config.api import token
from gregor.worker.config.settings import Config
from gregor.worker.inspect.index_metrics import INDEX_METRICS
from gregor.worker.inspect.metrics import CONTENT_TYPE, Exposition
from gregor.worker.observe.indexing import IndexStats


def application(config: Config, stats: IndexStats, environ: Mapping[str, str]) -> Gate:
    """`/healthz` for everybody, `/metrics` for who has the viewer's token; who asks a loopback address needs none where
    that is configured."""
    exposition = Exposition(INDEX_METRICS, lambda: stats, config.crawl)

    async def metrics(_: Request) -> Response:
        return Response(exposition.text(), media_type=CONTENT_TYPE)

    async def healthy(_: Request) -> Response:
        return Response("ok\n", media_type="text/plain")

    routes = [Route("/metrics", metrics, methods=["GET"]), Route("/healthz", healthy, methods=["GET"])]
    access = Access(token(config, "viewer", environ), "", anonymous_read=config.anonymous_read)
    return Gate(routed(routes), access, config.api_rate)
