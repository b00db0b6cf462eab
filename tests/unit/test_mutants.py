"""The list of single faults is in order: every line can be tried, and what must be covered is."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.listed import ROOT, Mutant, WrongLine, chosen, read

MUTANTS = read()
RULES = [f"R{number}" for number in range(1, 28)]
SEQUENCES = [f"S{number}" for number in range(1, 22)]
ADAPTERS = ["log", "seen", "store", "coordinator"]
COUNTS = Counter(rule for mutant in MUTANTS for rule in set(mutant.rules))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"line {mutant.number}")
def test_an_edit_applies_once_and_gives_python(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text("utf-8")
    mutated = mutant.mutated(text)
    assert mutated != text
    ast.parse(mutated)


def test_the_tests_of_each_line_are_there() -> None:
    for mutant in MUTANTS:
        assert mutant.tests, f"line {mutant.number}"
        for test in mutant.tests:
            path, _, name = test.partition("::")
            assert (ROOT / path).exists(), f"line {mutant.number}: no {path}"
            assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8"), f"line {mutant.number}: no {test}"


def test_no_fault_is_listed_twice() -> None:
    faults = Counter((mutant.file, mutant.before, mutant.after) for mutant in MUTANTS)
    assert not [fault for fault, times in faults.items() if times > 1]


@pytest.mark.parametrize("rule", [*RULES, *SEQUENCES])
def test_every_rule_and_sequence_of_the_protocol_has_two_faults(rule: str) -> None:
    assert COUNTS[rule] >= 2


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_adapter_of_the_cluster_has_five_faults(adapter: str) -> None:
    assert COUNTS[adapter] >= 5


def test_ten_commits_try_all_of_them() -> None:
    tenths = [chosen(MUTANTS, number) for number in range(10)]
    assert sorted(mutant.number for tenth in tenths for mutant in tenth) == [mutant.number for mutant in MUTANTS]
    assert chosen(MUTANTS, None) == MUTANTS


@pytest.mark.parametrize(
    "line", ["R1 | file.py | a => b", "R1 | file.py | a = b | tests", "R1 | file.py | a => b | tests | more"]
)
def test_a_line_that_is_none_is_refused(line: str, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"# of faults\n\n{line}\n")
    with pytest.raises(WrongLine, match="line 3"):
        read(path)


@pytest.mark.parametrize("text", ["x = 1\n", "x = 2\ny = 2\n"])
def test_an_edit_that_does_not_apply_once_is_refused(text: str) -> None:
    with pytest.raises(WrongLine, match="line 4"):
        Mutant(4, ("R1",), "file.py", "= 2", "= 3", ("tests",)).mutated(text)


def test_a_text_may_be_taken_out_and_begin_with_blanks(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("R1 | file.py |     b()\\n => | tests/a.py tests/b.py\n")
    (mutant,) = read(path)
    assert mutant.mutated("if a:\n    b()\n    c()\n") == "if a:\n    c()\n"
    assert mutant.tests == ("tests/a.py", "tests/b.py")
