"""What of the reading of a page is done natively; `gregor.worker.read.native` asks for it. See docs/native.md."""

from typing import Final

from gregor_native._core import BUILT_WITH, read_page, simhash_and_sketch, text_fingerprint

INTERFACE: Final = 2
"""Which functions there are, and what they take: the worker asks for those that it knows."""

__all__ = ["BUILT_WITH", "INTERFACE", "read_page", "simhash_and_sketch", "text_fingerprint"]
