"""The watermark against its definition: the highest offset below which all that was read is finished."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.frontier.watermark import Watermark

STEPS = st.lists(st.one_of(st.tuples(st.just("read"), st.integers(0, 3)), st.tuples(st.just("finish"), st.integers(0))))


@given(start=st.integers(0, 2**40), steps=STEPS)
def test_offsets_finish_in_any_order(start: int, steps: list[tuple[str, int]]) -> None:
    mark: Watermark[str] = Watermark(start)
    position, unfinished, finished = start, list[int](), set[int]()
    lows = [mark.low]
    for step, number in steps:
        if step == "read":
            offset = position + number  # with gaps, as a log has them
            mark.read(offset, f"record {offset}")
            unfinished.append(offset)
            position = offset + 1
        elif unfinished:
            offset = unfinished.pop(number % len(unfinished))
            mark.finish(offset)
            finished.add(offset)
        lows.append(mark.low)
        assert mark.position == position
        assert mark.low == min(unfinished, default=position)
        assert mark.span == position - mark.low
        assert len(mark) == len(unfinished)
        assert mark.oldest(3) == [f"record {offset}" for offset in sorted(unfinished)[:3]]
    assert lows == sorted(lows)
    assert not {offset for offset in unfinished if offset < mark.low}


@given(st.lists(st.integers(0, 20), unique=True))
def test_finishing_twice_or_what_was_never_read_changes_nothing(offsets: list[int]) -> None:
    mark: Watermark[None] = Watermark(0)
    for offset in sorted(offsets):
        mark.read(offset, None)
    for _ in range(2):
        mark.finish(999)
        if offsets:
            mark.finish(offsets[0])
    assert len(mark) == len(offsets[1:])


def test_an_offset_is_read_once() -> None:
    mark: Watermark[None] = Watermark(5)
    mark.read(7, None)
    for again in (7, 4):
        with pytest.raises(ValueError, match="was read before"):
            mark.read(again, None)
    assert (mark.low, mark.position) == (7, 8)
