"""The search page alone, without a console beside it."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gregor.worker.api.access import Access
from gregor.worker.api.app import Gate, routed
from gregor.worker.api.search_routes import PATHS, routes
from gregor.worker.api.searching import Searching
from gregor.worker.config.api import token
from gregor.worker.config.settings import Config
from gregor.worker.inspect.index_metrics import SEARCH_METRICS
from gregor.worker.inspect.metrics import CONTENT_TYPE, Exposition


def application(searching: Searching, config: Config, environ: Mapping[str, str], *, public: bool) -> Gate:
    """The page alone. ``public``: whoever reaches it is answered, not only who asks for a loopback address by its own
    name; its metrics are for these, and for who has the viewer's token. Raises `BadInput`."""
    exposition = Exposition(SEARCH_METRICS, lambda: searching, config.crawl)

    async def metrics(_: Request) -> Response:
        return Response(exposition.text(), media_type=CONTENT_TYPE)

    access = Access(token(config, "viewer", environ), "", anonymous_read=True)
    every = [*routes(searching), Route("/metrics", metrics, methods=["GET"])]
    return Gate(routed(every), access, config.api_rate, PATHS if public else ())
