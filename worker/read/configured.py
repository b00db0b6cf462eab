"""How a crawl reads its documents: what its settings make of the processors that there are."""

from gregor.worker.config.settings import Config
from gregor.worker.read.main_text import telling_apart
from gregor.worker.read.native import core
from gregor.worker.read.processors import Processors


def configured(processors: Processors, config: Config) -> Processors:
    """The processors as ``native`` and ``text`` want them. Raises `BadInput` if a package is missing for that."""
    processors = processors.natively(core() if config.native else None)
    return telling_apart(processors) if config.text == "main" else processors
