"""The calendar beside a store that keeps what was written: nothing is ever lost, early, or below the cursor."""

import math

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gregor.worker.frontier.calendar import Calendar

WIDTH = 2.0
SIZE = 3
START = 1000.0


class CalendarMachine(RuleBasedStateMachine):
    """An owner that may die at any moment. The model is the store: entries that are there, by bucket; the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.stored: dict[int, int] = {}
        self.cursor = 0
        self.take_over()

    def take_over(self) -> None:
        """A new owner reads the numbers of the buckets after the cursor."""
        self.calendar = Calendar(self.cursor, [b for b in sorted(self.stored) if b > self.cursor], WIDTH, SIZE)
        self.given: dict[int, int] = {}
        self.writing: list[int] = []
        self.read: set[int] = set()
        self.reading: int | None = None
        self.unfinished: dict[int, int] = {}

    @rule(seconds=st.floats(0.0, 5.0))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(wait=st.floats(-10.0, 20.0))
    def place(self, wait: float) -> None:
        bucket = self.calendar.place(self.now + wait, self.now)
        self.writing.append(bucket)
        self.given[bucket] = self.given.get(bucket, 0) + 1
        assert bucket not in self.read, "placed into a bucket that was read"
        assert bucket > self.cursor, "placed where no later owner looks"
        assert bucket >= math.floor((self.now + wait) / WIDTH), "earlier than its appointment"
        assert (bucket + 1) * WIDTH > self.now, "placed into a past bucket"
        assert self.given[bucket] <= SIZE, "a bucket without bound"

    @precondition(lambda self: self.writing)
    @rule(number=st.integers(0))
    def written(self, number: int) -> None:
        bucket = self.writing.pop(number % len(self.writing))
        assert bucket not in self.read, "written into a bucket that was read"
        assert bucket > self.cursor, "written where no later owner looks"
        self.stored[bucket] = self.stored.get(bucket, 0) + 1
        self.calendar.placed(bucket)

    @precondition(lambda self: self.reading is None)
    @rule()
    def look(self) -> None:
        bucket = self.calendar.due(self.now)
        if bucket is None:
            ready = {b for b in self.stored if (b + 1) * WIDTH <= self.now and b not in self.read}
            assert not ready or min(ready) >= min(self.writing, default=math.inf), "what is due is not read"
            return
        assert (bucket + 1) * WIDTH <= self.now, "read before it is wholly past"
        assert bucket not in self.writing, "read while an entry was being written"
        assert bucket not in self.read, "read twice"
        self.read.add(bucket)
        self.reading = bucket

    @precondition(lambda self: self.reading is not None)
    @rule()
    def entries_come(self) -> None:
        assert self.reading is not None
        bucket, self.reading = self.reading, None
        self.calendar.opened(bucket, self.stored.get(bucket, 0))
        self.unfinished[bucket] = self.stored.get(bucket, 0)
        self.calendar.finish(bucket)

    @precondition(lambda self: any(self.unfinished.values()))
    @rule(number=st.integers(0))
    def finish(self, number: int) -> None:
        some = sorted(bucket for bucket, count in self.unfinished.items() if count)
        bucket = some[number % len(some)]
        self.unfinished[bucket] -= 1
        self.calendar.finish(bucket)

    @rule(all_of_it=st.booleans())
    def checkpoint(self, all_of_it: bool) -> None:
        """Drop what may be dropped, or only a part of it before the owner dies or is cut off; store the cursor."""
        finished = self.calendar.finished()
        for bucket in finished if all_of_it else finished[:1]:
            assert not self.unfinished[bucket], "dropped with unfinished entries"
            self.stored.pop(bucket, None)
            self.calendar.dropped(bucket)
        cursor = self.calendar.settled_up_to()
        assert cursor >= self.cursor
        self.cursor = self.calendar.cursor = cursor

    @rule()
    def die(self) -> None:
        """What was being written may arrive late or never; here it never does."""
        self.take_over()

    @invariant()
    def no_bucket_is_passed(self) -> None:
        passed = [bucket for bucket in self.stored if bucket <= self.calendar.settled_up_to()]
        assert not passed, "the cursor passes a bucket that is still there"

    @invariant()
    def nothing_is_forgotten(self) -> None:
        held = bool(self.stored or self.writing or self.reading is not None or self.calendar.finished())
        assert self.calendar.empty != held
        due = self.calendar.next_due()
        waiting = [*(b for b in self.stored if b not in self.read), *self.writing]
        assert due == (min((b + 1) * WIDTH for b in waiting) if waiting else None)


TestCalendar = CalendarMachine.TestCase
TestCalendar.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


def test_a_full_bucket_spills_over_into_the_next() -> None:
    calendar = Calendar(0, [], WIDTH, SIZE)
    assert [calendar.place(START + 10, START) for _ in range(7)] == [505, 505, 505, 506, 506, 506, 507]


def test_an_appointment_in_the_past_is_the_next_bucket() -> None:
    calendar = Calendar(499, [], WIDTH, SIZE)
    first = calendar.place(START - 100, START)
    calendar.placed(first)
    assert (first, calendar.due(START), calendar.due(START + WIDTH)) == (500, None, 500)
    assert calendar.place(START, START) == 501


def test_the_cursor_stays_before_a_bucket_that_is_found_late() -> None:
    """What an earlier owner wrote may come to light below what was read meanwhile."""
    calendar = Calendar(0, [5], 1.0, 10)
    assert calendar.due(9.0) == 5
    calendar.finish(5)
    calendar.dropped(5)
    assert calendar.settled_up_to() == 5
    calendar.learn([3])
    assert calendar.settled_up_to() == 2
