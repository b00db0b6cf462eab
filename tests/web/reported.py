"""Plays reported cases against the whole crawler and judges them: the runner of cases/README.md.

`python -m tests.web.reported FILE [--only ID…] [--jobs N]` prints each failing id with what was expected and seen, each
unchecked case as unchecked, ends with `N passed, N failed` and writes build/reported.json. play.py lies beside FILE.

The player needs ports 80 and 443. Each run gets a network namespace of its own where that is possible (so that several
run side by side), else the machine's, one after another.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from tests.web import player
from tests.web.case_run import limit

NAMESPACES = (("unshare", "-n"), ("unshare", "-rn"))
MARGIN_SECONDS = 120.0
"""How much longer than the crawler a run may take: certificates, starting, reading."""

Case = dict[str, Any]
Result = Literal["passed", "failed", "unchecked"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a case: assertions that failed with what was seen, or why it can't be checked."""

    id: str
    result: Result
    failures: tuple[dict[str, Any], ...] = ()
    reason: str = ""


def read(file: Path) -> list[Case]:
    """The cases of a file. Lines end at `\\n` only: a case may hold other line ends of Unicode."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]


def isolation() -> tuple[str, ...]:
    """The command that gives a process its own network, () if there is none. Raises SystemExit without any way."""
    for command in NAMESPACES:
        try:
            if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
                return command
        except FileNotFoundError:
            break
    try:
        with socket.create_server((player.ADDRESS, 80)):
            return ()
    except OSError as error:
        raise SystemExit(f"reported: needs ports 80 and 443 of {player.ADDRESS}, or unshare: {error}") from error


def judge(case: Case, play: Path, prefix: tuple[str, ...]) -> Judged:
    """Runs a case, all its runs, each in a fresh folder."""
    if "check" not in case:
        return Judged(case["id"], "unchecked", reason=case.get("unchecked", ""))
    failures: list[dict[str, Any]] = []
    for number in range(1 + len(case.get("again", ()))):
        with tempfile.TemporaryDirectory(prefix=f"{case['id']}-") as folder:
            failures += _run(case, number, play, prefix, Path(folder))
    return Judged(case["id"], "failed" if failures else "passed", tuple(failures))


def _run(case: Case, number: int, play: Path, prefix: tuple[str, ...], folder: Path) -> list[dict[str, Any]]:
    (folder / "case.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    line = [*prefix, sys.executable, "-m", "tests.web.case_run", str(play), str(folder / "case.jsonl"), str(folder)]
    line += ["--again", str(number), *(["--own-network"] if prefix else [])]
    spec = [case, *case.get("again", ())][number]
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, check=False, timeout=limit(spec["check"]) + MARGIN_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        return [{"expected": "a run that ends", "seen": str(error)}]
    if done.returncode:
        return [{"expected": "a run that can be judged", "seen": done.stderr[-2000:]}]
    failures: list[dict[str, Any]] = json.loads(done.stdout)["failures"]
    return failures


def run(file: Path, only: Sequence[str] = (), jobs: int = 0) -> Iterator[Judged]:
    """Judges the cases of a file, as they come; `jobs` at once (0: two for each processor)."""
    cases = [case for case in read(file) if not only or case["id"] in only]
    if unknown := set(only) - {case["id"] for case in cases}:
        raise SystemExit(f"reported: {file} has no {', '.join(sorted(unknown))}")
    prefix = isolation()
    workers = (jobs or 2 * (os.cpu_count() or 1)) if prefix else 1
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda case: judge(case, file.with_name("play.py"), prefix), cases)


def main() -> int:
    parser = argparse.ArgumentParser(description="Play reported cases against the crawler.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", nargs="*", default=[], metavar="ID")
    parser.add_argument("--jobs", type=int, default=0, help="runs at once, if each can have its own network")
    options = parser.parse_args()
    if not options.file.is_file():
        parser.error(f"{options.file} is no file: name one of reported cases")
    judged = []
    for one in run(options.file.resolve(), options.only, options.jobs):
        judged.append(one)
        if one.result != "passed":
            print(f"{one.id} {one.result}{': ' if one.reason else ''}{one.reason}", flush=True)
        for failure in one.failures:
            print(f"    expected {json.dumps(failure['expected'])}\n    seen     {failure['seen']}", flush=True)
    passed, failed = (sum(one.result == result for one in judged) for result in ("passed", "failed"))
    build = Path("build")
    build.mkdir(exist_ok=True)
    summary = {"passed": passed, "failed": failed, "cases": [asdict(one) for one in judged]}
    (build / "reported.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
