"""The answer in a response record: its head as recorded, its payload without transfer and content codings.

What writes WARC files does not agree on whether the payload still has the codings that its head names. So a body is
taken apart only where it is what the head says.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gregor.worker.archives.blocks import END, up_to_end
from gregor.worker.archives.files import HeadFields
from gregor.worker.base.spooled import BodyTooLarge, SpooledBody
from gregor.worker.borders.transport import Response, Truncation
from gregor.worker.fetch.content_coding import Corrupt, Decoder, TooLarge
from gregor.worker.web import heads

_MOST_HEAD: Final = 1024 * 1024
_STATUS: Final = re.compile(rb"HTTP/[\d.]{1,4}[ \t]+(\d{3})(?:[ \t]+([^\r\n]*))?[ \t]*\r?$", re.MULTILINE)
_SIZE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_NEXT_SIZE: Final = re.compile(rb"[\r\n]*" + _SIZE.pattern)
_LONGEST_LINE: Final = 16 * 1024
_RENAMED: Final = re.compile(rb"(?im)^X-Orig-(Transfer-Encoding|Content-Length)(?=[ \t]*:)")
"""Under these names Gregor writes headers that are not true any more of what it kept."""
_WHY_CUT: Final[dict[str, Truncation]] = {"length": "size", "time": "time", "disconnect": "cut"}


class RecordedAnswer(NamedTuple):
    """The head of a recorded answer, and its payload as it lies in the record."""

    status: int
    reason: str
    head: bytes
    headers: list[tuple[str, str]]
    payload: Iterator[bytes]


def answer_of(block: Iterator[bytes]) -> RecordedAnswer:
    """The answer in the block of a record. Raises ValueError where there is none."""
    start = up_to_end(block, _MOST_HEAD)
    end = END.search(start)
    head, rest = (start[: end.start()], start[end.end() :]) if end else (start.rstrip(b"\r\n"), b"")
    status = _STATUS.match(head)
    if status is None or len(head) > _MOST_HEAD:
        raise ValueError("no HTTP answer is in it")
    _, headers = heads.parse(head)
    return RecordedAnswer(
        int(status[1]), (status[2] or b"").decode("latin-1").strip(), head, headers, _joined(rest, block)
    )


def _joined(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def response_of(answer: RecordedAnswer, payload_of: RecordedAnswer, fields: HeadFields, most: int) -> Response:
    """An answer as a transport gives it: its own head over the payload of ``payload_of``, which is itself, or the
    answer that it repeats; ``most``: bytes of a body that are kept.

    Raises ValueError where nothing can be made of the payload. The bodies are the caller's to close.
    """
    body, wire = SpooledBody(cap=most), SpooledBody(cap=most)
    codings = _combined(payload_of.headers, "content-encoding")
    chunked = "chunked" in _combined(payload_of.headers, "transfer-encoding").lower()
    truncated: Truncation | None = None
    if reason := fields.get("warc-truncated", "").lower():
        truncated = _WHY_CUT.get(reason, "length")
    try:
        pieces = _dechunked(payload_of.payload) if chunked else payload_of.payload
        cut = _decode(pieces, codings, most, body, wire)
    except BaseException:
        body.close()
        wire.close()
        raise
    same = not codings or (body.size == wire.size and body.sha256 == wire.sha256)
    if same:
        wire.close()
    return Response(
        status=answer.status,
        reason=answer.reason,
        headers=answer.headers,
        http_version=answer.head.partition(b" ")[0].decode("latin-1"),
        body=body,
        wire_body=None if same else wire,
        request_head=b"",
        response_head=_RENAMED.sub(rb"\1", answer.head) + b"\r\n\r\n" if answer.head else b"",
        address=fields.get("warc-ip-address", ""),
        latency=0.0,
        elapsed=0.0,
        truncated=truncated or cut,
    )


def _combined(headers: Iterable[tuple[str, str]], name: str) -> str:
    return ", ".join(value for key, value in headers if key.lower() == name)


def _decode(
    pieces: Iterator[bytes], codings: str, most: int, body: SpooledBody, wire: SpooledBody
) -> Truncation | None:
    """Write the payload to ``wire``, and to ``body`` without its codings; why not all of it, if so."""
    decoder = Decoder(codings, most) if codings else None
    try:
        for piece in pieces:
            wire.write(piece) if decoder is not None else body.write(piece)
            if decoder is not None:
                body.write(decoder.feed(piece))
        if decoder is not None:
            body.write(decoder.finish())
    except (BodyTooLarge, TooLarge):
        return "size"
    except Corrupt as error:
        if not body.size:
            raise ValueError(f"its body is not what its Content-Encoding says: {error}") from None
        return "cut"
    return None


def _dechunked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A payload without its chunks (RFC 9112 section 7.1); as it is, where it has none."""
    buffer, left, begun = b"", 0, False
    for piece in pieces:
        buffer, at = buffer + piece, 0
        while at < len(buffer):
            if left:
                part = buffer[at : at + left]
                yield part
                left, at = left - len(part), at + len(part)
                continue
            size = (_NEXT_SIZE if begun else _SIZE).match(buffer, at)
            if size is not None:
                left, at, begun = int(size[1], 16), size.end(), True
                if not left:
                    return
            elif not begun and (b"\n" in buffer or len(buffer) > _LONGEST_LINE):
                yield from _joined(buffer, pieces)
                return
            elif len(buffer) - at > _LONGEST_LINE:
                raise ValueError("its chunks are none")
            else:
                break
        buffer = buffer[at:]
    if not begun:
        yield buffer
