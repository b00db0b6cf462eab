"""The first signal asks, the second ends; in a process of its own, as the second cannot be survived."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, os, signal, sys
from gregor.worker.run.signals import stopping

async def main(first, then):
    asked = asyncio.Event()
    with stopping(asked.set, lambda: print("farewell", flush=True), 3):
        os.kill(os.getpid(), first)
        await asked.wait()
        if then:
            os.kill(os.getpid(), then)
            await asyncio.sleep(30)
    print("stopped")

asyncio.run(main(*(getattr(signal, name) if name else 0 for name in sys.argv[1:])))
"""


def ended(first: str, then: str = "") -> tuple[int, str]:
    line = [sys.executable, "-c", PROGRAM, first, then]
    done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout


def test_the_first_signal_asks() -> None:
    assert ended("SIGINT") == (0, "stopped\n")
    assert ended("SIGTERM") == (0, "stopped\n")


def test_the_second_one_ends_at_once() -> None:
    assert ended("SIGTERM", "SIGINT") == (3, "farewell\n")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_crawl_that_waits_for_its_seeds_is_interrupted(sent: signal.Signals, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "gregor.worker.commands.cli", "crawl", "--seeds", str(tmp_path / "pipe")]
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(words, stderr=subprocess.PIPE) as crawl:
        with (tmp_path / "pipe").open("wb"):  # opened by both: it reads now
            crawl.send_signal(sent)
            assert crawl.wait(60) == 3
        assert crawl.stderr is not None
        assert b"Traceback" not in crawl.stderr.read()


LOADING = """
import os, sys
from gregor.worker.commands import cli

def interrupted(name):
    os.kill(os.getpid(), int(sys.argv[1]))
    return load(name)

load, cli.load = cli.load, interrupted
sys.exit(cli.main(sys.argv[2:]))
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", [["crawl", "http://a.test/"], ["pages"]])
def test_a_command_that_is_still_loading_is_interrupted(words: list[str], sent: signal.Signals, tmp_path: Path) -> None:
    line = [sys.executable, "-c", LOADING, str(sent.value), *words, "--data", str(tmp_path / "data")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")


SWALLOWED = """
import asyncio, os, signal, sys
from gregor.worker.run.signals import interrupting, stopping

async def main():
    with stopping(lambda: None, lambda: None, 3):
        print("crawls on")

interrupting()
try:
    os.kill(os.getpid(), int(sys.argv[1]))
except KeyboardInterrupt:
    pass  # as the interpreter does in callbacks of its own
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_that_was_lost_while_modules_were_loaded_is_heard(sent: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED, str(sent.value)], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout == "heard\n", done.stderr


ENDED = """
import os, sys
from gregor.worker.commands import cli
from gregor.start import main

class Late:
    def __del__(self, kill=os.kill, own=os.getpid(), number=int(sys.argv[1])):
        kill(own, number)

if sys.argv[2] == "while modules are unloaded":
    sys.late = Late()
cli.main = lambda: 7
code = main()
if sys.argv[2] == "while threads are waited for":
    os.kill(os.getpid(), int(sys.argv[1]))
sys.exit(code)
"""


@pytest.mark.parametrize("moment", ["while threads are waited for", "while modules are unloaded"])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_behind_the_end_leaves_the_exit_code(sent: signal.Signals, moment: str) -> None:
    line = [sys.executable, "-c", ENDED, str(sent.value), moment]
    done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (7, "")
