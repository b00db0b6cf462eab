"""`gregor classify`: a model of labelled pages, how good it is, and what it says of what is stored."""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, get_args

import msgspec

from gregor.schemas.messages import State
from gregor.worker.base.amounts import count
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.extras import named_if_missing
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_selection, add_settings, run_reading, selection, settings
from gregor.worker.commands.output import output
from gregor.worker.config.settings import Config

_MOST_FOLDS: Final = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is done, each with its own words."""
    parts = parser.add_subparsers(dest="part", required=True, metavar="train|evaluate|apply")
    labels = "CSV or lines of JSON, each with a url of the crawl or a file, and a label (docs/topics.md)"
    folds = "in how many parts pages are divided, each judged by what the others teach (default: %(default)s)"
    add = partial(parts.add_parser, allow_abbrev=False)
    train = add("train", help="make a model of labelled pages", description="Make a model of labelled pages.")
    train.add_argument("labels", metavar="LABELS", help=labels)
    train.add_argument("--output", "-o", required=True, metavar="MODEL", help="where the model goes")
    evaluate = add("evaluate", help="say how good a model of these pages is", description="Cross-validate.")
    evaluate.add_argument("labels", metavar="LABELS", help=labels)
    evaluate.add_argument("--folds", type=_folds, default=5, metavar="N", help=folds)
    evaluate.add_argument("--json", action="store_true", help="one JSON object")
    text = "say of stored pages which class they are of; nothing is fetched"
    apply = add("apply", help=text, description=f"{text[:1].upper()}{text[1:]}.")
    apply.add_argument("model", metavar="MODEL", help="what `gregor classify train` made")
    apply.add_argument("--output", "-o", default="-", metavar="FILE", help="lines of JSON; default: standard output")
    apply.add_argument("--store", action="store_true", help="put the classes into the store, with their pages")
    add_selection(apply)
    apply.add_argument("--state", choices=get_args(State), help="only of URLs in this state now")
    for part in (train, evaluate, apply):
        add_settings(part)


def _folds(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 2 <= int(text[:3]) <= _MOST_FOLDS):
        raise argparse.ArgumentTypeError(f"expected a number from 2 to {_MOST_FOLDS}, not {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    parts: dict[str, Callable[[argparse.Namespace], int]] = {"train": _train, "evaluate": _evaluate, "apply": _apply}
    return parts[arguments.part](arguments)


def _labelled(arguments: argparse.Namespace) -> Any:
    """The labelled pages that can be read; those that the crawl does not have are told."""
    from gregor.worker.compose.labelled import labelled_pages, read_labels

    places = read_labels(arguments.labels)  # what is wrong there is said before anything is opened
    labelled = asyncio.run(labelled_pages(places, settings(arguments).config))
    if labelled.missing:
        first, there = one_line(labelled.missing[0], 200), len(labelled.missing)
        complain(f"{there} labelled {'URL is' if there == 1 else 'URLs are'} not stored and left out, first {first}")
    return labelled.pages


def _train(arguments: argparse.Namespace) -> int:
    with named_if_missing("topic"):
        from gregor.worker.topic import model_file
        from gregor.worker.topic.training import train

    if arguments.output == "-":
        raise BadInput("a model is no text: name a file with --output")
    model = train(_labelled(arguments))
    with output(arguments.output) as file:
        file.write(model_file.encode(model))
    learnt = ", ".join(f"{name} {pages}" for name, pages in zip(model.classes, model.examples, strict=True))
    complain(f"a model of {count(sum(model.examples), 'page')} is in {one_line(arguments.output)}: {learnt}", "info")
    return FINISHED


def _evaluate(arguments: argparse.Namespace) -> int:
    with named_if_missing("topic"):
        from gregor.worker.topic.evaluation import evaluation, lines
        from gregor.worker.topic.training import cross_validate

    pages = _labelled(arguments)
    result = evaluation(cross_validate(pages, arguments.folds), arguments.folds)
    if arguments.json:
        print(msgspec.json.encode(result).decode())
    else:
        print("\n".join(lines(result)))
    return FINISHED


def _apply(arguments: argparse.Namespace) -> int:
    from gregor.worker.compose.extraction import read_model

    model = read_model(arguments.model)
    config = settings(arguments).config
    if not arguments.store:
        with output(arguments.output) as file:
            return run_reading(_lines(arguments, config, model, file))
    if arguments.output != "-":
        raise BadInput("with --store the classes go into the store: leave --output out")
    return run_reading(_stored(arguments, config, model))


async def _lines(arguments: argparse.Namespace, config: Config, model: Any, file: Any) -> int:
    from gregor.worker.commands.classifying import classified
    from gregor.worker.commands.common import reading

    counts: Counter[str] = Counter()
    async with reading(config) as crawl:
        async for page, said in classified(crawl.reader, selection(arguments), model):
            counts[said.name] += 1
            record = {"url": page.href, "key": page.key, "version": page.visit, "class": said.name}
            record |= {"probability": said.probability, "probabilities": said.probabilities}
            file.write(msgspec.json.encode(record) + b"\n")
        _tell(counts)
        return crawl.code


async def _stored(arguments: argparse.Namespace, config: Config, model: Any) -> int:
    from gregor.worker.commands.classifying import stored

    counts, code = await stored(config, selection(arguments), model)
    _tell(counts)
    return code


def _tell(counts: Mapping[str, int]) -> None:
    sys.stdout.flush()
    each = ", ".join(f"{name} {pages}" for name, pages in sorted(counts.items()))
    complain(f"{count(sum(counts.values()), 'page')}{f': {each}' if each else ''}", "info")
