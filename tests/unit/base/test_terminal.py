"""Lines at the foot of a terminal, by what a screen shows of them in the end."""

import io
import os
import re
import sys
import threading
from collections.abc import Iterator

import pytest

from gregor.worker.base.errors import complain, speak
from gregor.worker.base.terminal import Panel, panel, redraws

COLUMNS = 30
_PIECE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\r\n])|(.)")


class Screen(io.StringIO):
    """A terminal that scrolls without end."""

    def isatty(self) -> bool:
        return True

    @property
    def cursor(self) -> bool:
        return self.getvalue().rfind("\x1b[?25h") > self.getvalue().rfind("\x1b[?25l")

    def shown(self) -> list[str]:
        """The lines as a person sees them."""
        lines, row, column, wraps = [""], 0, 0, True
        for code, name, control, char in _PIECE.findall(self.getvalue()):
            if name == "A":
                row -= int(code)
            elif name == "K":
                lines[row] = lines[row][:column]
            elif name == "J":
                lines[row:] = [lines[row][:column]]
            elif code == "?7":
                wraps = name == "h"
            elif control == "\r":
                column = 0
            elif control == "\n" or (char and column == COLUMNS and wraps):
                row, column = row + 1, 0
                lines += [""] * (row == len(lines))
            if char and column < COLUMNS:
                lines[row] = lines[row][:column].ljust(column) + char + lines[row][column + 1 :]
                column += 1
        return lines


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(Panel, "size", os.terminal_size((COLUMNS, 5)))
    yield
    speak("text")


def test_only_the_last_lines_drawn_are_there() -> None:
    screen = Screen()
    with panel(screen) as shown:
        shown.draw(["one is long", "two", "three"])
        assert not screen.cursor
        shown.draw(["1", "2"])
        shown.draw(["uno", "dos", "tres"])
        assert screen.shown() == ["uno", "dos", "tres"]
        shown.draw(["one"])
    assert screen.shown() == ["one", ""]
    assert screen.cursor


def test_what_others_say_meanwhile_stays_above() -> None:
    screen = Screen()
    with panel(screen) as shown:
        shown.draw(["a", "b"])
        complain("no more room")
        print("half a", end="", file=sys.stderr)
        assert screen.shown() == ["gregor: no more room", "a", "b"]
        print(" line", file=sys.stderr)
        shown.draw(["c", "d"])
        print("the rest", end="", file=sys.stderr)
    assert screen.shown() == ["gregor: no more room", "half a line", "the rest", "c", "d", ""]


def test_lines_from_any_thread_stand_whole() -> None:
    screen = Screen()
    with panel(screen) as shown:
        threads = [threading.Thread(target=complain, args=(f"thread {number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for number in range(50):
            shown.draw([f"drawn {number}", "below"])
        for thread in threads:
            thread.join()
    *said, drawn, below, end = screen.shown()
    assert sorted(said) == [f"gregor: thread {number}" for number in range(8)]
    assert (drawn, below, end) == ("drawn 49", "below", "")


def test_long_lines_and_a_low_screen_do_not_spoil_the_count() -> None:
    screen = Screen()
    with panel(screen) as shown:
        for _ in range(3):
            shown.draw(["x" * 70, "second", "third", "fourth", "fifth", "sixth"])
        assert screen.shown() == ["x" * COLUMNS, "second", "third", "fourth"]


def test_standard_error_is_what_it_was_whatever_fails() -> None:
    before = sys.stderr
    with pytest.raises(ZeroDivisionError), panel(Screen()) as shown:
        assert sys.stderr is not before
        assert sys.stderr.isatty()  # whoever asks is on a terminal still
        shown.draw(["a"])
        raise ZeroDivisionError
    assert sys.stderr is before


def test_where_nothing_can_be_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert redraws(Screen())
    assert not redraws(io.StringIO())
    speak("json")
    assert not redraws(Screen())
    speak("text")
    monkeypatch.setenv("TERM", "dumb")
    assert not redraws(Screen())
