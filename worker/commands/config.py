"""`gregor config show`: every setting in force, as TOML, and where it comes from; secrets masked."""

import argparse
import sys

import msgspec

from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, settings
from gregor.worker.commands.crawl import FLAGS
from gregor.worker.config.docs import toml
from gregor.worker.config.sources import shown

_COLUMN = 44


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`show`, and the flags of settings."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="show")
    show = actions.add_parser("show", help=parser.description, allow_abbrev=False)
    show.add_argument("--json", action="store_true", help="one JSON object: name to value and source")
    add_settings(show, FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Print them."""
    in_force = settings(arguments)
    values = shown(in_force.config)
    if arguments.json:
        table = {
            name: {"value": value, "source": in_force.sources.get(name, "default")} for name, value in values.items()
        }
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(table)).decode() + "\n")
        return FINISHED
    tables = values.pop("hosts")
    for name, value in values.items():
        line = f"{name} = {toml(value)}"
        print(f"{line:{_COLUMN}}  # {one_line(in_force.sources.get(name, 'default'))}")
    for table in tables:
        print(f"\n{'[[host]]':{_COLUMN}}  # {one_line(in_force.sources['hosts'])}")
        for name, value in table.items():
            if value not in (None, "", [], {}):
                print(f"{name} = {toml(value)}")
    return FINISHED
