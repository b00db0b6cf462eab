"""The live view: rates, the line of a pipe, the table of a terminal."""

import asyncio
import io
import itertools
from collections import Counter

import pytest

from gregor.worker.config.settings import Config
from gregor.worker.inspect.live import Progress, line, view, watch
from gregor.worker.inspect.rates import Meter, Rates
from gregor.worker.observe.stats import Stats

STATS = Stats(
    pages=12,
    pages_200=10,
    bytes=4096,
    queued=5,
    running=2,
    hosts_waiting=3,
    host_states={"active": 2, "waiting": 3, "backing_off": 4, "robots": 1, "blocked": 2, "idle": 9},
    errors=Counter({"connect\x1b[31m": 4, "timeout": 1}),
    limiting="politeness",
    before={"pages_200": 5},
)


def test_rates_are_those_of_the_last_seconds() -> None:
    meter, stats = Meter(), Stats()
    assert meter.sample(0.0, stats) == Rates(0.0, 0.0, 0.0)
    stats.pages, stats.requests, stats.bytes = 20, 40, 1000
    assert meter.sample(2.0, stats) == Rates(10.0, 20.0, 500.0)
    for second in range(3, 40):
        stats.pages += 1
        rates = meter.sample(float(second), stats)
    assert rates.pages == 1.0
    assert rates.requests == 0.0


def test_the_line() -> None:
    text = line(STATS, Rates(1.5, 2.0, 2048.0), 75.0, Config())
    assert text == (
        "1 min 15 s: 12 pages (1.5/s, 2.0 KiB/s), 2.0 requests/s, 3 URLs waiting (about 2.5 s to the end), "
        "hosts 2 active 3 waiting 4 backing off 3 blocked, 5 errors, limited by politeness"
    )
    ends = line(STATS, Rates(1.0, 0.1, 0.0), 75.0, Config(max_pages=45, max_time=100.0))
    assert "(about 25 s to the end)" in ends
    assert "(about 30 s to the end)" in line(STATS, Rates(1.0, 0.1, 0.0), 75.0, Config(max_pages=45))
    assert "to the end" not in line(STATS, Rates(0.0, 0.0, 0.0), 75.0, Config())


def test_the_table() -> None:
    text = "\n".join(view(STATS, Rates(1.5, 2.0, 2048.0), 75.0, Config(max_pages=20), 100))
    assert "15 of 20 with status 200" in text
    assert "2 active, 3 waiting, 4 backing off, 3 blocked" in text
    assert "connect\\x1b[31m 4, timeout 1" in text
    assert "politeness" in text
    assert len(text.splitlines()) == 7


@pytest.mark.parametrize("columns", [40, 80])
def test_the_table_stays_within_its_columns(columns: int) -> None:
    lines = view(STATS, Rates(1.5, 2.0, 2048.0), 75.0, Config(max_pages=20), columns)
    plain = [line.replace("\x1b[2m", "").replace("\x1b[22m", "") for line in lines]
    assert max(map(len, plain)) <= columns
    assert "hosts       2 active, 3 waiting, 4" in "\n".join(plain)
    values = " ".join(line[12:] for line in plain)
    assert "3 URLs waiting in memory (about 2.5 s to the end) 2 active, 3 waiting, 4 backing off, 3 blocked" in values


class Screen(io.StringIO):
    """Tells when something was written."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal
        self.written = asyncio.Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        if "12" in text:
            self.written.set()
        return super().write(text)


@pytest.mark.parametrize("terminal", [False, True])
def test_it_shows_until_it_is_cancelled(terminal: bool) -> None:
    async def watched() -> None:
        screen = Screen(terminal)
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(watch(STATS, Config(progress_interval=0.01), loop.time, screen, lambda: None))
        await screen.written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert "3 blocked" in screen.getvalue()

    asyncio.run(asyncio.wait_for(watched(), 10))


def passing(out: io.StringIO, total: int | None = None) -> list[str]:
    """What is written over 50 items that take a second each; after each item so far."""
    clock, written = itertools.count(100.0), []
    progress = Progress(Config(progress_interval=20.0), lambda: next(clock), out)
    for number, item in enumerate(progress.over("publishing seeds", range(50), total)):
        assert item == number
        written.append(out.getvalue())
    return [*written, out.getvalue()]


def test_a_long_loop_tells_in_a_pipe_now_and_then() -> None:
    written = passing(Screen(terminal=False), 50)
    assert written[18] == ""
    assert written[19] == "20 s: publishing seeds, 19 of 50 (1/s)\n"
    assert written[38] == written[19]
    assert written[-1].splitlines() == [written[19].strip(), "40 s: publishing seeds, 39 of 50 (1/s)"]


def test_a_long_loop_is_drawn_on_a_terminal_and_leaves_nothing() -> None:
    written = passing(Screen(terminal=True))
    assert written[0] == "\r1.0 s: publishing seeds, 0 (0/s)\x1b[K"
    assert "\n" not in written[-1]
    assert written[-1].endswith("publishing seeds, 49 (1/s)\x1b[K\r\x1b[K")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_short_loop_tells_nothing(terminal: bool) -> None:
    out = Screen(terminal)
    assert list(Progress(Config(), lambda: 7.0, out).over("checking seeds", "abc")) == ["a", "b", "c"]
    assert out.getvalue() == ""


def test_a_loop_goes_on_when_nobody_listens() -> None:
    class Gone(Screen):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    assert len(passing(Gone(terminal=True))) == 51
