"""Every command of the tutorial, as it stands there, in a folder of its own."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMANDS = re.findall(r"^    ((?:gregor|make) .*)$", (ROOT / "docs" / "tutorial.md").read_text(), re.MULTILINE)


def test_every_command_of_the_tutorial_works(tmp_path: Path) -> None:
    assert COMMANDS[0] == "make crawl"
    assert "$(PY) -m gregor.worker.demo)" in (ROOT / "Makefile").read_text(), "what that runs"
    told = {}
    for command in COMMANDS:
        words = ["-m", "gregor.worker.demo"] if command == "make crawl" else ["-m", *shlex.split(command)]
        ran = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == 0, (command, ran.stderr)
        told[command] = ran.stdout
    assert "robots.txt line 2: Disallow: /private/" in told[COMMANDS[7]]
    assert "no violations" in told["gregor audit --data build/demo"]
    assert (tmp_path / "pages.jsonl").stat().st_size > 10_000
