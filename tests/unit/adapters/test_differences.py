"""What is in one set and not in another, whatever may be held at a time."""

from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.adapters.differences import Differences

_NUMBERS = st.lists(st.integers(min_value=0, max_value=2**64 - 1) | st.integers(min_value=0, max_value=9), max_size=20)


@given(_NUMBERS, _NUMBERS, st.integers(min_value=1, max_value=8), st.integers(min_value=0, max_value=20))
def test_what_is_only_left_is_counted_and_named(left: list[int], right: list[int], held: int, most: int) -> None:
    with closing(Differences(held)) as sets:
        sets.left(left)
        sets.right(right)
        sets.left(left[:3])
        numbers, count = sets.only_left(most)
    alone = set(left) - set(right)
    assert count == len(alone) and numbers <= alone and len(numbers) == min(most, count)
