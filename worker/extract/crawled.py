"""The rules of a crawl, applied to each page as it is read: its items, what was lost, which fields had a value."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from gregor.schemas.items import StoredItem
from gregor.schemas.messages import Page
from gregor.worker.extract import identity
from gregor.worker.extract.judges import NO_JUDGES, Judges
from gregor.worker.extract.model import Item, Loss, PageItems, Rule, RuleFailed, Weight, has_value
from gregor.worker.links.scope import InScope
from gregor.worker.read.document import Document
from gregor.worker.read.processors import Processors
from gregor.worker.web.urls import Url

if TYPE_CHECKING:  # heavy, and most crawls have no rules and no model
    from gregor.worker.extract.links import LinkRule
    from gregor.worker.extract.page import Parsed
    from gregor.worker.extract.plugins import LoadedExtractor, LoadedPipeline
    from gregor.worker.topic.page_model import PageModel
    from gregor.worker.topic.relevance import Relevance

STEPS: Final = 50_000
"""What rules may cost on a page while it is crawled (`work.MOST` is what they may on a stored one): some 0.1 s."""
LARGEST: Final = 4 << 20
"""Bytes of all items of a page that are kept with it."""
FIELDS: Final = 50
"""Fields of an extractor's items that are told of: pages may name them."""
ITEMS: Final = ""
"""Stands for the items of a rule themselves where fields are told of."""


@dataclass(slots=True)
class Extracted:
    """What the rules made of a page: its items as they are kept, and what is told of them."""

    items: list[StoredItem] = field(default_factory=list)
    asked: dict[str, bool] = field(default_factory=dict)
    """The rules that were applied, and whether an item of it was lost."""
    values: dict[tuple[str, str], bool] = field(default_factory=dict)
    """Whether the page gave a value, by rule and field; by rule and "" whether it gave an item."""
    required: set[tuple[str, str]] = field(default_factory=set)
    """Of these what must have one."""
    open: set[str] = field(default_factory=set)
    """Extractors that gave items: what was a field of theirs before and is in no item has no value."""
    losses: list[Loss] = field(default_factory=list)
    links: dict[str, Weight] = field(default_factory=dict)
    """What rules say of the page's references, as they stand there."""


