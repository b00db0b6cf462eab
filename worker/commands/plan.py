"""`gregor plan`: what a crawl of so many pages in so many days needs and costs, and the values that make it so."""

import argparse
import math
import sys
from pathlib import Path

import msgspec

from gregor.worker.base.errors import BadInput, complain, why
from gregor.worker.base.replaced import replaced
from gregor.worker.capacity import deploy_values, inputs
from gregor.worker.capacity import text as plan_text
from gregor.worker.capacity.model import plan
from gregor.worker.capacity.types import Plan, Wish
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import Flag, add_settings, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record

MOST_PAGES = 1e12
LEAST_DAYS, MOST_DAYS = 0.05, 3650.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The wish, where its figures are from, where the values go."""
    parser.add_argument("--pages", required=True, metavar="N", help="pages to store, such as 1e9")
    parser.add_argument("--days", required=True, metavar="DAYS", help="in how many days")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--bench", metavar="FILE", help="what `make bench` measured here: build/bench.json")
    text = "another cost of a page, as docs/capacity.md names it; may be repeated"
    parser.add_argument("--assume", metavar="NAME=VALUE", action="append", default=[], help=text)
    text = f"write {deploy_values.TERRAFORM} for terraform/examples/cluster and {deploy_values.HELM} for helm/gregor"
    parser.add_argument("--write", metavar="DIR", help=text)
    add_settings(parser, (Flag("--delay", "delay", "SECONDS"),))


def run(arguments: argparse.Namespace) -> int:
    """Compute it and say it."""
    wish = wished(arguments.pages, arguments.days, settings(arguments).config)
    read = inputs.read(arguments.bench, arguments.assume)
    planned = plan(wish, read.costs, read.prices)
    if arguments.write is not None:
        _write(Path(arguments.write), planned, read)
    if arguments.json:
        sys.stdout.buffer.write(url_record.encode(plan_text.document(planned, read)) + b"\n")
    else:
        print("\n".join(plan_text.text(planned, read)))
    return FINISHED


def wished(pages: str, days: str, config: Config) -> Wish:
    """What the words ask for. Raises BadInput for what is no number, nothing, or beyond reason."""
    return Wish(
        _number("--pages", pages, 1, MOST_PAGES),
        _number("--days", days, LEAST_DAYS, MOST_DAYS),
        config.delay,
        config.kafka_replication,
        config.cassandra_replication,
    )


def _number(name: str, text: str, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise BadInput(f"{name} must be a number from {least:g} to {most:g}, not {text!r}")
    return number


def _write(folder: Path, planned: Plan, read: inputs.Inputs) -> None:
    """Both files; JSON is YAML too."""
    made = {
        deploy_values.TERRAFORM: deploy_values.terraform(planned),
        deploy_values.HELM: deploy_values.helm(planned, read.costs.worker_memory),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in made.items():
            with replaced(folder / name) as file:
                file.write(msgspec.json.format(msgspec.json.encode(values), indent=2) + b"\n")
            complain(f"wrote {folder / name}")
    except OSError as error:
        raise BadInput(f"--write: {folder}: {why(error)}") from error
