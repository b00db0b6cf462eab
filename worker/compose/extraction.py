"""What a configuration extracts: its files of rules, its plug-ins and those that are installed."""

from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path

from gregor.worker.base.errors import BadInput
from gregor.worker.config.settings import Config
from gregor.worker.extract import plugins, rules
from gregor.worker.extract.crawled import Extraction
from gregor.worker.read.processors import GROUP, ProcessorError, Processors


def extraction_of(config: Config, files: Iterable[Path] | None = None) -> Extraction:
    """The rules of ``files`` (None: of the configuration) and the plug-ins. Raises `BadInput` with one line."""
    ruleset = rules.read_all(map(Path, config.rules) if files is None else files)
    loaded = plugins.load(config.plugins)
    names = {rule.name for rule in ruleset.rules}
    if twice := [extractor.name for extractor in loaded.extractors if extractor.name in names]:
        raise BadInput(f"there is a rule {twice[0]!r}, and an extractor of that name")
    return Extraction(*ruleset, loaded.extractors, loaded.pipelines, _processors(loaded), loaded.judges)


def _processors(loaded: plugins.Plugins) -> Processors | None:
    """The installed ones with those of plug-ins; None without such."""
    if not loaded.processors:
        return None
    registry = Processors()
    try:
        registry.load(entry_points(group=GROUP))
        for name, processor in loaded.processors:
            registry.add(name, processor)
    except ProcessorError as error:
        raise BadInput(str(error)) from None
    return registry
