"""Traced visits, sent by OpenTelemetry: OTLP over HTTP, in batches, on the SDK's own thread.

What cannot be sent is dropped: a collector that is slow or away costs the crawl nothing but its traces.
"""

import asyncio
import random

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import SpanKind, StatusCode

from gregor import __version__
from gregor.worker.observe.tracing import Visit

_PATIENCE = 5.0  # seconds for one batch, and for what is left when the worker ends


class _Ids(RandomIdGenerator):
    """Gives a trace the id that the log has."""

    next = 0

    def generate_trace_id(self) -> int:
        return self.next


class OpenTelemetry:
    """`Tracer`. ``share`` of the visits is traced."""

    def __init__(self, processor: SpanProcessor, share: float, crawl: str, worker: str) -> None:
        self._share = share
        self._chance = random.Random()
        self._ids = _Ids()
        resource = Resource.create(
            {
                "service.name": "gregor",
                "service.version": __version__,
                "service.instance.id": worker,
                "gregor.crawl": crawl,
            }
        )
        self._provider = TracerProvider(ALWAYS_ON, resource, id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("gregor", __version__)

    @classmethod
    def to(cls, endpoint: str, share: float, crawl: str, worker: str) -> "OpenTelemetry":
        """Send to a collector: ``endpoint`` is a whole URL, such as http://127.0.0.1:4318/v1/traces."""
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=_PATIENCE)
        return cls(BatchSpanProcessor(exporter, export_timeout_millis=1000 * _PATIENCE), share, crawl, worker)

    def wants(self) -> bool:
        """See `Tracer.wants`."""
        return self._chance.random() < self._share

    def keep(self, visit: Visit) -> None:
        """See `Tracer.keep`."""
        stages = visit.stages or []
        self._ids.next = int(visit.trace, 16)
        attributes: dict[str, str | int] = {
            "server.address": visit.host,
            "gregor.partition": visit.partition,
            "gregor.epoch": visit.epoch,
        }
        root = self._tracer.start_span("visit", kind=SpanKind.CLIENT, start_time=visit.begun, attributes=attributes)
        within = trace.set_span_in_context(root)
        for stage in stages:
            self._tracer.start_span(stage.name, within, start_time=stage.begun).end(stage.ended)
        root.set_attributes(visit.facts)
        if "error" in visit.facts:
            root.set_status(StatusCode.ERROR, str(visit.facts["error"]))
        root.end(max((stage.ended for stage in stages), default=visit.begun))

    async def close(self) -> None:
        """Send what is left, within seconds."""
        await asyncio.to_thread(self._provider.shutdown)
