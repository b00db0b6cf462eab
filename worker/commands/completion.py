"""`gregor completion bash|zsh`: a completion script, e.g. `eval "$(gregor completion bash)"`."""

import argparse
from typing import Any

from gregor.worker.commands import FINISHED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    from gregor.worker.commands import cli

    top = cli.parser()
    _mark(top, {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY})
    print(shtab.complete(top, arguments.shell))
    return FINISHED


def _mark(parser: argparse.ArgumentParser, completions: dict[str, Any]) -> None:
    """Say which arguments are files and folders; their metavar does."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                _mark(sub, completions)
        elif action.metavar in completions:
            action.complete = completions[action.metavar]  # type: ignore[attr-defined]
