"""Code where rules end: extractors (document in, items out), pipelines (items checked, changed, dropped), and what
judges links and pages (`judges`).

All are found by entry points, or named as FILE.py:CLASS. docs/plugins.md has examples.
"""

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from gregor.worker.base.errors import BadInput
from gregor.worker.base.installed import entry_points
from gregor.worker.base.printable import one_line
from gregor.worker.extract import writing
from gregor.worker.extract.judges import NO_JUDGES, Filter, Judges, PageFilter, Scorer, named
from gregor.worker.extract.model import Drop, Item, Loss, has_value
from gregor.worker.links.ordering.policy import OrderPolicy
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.read.document import Document
from gregor.worker.read.processors import Processor

EXTRACTORS: Final = "gregor.extractors"
PIPELINES: Final = "gregor.pipelines"
FILTERS: Final = "gregor.filters"
SCORERS: Final = "gregor.scorers"
ORDERINGS: Final = "gregor.orderings"
"""The entry point groups, beside that of processors."""
GROUPS: Final = (EXTRACTORS, PIPELINES, FILTERS, SCORERS, ORDERINGS)
_NONE: Final = (
    "it has extract(document), process(item), follow(link), keep(document, extract), score(link), worth(link, page), "
    "or types and process(document)"
)
MOST: Final = 10_000
"""Items that an extractor may make of one page."""


@runtime_checkable
class Extractor(Protocol):
    """Makes items of documents.

    It may have beside: ``name`` (the rule that its items are of; default: that of the class), ``item`` (what they are
    called), ``match`` (URL patterns), ``id`` (fields that name an item), ``required`` (fields without which an item is
    lost), ``version``.
    """

    def extract(self, document: Document) -> Iterable[Mapping[str, Any]]:
        """The fields of each item, as JSON has them. What it raises costs the page's items, and is counted."""


@runtime_checkable
class Pipeline(Protocol):
    """Looks at each item before it is kept."""

    def process(self, item: Item) -> Item | None:
        """The item, or another one in its place. Raises `Drop`; None drops it as well."""


@dataclass(frozen=True, slots=True)
class LoadedExtractor:
    """An extractor as it is used."""

    name: str
    item: str
    match: Scope | None
    id: tuple[str, ...]
    version: str
    extractor: Extractor
    required: tuple[str, ...] = ()

    def extract(self, document: Document) -> tuple[list[Item], list[Loss]]:
        """Its items of a page. Never raises."""
        items: list[Item] = []
        losses: list[Loss] = []
        try:
            for fields in islice(self.extractor.extract(document), MOST):
                if not isinstance(fields, Mapping):
                    raise TypeError("an item is no mapping of names to values")
                item = Item(self.name, self.item, writing.plain(fields))
                if missing := next((name for name in self.required if not has_value(item, name)), None):
                    losses.append(Loss(self.name, f"{missing} is missing", field=missing))
                else:
                    items.append(item)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others: what it cannot do costs its items
            losses.append(Loss(self.name, f"the extractor failed: {type(error).__name__}"))
        return items, losses


@dataclass(frozen=True, slots=True)
class LoadedPipeline:
    """A pipeline as it is used."""

    name: str
    pipeline: Pipeline

    def process(self, item: Item, losses: list[Loss]) -> Item | None:
        """What is left of an item; None when it was dropped. Never raises."""
        try:
            passed = self.pipeline.process(item)
            if passed is None or isinstance(passed, Item):
                reason = f"dropped by {self.name}"
                if passed is not None:  # the same one may have got other values
                    names = passed.rule.encode().decode(), passed.item.encode().decode()
                    passed = Item(*names, writing.plain(passed.fields))
            else:
                reason, passed = f"{self.name} gave no item but {type(passed).__name__}", None
        except Drop as drop:
            reason, passed = f"dropped by {self.name}: {one_line(str(drop), 200)}", None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others: what it cannot do costs the item
            reason, passed = f"{self.name} failed: {type(error).__name__}", None
        if passed is None:
            losses.append(Loss(item.rule, reason))
        return passed


@dataclass(frozen=True, slots=True)
class Plugins:
    """What was found."""

    extractors: tuple[LoadedExtractor, ...] = ()
    pipelines: tuple[LoadedPipeline, ...] = ()
    processors: tuple[tuple[str, Processor], ...] = ()
    judges: Judges = NO_JUDGES
    given_policies: tuple[str, ...] = ()
    """Policies of the order that files bring: whoever names a file wants what is in it."""


