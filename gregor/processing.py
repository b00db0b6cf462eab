"""What a processor imports: a plug-in that reads more kinds of documents. See docs/processors.md for an example.

These names and what they say of themselves stay from version to version; where they come from may change.
"""

from gregor.worker.read.document import Document, Extract, Reference
from gregor.worker.read.html.collector import MAX_LINKS
from gregor.worker.read.processors import GROUP, Processor, ProcessorError, decoded, process

__all__ = [
    "GROUP",
    "MAX_LINKS",
    "Document",
    "Extract",
    "Processor",
    "ProcessorError",
    "Reference",
    "decoded",
    "process",
]
