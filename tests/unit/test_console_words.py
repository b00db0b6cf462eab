"""The console has plain words for whatever it names by a word of the code."""

import re
from pathlib import Path
from typing import get_args

from gregor.worker.api import console
from gregor.worker.borders.transport import FailureKind

ROOT = Path(__file__).parents[2]
OF_OUTCOMES = re.compile(r"(?:Broken|Failed)\(\s*\"([a-z_]+)\"|cause=\"([a-z_]+)\"")


def test_every_cause_of_a_failure_is_explained() -> None:
    sources = [path.read_text() for path in (ROOT / "worker").rglob("*.py") if "adapters/cluster" not in str(path)]
    written = {name for text in sources for match in OF_OUTCOMES.findall(text) for name in match if name}
    causes = re.search(r"const CAUSES = \{(.*?)\};", console.page(), re.DOTALL)
    assert causes is not None
    explained = set(re.findall(r"^  (\w+):", causes[1], re.MULTILINE))
    assert {"dns", "status", "credentials"} <= written
    assert {*written, *get_args(FailureKind)} <= explained
