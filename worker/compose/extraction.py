"""What a configuration extracts: its files of rules, its plug-ins and those that are installed."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gregor.worker.base.beginnings import read_beginning
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.installed import entry_points
from gregor.worker.base.printable import one_line
from gregor.worker.config.settings import Config
from gregor.worker.extract import plugins
from gregor.worker.extract.crawled import Extraction
from gregor.worker.links.ordering.opic import Opic
from gregor.worker.links.ordering.own import OwnPolicy
from gregor.worker.links.ordering.policy import DEPTH, TOPIC, OrderPolicy, ScoringPolicy
from gregor.worker.read.processors import GROUP, ProcessorError, Processors

if TYPE_CHECKING:
    from gregor.worker.extract.links import LinkRule
    from gregor.worker.extract.model import Rule
    from gregor.worker.topic.page_model import PageModel
    from gregor.worker.topic.relevance import Relevance


def extraction_of(config: Config, files: Iterable[Path] | None = None, *, ordered: bool = True) -> Extraction:
    """The rules of ``files`` (None: of the configuration) and the plug-ins. ``ordered``: with the policy of the order
    and the model of classes, which only those who visit need. Raises `BadInput` with one line."""
    rules, links = _read(list(map(Path, config.rules) if files is None else files))
    loaded = plugins.load(config.plugins)
    names = {rule.name for rule in rules}
    if twice := [extractor.name for extractor in loaded.extractors if extractor.name in names]:
        raise BadInput(f"there is a rule {twice[0]!r}, and an extractor of that name")
    judges = loaded.judges
    model = read_model(config.topic_model) if ordered and config.topic_model else None
    topic = topic_of(config, model) if ordered and config.has_topic else None
    if ordered:
        judges = replace(judges, policy=policy_of(config.ordering, judges.orderings, topical(config, topic)))
        if topic is not None and config.ordering == DEPTH:
            complain("a topic is told, but ordering is depth: --set ordering=topic fetches relevant pages first")
        for name in loaded.given_policies:
            if name != config.ordering:
                hint = f"--set ordering={shlex.quote(name)}"
                complain(f"the policy {one_line(name, 80)!r} is not in force: ordering is {config.ordering}; {hint}")
    return Extraction(rules, links, loaded.extractors, loaded.pipelines, _processors(loaded), judges, model, topic)


def policy_of(
    name: str, orderings: Mapping[str, OrderPolicy], topical: ScoringPolicy | None = None
) -> ScoringPolicy | None:
    """The policy of the order of that name, one of ours or of plug-ins; None for that by depth. Raises `BadInput`.
    ``topical``: that of the crawl's topic, if it has one."""
    if name in (DEPTH, Opic.name, TOPIC) and name in orderings:
        raise BadInput(f"plug-in {name}: a policy of that name comes along, give it another")
    if name == DEPTH:
        return None
    if name == Opic.name:
        return Opic()
    if name == TOPIC:
        if topical is None:
            raise BadInput("ordering is topic, and no topic is told: give topic words, good pages, or classes")
        return topical
    if name not in orderings:
        there = ", ".join([DEPTH, Opic.name, TOPIC, *map(one_line, sorted(orderings))])
        hint = f"name the plug-in that brings it, or --set ordering={DEPTH}"
        raise BadInput(f"ordering {one_line(name, 80)!r} is no policy; there are {there}: {hint}")
    try:
        return OwnPolicy(name, orderings[name])
    except ValueError as error:
        raise BadInput(f"plug-in {one_line(name)}: {error}") from None


def read_model(file: str) -> "PageModel":
    """The model of a file. Raises `BadInput` with one line."""
    from gregor.worker.topic import model_file
    from gregor.worker.topic.page_model import PageModel

    data = read_beginning(file, model_file.LARGEST + 1, "the model")
    if len(data) > model_file.LARGEST:
        raise BadInput(f"{one_line(file)} is no model: it has more than {model_file.LARGEST >> 20} MiB")
    return PageModel(model_file.decode(data, file))


def topic_of(config: Config, model: "PageModel | None") -> "Relevance":
    """What a configuration is after; ``model``: its model. Raises `BadInput` with one line."""
    from gregor.worker.compose.topics import relevance_of

    return relevance_of(config, model)


def topical(config: Config, topic: "Relevance | None") -> ScoringPolicy | None:
    """The order of a crawl by its topic, where that is asked for."""
    if topic is None or config.ordering != TOPIC:
        return None
    from gregor.worker.links.ordering.topic import TopicPolicy

    return TopicPolicy(topic, config.topic_threshold, config.topic_decay)


def _read(files: list[Path]) -> "tuple[tuple[Rule, ...], tuple[LinkRule, ...]]":
    """The rules of files. Reading any loads much that no crawl without rules needs."""
    if not files:
        return (), ()
    from gregor.worker.extract.rules import read_all

    return read_all(files)


def _processors(loaded: plugins.Plugins) -> Processors | None:
    """The installed ones with those of plug-ins; None without such."""
    if not loaded.processors:
        return None
    registry = Processors()
    try:
        registry.load(entry_points(group=GROUP))
    except ProcessorError as error:
        raise BadInput(str(error)) from None
    for name, place, processor in loaded.processors:
        try:
            registry.add(name, processor)
        except ProcessorError as error:
            raise BadInput(f"{place}: {error}") from None
    return registry
