"""Every command and every example of docs/tutorials, and the first project of the README, as they stand there."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
SERVE = "python -m gregor.worker.demo serve demo.hosts &"


def script(text: str) -> str:
    """The commands of a page, its examples in Python among them, as a shell runs them; a command that fails ends it."""
    lines = ["set -e"]
    for command, example in re.findall(r"^    (\S[^\n]*)$|^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines += [f"python - <<'END'\n{example}END"] if example else [command]
        lines += ["until [ -e demo.hosts ]; do sleep 0.1; done"] if command == SERVE else []
    return "\n".join(lines)


def run(text: str, folder: Path) -> str:
    """What a shell prints that runs it in a folder."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GREGOR_")} | {"PATH": path}
    output = folder.parent / f"{folder.name}.output"
    with output.open("wb") as file:
        shell = subprocess.Popen(
            ["bash", "-c", text], cwd=folder, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        try:
            code = shell.wait(timeout=240)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)  # what it left running: the web
    said = output.read_text()
    assert code == 0, said
    return said


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_every_command_of_a_tutorial_works(tutorial: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    run(script(tutorial.read_text()), tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    made = {
        "archive-a-site": {"site-00001.warc.gz", "site.cdxj", "site.wacz", "again", "news.warc.gz"},
        "dataset": {"pages", "links.parquet", "pages.jsonl", "pages.cursor"},
        "job-postings": {"jobs.csv", "jobs.jsonl"},
        "watch-for-changes": {"changes.jsonl", "changes.cursor"},
    }
    assert made[tutorial.stem] <= left
    if tutorial.stem == "job-postings":
        assert {"Pilot", "Deckhand", "Guide"} <= set(
            re.findall(r"Pilot|Deckhand|Guide", (tmp_path / "jobs.csv").read_text())
        )


def test_the_first_project_of_the_readme_is_nine_lines_and_works(tmp_path: Path) -> None:
    rules, commands = re.findall(
        r"### A first project in nine lines\n\n```toml\n# books.toml\n(.*?)```\n\n```sh\n(.*?)```",
        (ROOT / "README.md").read_text(),
        re.DOTALL,
    )[0]
    assert len((rules + commands).splitlines()) == 9
    (tmp_path / "books.toml").write_text(rules)
    text = (ROOT / "docs" / "tutorials" / "dataset.md").read_text()
    begin = "\n".join(f"    {line}" for line in re.findall(r"^    (python -m .*|export .*)$", text, re.MULTILINE))
    run(f"{script(begin)}\n{commands}", tmp_path)
    assert (
        len((tmp_path / "books.csv").read_text().splitlines())
        == len((tmp_path / "books.jsonl").read_text().splitlines()) + 1
    )
    assert "Salt" in (tmp_path / "books.csv").read_text() or len((tmp_path / "books.csv").read_text()) > 100
