"""PDF, where the extra "pdf" is installed: text, title, language and links, read by pypdf in a process of its own.

A PDF is a program in small: what it makes of memory and time is bounded from outside, whatever is in it.
"""

import json
import subprocess
from importlib.util import find_spec
from typing import Any, Final

from gregor.worker.base import children
from gregor.worker.read.document import Document, Extract, Reference

TYPE: Final = "application/pdf"
SECONDS: Final = 15.0
"""So long a document may take; what was read until then is kept."""
_GRACE: Final = 10.0
"""Seconds more until the process is ended that should have ended itself."""
MEMORY: Final = 1 << 30
"""Bytes of address space that the process may have."""
_LEAST: Final = 8
"""Bytes without which nothing is a PDF."""


class Pdf:
    """``application/pdf``. Without pypdf nothing is read, as of any type that no processor is there for."""

    types = (TYPE,)

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._there = find_spec("pypdf") is not None

    def process(self, document: Document) -> Extract | None:
        """Never raises: a document that cannot be read says nothing, and ``cut`` tells that."""
        body = document.read()
        if not self._there or len(body) < _LEAST:
            return None
        said = self._asked(body)
        if said is None:
            return Extract(cut="pdf")
        return Extract(
            title=said.get("title") or None,
            text=said["text"],
            links=[Reference(url, "a") for url in said["links"]],
            lang=said.get("lang") or None,
            cut=said["cut"],
        )

    def _asked(self, body: bytes) -> dict[str, Any] | None:
        words = children.python("gregor.worker.read.pdf_text", [str(self._seconds), str(MEMORY)])
        try:
            ran = subprocess.run(
                words,
                input=body,
                capture_output=True,
                timeout=self._seconds + _GRACE,
                check=False,
                env=children.environment({"LC_ALL": "C.UTF-8"}),
            )
        except subprocess.TimeoutExpired:
            return None
        if ran.returncode != 0:
            return None
        said: dict[str, Any] = json.loads(ran.stdout)
        return said
