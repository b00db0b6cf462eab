"""The list of faults, a line each: what it breaks | file | text => other text | tests that must fail."""

from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
LIST: Final = Path(__file__).with_name("list.txt")


class WrongLine(Exception):
    """A line of the list that cannot be read, or whose edit does not apply; the message has its number."""


class Mutant(NamedTuple):
    """A fault: the rules that it breaks, the file, its text before and after, the tests that must see it."""

    number: int
    rules: tuple[str, ...]
    file: str
    before: str
    after: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        """For people: where it stands in the list and what it does."""
        return (
            f"line {self.number}: {','.join(self.rules)} {self.file}: {self.before.strip()!r} => {self.after.strip()!r}"
        )

    def mutated(self, text: str) -> str:
        """The file's text with the fault. Raises `WrongLine` unless the edit applies exactly once."""
        if (times := text.count(self.before)) != 1:
            raise WrongLine(f"line {self.number}: {self.before!r} stands {times} times in {self.file}")
        return text.replace(self.before, self.after)


def read(path: Path = LIST) -> list[Mutant]:
    """All faults. Raises `WrongLine`."""
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    return [_mutant(number, line) for number, line in lines if line.strip() and not line.startswith("#")]


def _mutant(number: int, line: str) -> Mutant:
    fields = line.split(" | ")
    if len(fields) != 4 or " => " not in f"{fields[2]} ":
        raise WrongLine(f"line {number}: not RULES | FILE | TEXT => OTHER TEXT | TESTS")
    before, _, after = f"{fields[2]} ".partition(" => ")
    edit = [part.rstrip(" ").replace("\\n", "\n") for part in (before, after)]
    return Mutant(number, tuple(fields[0].split(",")), fields[1].strip(), edit[0], edit[1], tuple(fields[3].split()))


def chosen(mutants: list[Mutant], tenth: int | None) -> list[Mutant]:
    """A tenth of the list, spread over it, by any number; or all of it."""
    return mutants if tenth is None else mutants[tenth % 10 :: 10]