@dataclass(frozen=True)
class Extraction:
    """What a crawl extracts, and what judges its links and pages. Where nothing is extracted it is false."""

    rules: tuple[Rule, ...] = ()
    links: "tuple[LinkRule, ...]" = ()
    extractors: "tuple[LoadedExtractor, ...]" = ()
    pipelines: "tuple[LoadedPipeline, ...]" = ()
    processors: Processors | None = None
    """What reads documents of which type; None: what is installed."""
    judges: Judges = NO_JUDGES
    model: "PageModel | None" = None
    """What says of which class a page is; None: nobody does."""
    topic: "Relevance | None" = None
    """What says how relevant a page is; None: the crawl has no topic."""

    def __bool__(self) -> bool:
        return bool(self.rules or self.links or self.extractors)

    @property
    def names(self) -> list[str]:
        """Those of all rules, of extractors too."""
        return [*(rule.name for rule in self.rules), *(extractor.name for extractor in self.extractors)]

    def tells_of(self, rule: str, field: str) -> bool:
        """Whether a field of a rule may still have values; what fields an extractor gives only its items say."""
        if any(extractor.name == rule for extractor in self.extractors):
            return True
        fields = next((each.fields for each in self.rules if each.name == rule), None)
        return fields is not None and (field == ITEMS or any(member.name == field for member in fields))

    def classify(self, page: Page) -> None:
        """Put a page that was read into its class, where there is a model, and say how relevant it is for the topic."""
        if page.requisite:
            return
        if self.model is not None:
            said = self.model.classify(page.title, page.text, page.href)
            page.page_class, page.class_probability = said.name, said.probability
        if self.topic is not None:
            page.relevance = self.topic.of_page(page.key, page.title, page.text, page.href)

    def wants(self, url: Url, *, readable: bool = True) -> bool:
        """Whether anything is for the page of a URL; of one that rules cannot read only extractors may be."""
        each: list[Rule | LinkRule | LoadedExtractor] = [*self.extractors]
        if readable:
            each += [*self.rules, *self.links]
        return any(_is_for(reading, url) for reading in each)

    def of(self, page: Page, url: Url, document: Document, steps: int = STEPS) -> Extracted:
        """Of a page that was read, of which text, title and language are known. Never raises."""
        from gregor.worker.extract.page import Parsed, facts_of, is_readable, media_type

        extracted = Extracted()
        rules = [rule for rule in self.rules if _is_for(rule, url)]
        parsed = Parsed(document, facts_of(page), steps)
        if is_readable(media_type(page)):
            if rules:
                self._apply(rules, parsed, url, extracted)
            for link_rule in self.links:
                if _is_for(link_rule, url):
                    _weigh(link_rule, parsed, extracted)
        for extractor in self.extractors:
            if _is_for(extractor, url):
                items, losses = extractor.extract(document)
                _note(extractor, items, losses, extracted)
                self._add(extracted, items, losses, extractor.name, extractor.id, extractor.version)
        return extracted

    def of_stored(self, parsed: "Parsed", url: Url) -> PageItems:
        """What rules, extractors and pipelines make of a stored page. Never raises."""
        from gregor.worker.extract.items import extract
        from gregor.worker.extract.page import is_readable

        result = extract(self.rules, parsed, url) if is_readable(parsed.facts.content_type) else PageItems()
        for extractor in self.extractors:
            if _is_for(extractor, url):
                items, losses = extractor.extract(parsed.document)
                result.matched.append(extractor.name)
                result.items += items
                result.losses += losses
        if self.pipelines:
            result.items = list(self._passed(result.items, result.losses))
        return result

    def kept(self, result: PageItems) -> list[StoredItem]:
        """The items of a stored page as they are kept with it."""
        known = {rule.name: (rule.id, rule.version) for rule in self.rules}
        known |= {extractor.name: (extractor.id, extractor.version) for extractor in self.extractors}
        return [identity.stored(item, *known.get(item.rule, ((), ""))) for item in result.items]

    def _apply(self, rules: Sequence[Rule], parsed: "Parsed", url: Url, extracted: Extracted) -> None:
        from gregor.worker.extract.items import extract

        result = extract(tuple(rules), parsed, url)
        for rule in rules:
            items = [item for item in result.items if item.rule == rule.name]
            losses = [loss for loss in result.losses if loss.rule == rule.name]
            extracted.values[rule.name, ITEMS] = bool(items)
            extracted.required |= {(rule.name, name) for name in (ITEMS, *rule.required())}
            if rule.name in result.matched:
                extracted.values |= dict(_values(rule, items, losses))
            self._add(extracted, items, losses, rule.name, rule.id, rule.version)

    def _add(
        self,
        extracted: Extracted,
        items: Iterable[Item],
        losses: list[Loss],
        name: str,
        id_fields: tuple[str, ...],
        version: str,
    ) -> None:
        """Keep the items of a rule, as far as the page's have room, once they went through the pipelines."""
        lost = any(loss.costs_item for loss in losses)
        room = LARGEST - sum(len(item.fields) for item in extracted.items)
        dropped: list[Loss] = []
        for item in self._passed(items, dropped):
            kept = identity.stored(item, id_fields, version)
            room -= len(kept.fields)
            if room < 0:
                lost = True
                dropped.append(Loss(name, f"the items of the page are longer than {LARGEST >> 20} MiB"))
                break
            extracted.items.append(kept)
        extracted.losses += [*losses, *dropped]
        extracted.asked[name] = lost

    def _passed(self, items: Iterable[Item], losses: list[Loss]) -> Iterator[Item]:
        """What the pipelines leave of items."""
        for item in items:
            passing: Item | None = item
            for pipeline in self.pipelines:
                passing = pipeline.process(passing, losses) if passing is not None else None
            if passing is not None:
                yield passing


NOTHING: Final = Extraction()
"""Of a crawl that extracts nothing."""


def _is_for(each: "Rule | LinkRule | LoadedExtractor", url: Url) -> bool:
    return each.match is None or isinstance(each.match.allows(url), InScope)


def _values(rule: Rule, items: Sequence[Item], losses: Sequence[Loss]) -> Iterator[tuple[tuple[str, str], bool]]:
    """Which fields of a rule had a value on its page. Of an item that was lost for want of one only that is known;
    where a page has no item at all it has no value."""
    missing = {loss.field for loss in losses if loss.field}
    asked_of_all = not any(loss.costs_item for loss in losses)
    for member in rule.fields:
        name = member.name
        if any(has_value(item, name) for item in items):
            yield (rule.name, name), True
        elif items or name in missing or asked_of_all:
            yield (rule.name, name), False


def _note(extractor: "LoadedExtractor", items: Sequence[Item], losses: Sequence[Loss], extracted: Extracted) -> None:
    """Which fields of an extractor had a value: those that it must give, and as many as are kept of what it gave."""
    name = extractor.name
    missing = {loss.field for loss in losses if loss.field}
    item_fields = islice(dict.fromkeys(chain.from_iterable(item.fields for item in items)), FIELDS)
    extracted.values[name, ITEMS] = bool(items)
    extracted.required |= {(name, field_name) for field_name in (ITEMS, *extractor.required)}
    for field_name in dict.fromkeys((*extractor.required, *item_fields)):
        if items or field_name in missing:
            extracted.values[name, field_name] = any(has_value(item, field_name) for item in items)
    if items:
        extracted.open.add(name)


def _weigh(rule: "LinkRule", parsed: "Parsed", extracted: Extracted) -> None:
    from gregor.worker.extract.links import weights

    try:
        for reference, weight in weights(rule, parsed):
            extracted.links.setdefault(reference, weight)
    except RuleFailed as error:
        extracted.losses.append(Loss(rule.name, str(error), costs_item=False, judgement=True))
