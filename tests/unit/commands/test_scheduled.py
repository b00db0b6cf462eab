"""`gregor crawl --every`: what ends it, and what does not."""

import argparse
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gregor.worker.base.errors import Occupied
from gregor.worker.commands import FINISHED, INTERRUPTED, cli, scheduled
from gregor.worker.commands.scheduled import Round

NOW = 1_800_000_000.0


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run, each time by the next of these: an exit code, an error, or None for one that is asked to stop at its end."""
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(scheduled, "_LOOK", 0.01)
    monkeypatch.setattr("time.time", lambda: NOW)

    async def waited(*_: object) -> bool:
        return False

    monkeypatch.setattr(scheduled, "_wait", waited)

    def all_runs(*ends: int | Exception | None) -> int:
        left = iter(ends)

        def once(arguments: argparse.Namespace) -> int:
            end = next(left)
            arguments.asked_to_stop = end is None
            if isinstance(end, Exception):
                raise end
            return FINISHED if end is None else end

        words = ["crawl", "--every", "1h", "--data", str(tmp_path / "data")]
        code = scheduled.run(cli.parser("crawl").parse_args(words), once)
        assert next(left, "none") == "none"
        return code

    return all_runs


def test_a_signal_ends_it_also_when_the_run_was_ending(run: Callable[..., int]) -> None:
    assert run(FINISHED, None) == INTERRUPTED
    assert run(FINISHED, FINISHED, INTERRUPTED) == INTERRUPTED


def test_a_folder_that_another_process_has_is_waited_for(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Occupied("data is in use"), FINISHED, INTERRUPTED) == INTERRUPTED
    assert "data is in use; this run waits for it" in capsys.readouterr().err


def test_a_clock_that_was_ahead_delays_nothing(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data" / "rounds.json").write_bytes(msgspec.json.encode(Round(NOW + 1e8, asked=True)))
    assert run(FINISHED, INTERRUPTED) == INTERRUPTED
    assert "due at 2027-01-15T09:00:00Z" in capsys.readouterr().err


def test_what_a_budget_left_is_gone_on_with_and_nothing_is_asked_anew(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    async def everything(*_: object) -> None:
        asked.append("all")

    monkeypatch.setattr("gregor.worker.commands.recrawl.everything", everything)
    for left, times in ((True, 0), (False, 1)):
        last = Round(NOW - 7200.0, asked=True, left=left)
        (tmp_path / "data" / "rounds.json").write_bytes(msgspec.json.encode(last))
        assert run(INTERRUPTED) == INTERRUPTED
        assert len(asked) == times
