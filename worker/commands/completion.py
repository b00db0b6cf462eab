"""`gregor completion bash|zsh|tcsh`: a completion script, e.g. `eval "$(gregor completion bash)"`."""

import argparse

from gregor.worker.commands import FINISHED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    from gregor.worker import cli

    print(shtab.complete(cli.parser(), arguments.shell))
    return FINISHED
