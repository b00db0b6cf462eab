"""What plug-ins import: processors, which read more kinds of documents (docs/processors.md), extractors, which make
items, pipelines, which look at these, filters and scorers, which judge links and pages, and policies of the order
(docs/plugins.md).

These names and what they say of themselves stay from version to version; where they come from may change.
"""

from gregor.worker.extract.judges import Filter, PageFilter, Scorer
from gregor.worker.extract.model import Drop, Item
from gregor.worker.extract.plugins import Extractor, Pipeline
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import BroughtPage, Learns, OrderPolicy
from gregor.worker.read.document import Document, Extract, Reference
from gregor.worker.read.html.collector import MAX_LINKS
from gregor.worker.read.processors import GROUP, Processor, ProcessorError, decoded, process

__all__ = [
    "GROUP",
    "MAX_LINKS",
    "BroughtPage",
    "Document",
    "Drop",
    "Extract",
    "Extractor",
    "Filter",
    "FoundLink",
    "Item",
    "Learns",
    "OrderPolicy",
    "PageFilter",
    "Pipeline",
    "Processor",
    "ProcessorError",
    "Reference",
    "Scorer",
    "decoded",
    "process",
]
