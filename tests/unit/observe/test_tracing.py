"""Traces of visits: what is recorded when one is wanted, and that nothing is when none is."""

import asyncio
import io
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from gregor.worker.adapters.tracing import OpenTelemetry
from gregor.worker.borders.transport import Response
from gregor.worker.observe import tracing
from gregor.worker.observe.tracing import Visit


class Wanting:
    """A tracer of a test's own."""

    def __init__(self, answer: bool = True) -> None:
        self.kept: list[Visit] = []
        self._answer = answer

    def wants(self) -> bool:
        return self._answer

    def keep(self, visit: Visit) -> None:
        self.kept.append(visit)


def visit(tracer: Any, late: float = 0.0) -> Visit:
    return Visit(7, 3, "a.example", tracer, late)


def response(latency: float, elapsed: float, connect: float = 0.0) -> Response:
    body: Any = io.BytesIO()
    return Response(200, "", [], "1.1", body, None, b"", b"", "", latency, elapsed, connect=connect)


def test_stages_follow_each_other() -> None:
    tracer = Wanting()
    with visit(tracer, late=2.0):
        tracing.ended("row")
        tracing.exchanged(response(latency=0.2, elapsed=0.5, connect=0.1))
        tracing.ended("settle")
    (kept,) = tracer.kept
    stages = {stage.name: stage for stage in kept.stages or []}
    assert list(stages) == ["queue", "row", "connect", "first_byte", "body", "settle"]
    seconds = {name: (stage.ended - stage.begun) / 1e9 for name, stage in stages.items()}
    assert (seconds["queue"], seconds["connect"], seconds["first_byte"]) == pytest.approx((2.0, 0.1, 0.2), abs=1e-6)
    assert seconds["body"] == pytest.approx(0.2, abs=1e-6)
    assert stages["settle"].begun == stages["body"].ended
    assert kept.begun == stages["queue"].begun


@pytest.mark.parametrize("tracer", [None, Wanting(False)])
def test_a_visit_that_is_not_traced_takes_no_times(tracer: Any) -> None:
    with visit(tracer) as running:
        tracing.ended("row")
        tracing.exchanged(response(latency=0.2, elapsed=0.5))
        assert running.stages is None
    assert tracer is None or not tracer.kept


def test_outside_of_a_visit_there_is_nothing_to_end() -> None:
    tracing.ended("row")
    assert tracing.current() is None


def test_each_task_has_a_visit_of_its_own() -> None:
    async def one() -> str:
        with visit(None) as running:
            await asyncio.sleep(0)
            assert tracing.current() is running
            return running.trace

    async def both() -> list[str]:
        return list(await asyncio.gather(one(), one()))

    first, second = asyncio.run(both())
    assert first != second
    assert all(len(trace) == 32 and int(trace, 16) for trace in (first, second))


def exported(*runs: Callable[[Visit], None], share: float = 1.0) -> tuple[ReadableSpan, ...]:
    exporter = InMemorySpanExporter()
    tracer = OpenTelemetry(SimpleSpanProcessor(exporter), share, "crawl", "worker-1")
    for run in runs:
        with visit(tracer) as running:
            run(running)
    asyncio.run(tracer.close())
    return exporter.get_finished_spans()


def test_a_visit_becomes_a_trace() -> None:
    told: list[str] = []

    def run(running: Visit) -> None:
        tracing.ended("row")
        running.facts.update({"url.full": "http://a.example/", "http.response.status_code": 200})
        told.append(running.trace)

    *stages, root = exported(run)
    assert root.name == "visit"
    assert root.kind is SpanKind.CLIENT
    assert root.context is not None
    assert f"{root.context.trace_id:032x}" == told[0]
    assert [stage.name for stage in stages] == ["queue", "row"]
    for stage in stages:
        assert stage.parent is not None
        assert stage.parent.span_id == root.context.span_id
        assert stage.context is not None
        assert stage.context.trace_id == root.context.trace_id
    assert root.start_time == stages[0].start_time
    assert root.end_time == stages[-1].end_time
    assert dict(root.attributes or {}) == {
        "server.address": "a.example",
        "gregor.partition": 7,
        "gregor.epoch": 3,
        "url.full": "http://a.example/",
        "http.response.status_code": 200,
    }
    assert {"gregor.crawl", "service.instance.id"} <= root.resource.attributes.keys()
    assert root.status.status_code is StatusCode.UNSET


def test_a_failure_is_told() -> None:
    def run(running: Visit) -> None:
        running.facts["error"] = "timeout"

    root = exported(run)[-1]
    assert (root.status.status_code, root.status.description) == (StatusCode.ERROR, "timeout")


def test_what_ends_a_visit_is_told() -> None:
    tracer = Wanting()
    with pytest.raises(ValueError, match="x"), visit(tracer):
        raise ValueError("x")
    assert tracer.kept[0].facts == {"error": "ValueError"}


def test_the_share_is_kept() -> None:
    def run(_: Visit) -> None: ...

    assert not exported(*[run] * 200, share=0.0)
    some = {span.context.trace_id for span in exported(*[run] * 2000, share=0.5) if span.context}
    assert 700 < len(some) < 1300