def load(files: Sequence[str] = (), points: Iterable[EntryPoint] | None = None) -> Plugins:
    """Those of ``files``, each FILE.py:CLASS, and of the entry points of all groups (None: of what is installed). One
    object may be several of them.

    Raises `BadInput` with one line for what cannot be used.
    """
    if points is None:
        points = [point for group in GROUPS for point in entry_points(group=group)]
    made = [(point.name, _made(f"plug-in {point.name!r} ({point.value})", point.load)) for point in points]
    made += [(text, _from_file(text)) for text in files]
    for name, plugin in made:
        if not isinstance(plugin, Processor | Extractor | Pipeline | Filter | PageFilter | Scorer | OrderPolicy):
            raise BadInput(f"plug-in {one_line(name)}: {type(plugin).__name__} is none: {_NONE}")
    processors = [(name, plugin) for name, plugin in made if _is_processor(plugin)]
    called = [(str(getattr(plugin, "name", type(plugin).__name__)), plugin) for _, plugin in made]
    try:
        extractors = named(((made_of.name, made_of) for made_of in _extractors(made)), "extractors")
        judges = Judges(
            named(((name, plugin) for name, plugin in called if isinstance(plugin, Filter)), "filters"),
            named(((name, plugin) for name, plugin in called if isinstance(plugin, PageFilter)), "filters"),
            named(((name, plugin) for name, plugin in called if isinstance(plugin, Scorer)), "scorers"),
            named(
                ((name, plugin) for name, plugin in called if isinstance(plugin, OrderPolicy)), "policies of the order"
            ),
        )
    except ValueError as error:
        raise BadInput(str(error)) from None
    pipelines = (
        LoadedPipeline(type(plugin).__name__, plugin)
        for _, plugin in made
        if isinstance(plugin, Pipeline) and not _is_processor(plugin)
    )
    given_policies = tuple(
        name for name, plugin in called[len(called) - len(files) :] if isinstance(plugin, OrderPolicy)
    )
    return Plugins(tuple(extractors.values()), tuple(pipelines), tuple(processors), judges, given_policies)


def _is_processor(plugin: object) -> bool:
    """Pipelines have a method of its name."""
    return isinstance(plugin, Processor) and isinstance(getattr(plugin, "types", None), tuple)


def _extractors(made: Iterable[tuple[str, object]]) -> Iterator[LoadedExtractor]:
    for source, plugin in made:
        if isinstance(plugin, Extractor):
            yield _extractor(plugin, source)


def _from_file(text: str) -> Any:
    """The plug-in that FILE.py:CLASS names."""
    name, separator, attribute = text.rpartition(":")
    if not separator or not name or not attribute.isidentifier():
        raise BadInput(f"plug-in {one_line(text)!r}: write FILE.py:CLASS")
    if not Path(name).is_file():
        raise BadInput(f"plug-in {one_line(text)}: there is no file {one_line(name)}")

    def attribute_of() -> Any:
        spec = importlib.util.spec_from_file_location(f"gregor_plugin_{Path(name).stem}", Path(name).absolute())
        if spec is None or spec.loader is None:
            raise ImportError("it is no file of Python: its name ends in .py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # where dataclasses look for it
        spec.loader.exec_module(module)
        if not hasattr(module, attribute):
            classes = [key for key, value in vars(module).items() if isinstance(value, type)]
            raise AttributeError(f"it has no {attribute}; there are {', '.join(classes) or 'no classes'}")
        return getattr(module, attribute)

    return _made(f"plug-in {one_line(text)}", attribute_of, name)


def _made(what: str, loaded: Callable[[], Any], file: str = "") -> Any:
    """A class, called without arguments, or an instance."""
    try:
        plugin = loaded()
        return plugin() if isinstance(plugin, type) else plugin
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {one_line(str(error), 300)}"
        raise BadInput(f"{what}{_line(error, file)} cannot be loaded: {reason}") from error


def _line(error: BaseException, file: str) -> str:
    """Where in the file it is."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f", line {error.lineno}"
    absolute = str(Path(file).absolute())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if file and frame.filename == absolute]
    return f", line {lines[-1]}" if lines else ""


def _extractor(plugin: Extractor, source: str) -> LoadedExtractor:
    name = str(getattr(plugin, "name", type(plugin).__name__))
    patterns, id_fields, required = (_names(plugin, source, key) for key in ("match", "id", "required"))
    try:
        match = Scope(ScopeRules("any", include=patterns)) if patterns else None
    except ValueError as error:
        raise BadInput(f"plug-in {one_line(source)}: match: {error}") from None
    return LoadedExtractor(
        name,
        str(getattr(plugin, "item", name)),
        match,
        id_fields,
        str(getattr(plugin, "version", "")),
        plugin,
        required,
    )


def _names(plugin: Extractor, source: str, key: str) -> tuple[str, ...]:
    """What an extractor has there: a text, or several. Raises `BadInput`."""
    texts = getattr(plugin, key, ())
    if isinstance(texts, str):
        return (texts,)
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f"plug-in {one_line(source)}: {key} wants a text, or several")
    return tuple(texts)
