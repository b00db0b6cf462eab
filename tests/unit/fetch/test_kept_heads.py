"""What is kept of answers beside pages."""

from gregor.schemas.parts import AnswerHead
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Response
from gregor.worker.fetch.kept_heads import LONGEST, kept_head


def answer(head: bytes, wire: SpooledBody | None = None) -> Response:
    return Response(301, "Moved", [], "1.1", spooled(b"decoded"), wire, b"", head, "::1", 0.1, 0.2, "cut")


def spooled(data: bytes) -> SpooledBody:
    body = SpooledBody(cap=1 << 20)
    body.write(data)
    return body


def test_the_head_is_kept_as_it_came_with_the_size_of_what_was_received() -> None:
    assert kept_head(answer(b"x"), "http://h/") == AnswerHead("http://h/", b"x", "::1", 7, "cut")
    assert kept_head(answer(b"x", spooled(b"wire")), "http://h/") == AnswerHead("http://h/", b"x", "::1", 4, "cut")


def test_a_head_that_would_swell_the_row_is_not_kept() -> None:
    assert kept_head(answer(b"x" * LONGEST), "http://h/") is not None
    assert kept_head(answer(b"x" * (LONGEST + 1)), "http://h/") is None
