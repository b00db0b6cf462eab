"""`gregor about`: the page for webmasters, made of the settings: who crawls, why, how often, how to be left alone."""

import argparse
import sys
from pathlib import Path

from gregor.worker.base.errors import BadInput, complain, why
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, settings
from gregor.worker.operate.about import contact, page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where it goes, and settings."""
    parser.add_argument("-o", "--output", metavar="FILE", help="a file; default: standard output")
    add_settings(parser, ())


def run(arguments: argparse.Namespace) -> int:
    """Write it."""
    config = settings(arguments).config
    for setting, value in (
        ("about_operator", config.about_operator),
        ("about_purpose", config.about_purpose),
        ("about_contact", contact(config)),
    ):
        if not value:
            complain(f"{setting} is not set: a webmaster will want to know")
    if arguments.output:
        try:
            Path(arguments.output).write_text(page(config), "utf-8")
        except OSError as error:
            raise BadInput(f"cannot write {one_line(arguments.output)}: {why(error)}") from None
    else:
        sys.stdout.write(page(config))
    return FINISHED
