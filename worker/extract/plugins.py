"""Code where rules end: extractors (document in, items out), pipelines (items checked, changed, dropped), and what
judges links and pages (`judges`).

All are found by entry points, or named as FILE.py:CLASS. docs/plugins.md has examples.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from inspect import iscoroutinefunction
from typing import Any, Final, Protocol, runtime_checkable

from gregor.worker.base.errors import BadInput
from gregor.worker.base.installed import entry_points
from gregor.worker.base.printable import one_line
from gregor.worker.extract import writing
from gregor.worker.extract.judges import NO_JUDGES, Filter, Judges, PageFilter, Scorer, named
from gregor.worker.extract.loading import Found, from_file, from_point
from gregor.worker.extract.model import Drop, Item, Loss, TooMany, has_value
from gregor.worker.extract.selectors import bounded
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
_METHODS: Final = ("extract", "process", "follow", "keep", "score", "worth")
_MEDIA_TYPE: Final = re.compile(r"[^\s/A-Z]+/[^\s/A-Z]+")


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
            for fields in bounded(self.extractor.extract(document), "items"):
                if not isinstance(fields, Mapping):
                    raise TypeError("an item is no mapping of names to values")
                item = Item(self.name, self.item, writing.plain(fields))
                if missing := next((name for name in self.required if not has_value(item, name)), None):
                    losses.append(Loss(self.name, f"{missing} is missing", field=missing))
                else:
                    items.append(item)
        except TooMany as error:
            losses.append(Loss(self.name, str(error), beyond=True))
        except writing.Unsayable as error:
            losses.append(Loss(self.name, f"the extractor failed: {error}"))
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
        except writing.Unsayable as error:
            reason, passed = f"{self.name} failed: {error}", None
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
    processors: tuple[tuple[str, str, Processor], ...] = ()
    """As they were named, and with the place for messages."""
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
    plugins = [*map(from_point, points), *map(from_file, files)]
    for each in plugins:
        if not each.is_a(Processor | Extractor | Pipeline | Filter | PageFilter | Scorer | OrderPolicy):
            raise BadInput(f"{each.place}: {type(each.plugin).__name__} is none: {_NONE}")
        if waits := [name for name in _METHODS if iscoroutinefunction(getattr(each.plugin, name, None))]:
            raise BadInput(f"{each.place}: {waits[0]} is async, and nobody waits for it: write def {waits[0]}")
    processors = [each for each in plugins if _is_processor(each)]
    extractors = [(each.name, each.place, _extractor(each)) for each in plugins if each.is_a(Extractor)]
    judges = Judges(
        named(_of_kind(Filter, plugins), "filters"),
        named(_of_kind(PageFilter, plugins), "filters"),
        named(_of_kind(Scorer, plugins), "scorers"),
        named(_of_kind(OrderPolicy, plugins), "policies of the order"),
    )
    pipelines = (each.plugin for each in plugins if each.is_a(Pipeline) and not _is_processor(each))
    by_files = plugins[len(plugins) - len(files) :]
    return Plugins(
        tuple(named(extractors, "extractors").values()),
        tuple(LoadedPipeline(type(plugin).__name__, plugin) for plugin in pipelines),
        tuple((each.source, each.place, each.plugin) for each in processors),
        judges,
        tuple(each.name for each in by_files if each.is_a(OrderPolicy)),
    )


def _of_kind(kind: Any, plugins: Iterable[Found]) -> list[tuple[str, str, Any]]:
    """Those of a kind, with name and place. Raises `BadInput`."""
    return [(each.name, each.place, each.plugin) for each in plugins if each.is_a(kind)]


def _is_processor(made: Found) -> bool:
    """Pipelines have a method of its name, and no types. Raises `BadInput` for types that are none."""
    if not made.is_a(Processor):
        return False
    types = made.plugin.types
    if not isinstance(types, tuple) or not types or not all(map(_is_media_type, types)):
        raise BadInput(f"{made.place}: types wants a tuple of media types, lower case, such as ('text/vtt', 'text/*')")
    return True


def _is_media_type(text: object) -> bool:
    return isinstance(text, str) and _MEDIA_TYPE.fullmatch(text) is not None


def _extractor(made: Found) -> LoadedExtractor:
    patterns, id_fields, required = (made.texts(key) for key in ("match", "id", "required"))
    try:
        match = Scope(ScopeRules("any", include=patterns)) if patterns else None
    except ValueError as error:
        raise BadInput(f"{made.place}: match: {error}") from None
    item, version = made.text("item", made.name), made.text("version", "")
    return LoadedExtractor(made.name, item, match, id_fields, version, made.plugin, required)
