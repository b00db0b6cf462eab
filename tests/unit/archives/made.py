"""WARC files for tests, written byte by byte: what no library would write is wanted as well."""

import gzip
from collections.abc import Sequence

URL = "http://a.test/"


def record(
    kind: str = "response", url: str = URL, block: bytes = b"", date: str = "2024-01-02T03:04:05Z", **more: str
) -> bytes:
    """One record, not compressed; names of ``more`` with underscores for hyphens."""
    fields = {"WARC-Type": kind, "WARC-Target-URI": url, "WARC-Date": date, "WARC-Record-ID": f"<urn:x:{url}:{date}>"}
    if kind in ("response", "revisit"):
        fields["Content-Type"] = "application/http; msgtype=response"
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    fields["Content-Length"] = str(len(block))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.0\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


def answer(body: bytes = b"<title>T</title>text", *headers: str, status: str = "200 OK") -> bytes:
    """A block of a response."""
    lines = [f"HTTP/1.1 {status}", *(headers or ["Content-Type: text/html"])]
    return "\r\n".join([*lines, "", ""]).encode() + body


def gzipped(records: Sequence[bytes]) -> bytes:
    """Compressed record by record."""
    return b"".join(map(gzip.compress, records))
