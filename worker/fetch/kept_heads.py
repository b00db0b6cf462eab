"""What is kept of an answer of which no page is made: a redirect, an error, a 304, a robots.txt. Pure."""

from typing import Final

from gregor.schemas.parts import AnswerHead
from gregor.worker.borders.transport import Response

LONGEST: Final = 8192
"""Bytes of a head that is kept: a row remembers several answers, and is read at every visit."""


def kept_head(response: Response, href: str) -> AnswerHead | None:
    """The head of an answer to a request for ``href``; None when it is too long to be kept."""
    if len(response.response_head) > LONGEST:
        return None
    received = response.body if response.wire_body is None else response.wire_body
    return AnswerHead(href, response.response_head, response.address, received.size, response.truncated or "")
