"""What a PDF on standard input says, as one JSON object: the process that `pdf.Pdf` starts for each.

`python -m gregor.worker.read.pdf_text SECONDS BYTES`: how long it may take, and how much memory.
"""

import io
import json
import logging
import resource
import signal
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NoReturn

from gregor.worker.base.surrogates import well_formed

MOST_PAGES: Final = 2000
MOST_TEXT: Final = 4 << 20
"""Characters."""
MOST_LINKS: Final = 5000
_LONGEST: Final = 4096
"""Characters of an address, or of a title."""


class OutOfTime(Exception):
    """It took too long."""


def main() -> None:
    """Read it within the bounds, and say what was read, whatever came between."""
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 5, int(seconds) + 5))
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    logging.disable(logging.CRITICAL)  # pypdf tells of each fault that it passes by
    said: dict[str, Any] = {"text": "", "links": [], "cut": ""}
    parts: list[str] = []
    try:
        read(sys.stdin.buffer.read(), said, parts)
    except OutOfTime:
        said["cut"] = "time"
    except (Exception, RecursionError, MemoryError):  # noqa: BLE001 - it is somebody else's document
        said["cut"] = "pdf"
    signal.setitimer(signal.ITIMER_REAL, 0)
    said["text"] = " ".join(" ".join(parts).split())[:MOST_TEXT]
    sys.stdout.buffer.write(well_formed(json.dumps(said, ensure_ascii=False)).encode())


def read(body: bytes, said: dict[str, Any], parts: list[str]) -> None:
    """Put what a document says into ``said`` and the texts of its pages into ``parts``, as far as it comes."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(body), strict=False)
    if reader.is_encrypted:
        reader.decrypt("")  # many are for everybody to read, and only not to be changed
    title = reader.metadata.title if reader.metadata is not None else None
    said["title"] = " ".join(str(title or "").split())[:_LONGEST]
    said["lang"] = str(reader.root_object.get("/Lang") or "")[:64]
    size = 0
    for page in islice(reader.pages, MOST_PAGES):
        text = page.extract_text()
        parts.append(text)
        size += len(text)
        said["links"] += islice(_links(page), MOST_LINKS - len(said["links"]))
        if size > MOST_TEXT:
            said["cut"] = "size"
            return
    if len(reader.pages) > MOST_PAGES:
        said["cut"] = "size"


def _links(page: Any) -> Iterator[str]:
    for reference in page.get("/Annots") or ():
        action = reference.get_object().get("/A")
        address = action.get_object().get("/URI") if action is not None else None
        if isinstance(address, str) and len(address) <= _LONGEST:
            yield address


def _out_of_time(*_: object) -> NoReturn:
    raise OutOfTime


if __name__ == "__main__":
    main()
