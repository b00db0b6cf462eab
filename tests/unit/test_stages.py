"""The stages of .ci/run: together they run every test, and none twice."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_is_in_one_stage() -> None:
    stages = re.findall(r"make -s test (?:JOBS=\d+ )?TESTS=(\"[^\"]*\"|\S+)", (ROOT / ".ci" / "run").read_text())
    (rest,) = [stage.strip('"').split() for stage in stages if "--ignore" in stage]
    assert rest[0] == "tests"
    left_out = {word.removeprefix("--ignore=") for word in rest[1:]}
    alone = [stage for stage in stages if "--ignore" not in stage]
    assert sorted(alone) == sorted(left_out)
    assert all((ROOT / folder).is_dir() and folder.count("/") == 1 for folder in alone)


def test_every_folder_of_tests_says_what_it_has() -> None:
    folders = {file.parent for file in (ROOT / "tests").glob("*/test_*.py")}
    documented = (ROOT / "docs" / "architecture.md").read_text()
    assert not [folder.name for folder in folders if f"`tests/{folder.name}" not in documented]
