"""The prefetch of one partition, against a plain list of records."""

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.adapters.cluster.kafka_buffer import FEW, MOST, PartitionBuffer, Raw


def value(offset: int) -> bytes:
    return b"%d" % offset


@st.composite
def logs(draw: st.DrawFn) -> list[int]:
    """Offsets of a log, with gaps."""
    gaps = draw(st.lists(st.integers(0, 3), max_size=40))
    offsets, offset = [], 0
    for gap in gaps:
        offset += gap
        offsets.append(offset)
        offset += 1
    return offsets


@given(logs(), st.data())
def test_reads_are_those_of_the_log(offsets: list[int], data: st.DataObject) -> None:
    """Whatever is fetched and read in whatever order: a read has the next records of the log, or has to wait."""
    start = data.draw(st.integers(0, 5))
    end = offsets[-1] + 1 if offsets else 0
    tap = PartitionBuffer(start, 0.0)
    log = iter([offset for offset in offsets if offset >= start])
    read_from = start
    for _ in range(data.draw(st.integers(0, 60))):
        match data.draw(st.sampled_from(["fetch", "read", "again"])):
            case "fetch":
                offset = next(log, None)
                if offset is None:
                    tap.reached_end(end)
                else:
                    assert tap.add(offset, value(offset))
                    assert not tap.add(offset, value(offset))
            case kind:
                limit = data.draw(st.integers(1, 5))
                assert tap.move(read_from)
                found = tap.take(limit, end)
                if found is not None:
                    assert found == [(o, value(o)) for o in offsets if o >= read_from][:limit]
                    if kind == "read" and found:
                        read_from = found[-1][0] + 1


def test_an_end_from_before_is_none() -> None:
    tap = PartitionBuffer(0, 0.0)
    tap.reached_end(0)
    assert tap.take(10, 0) == []
    assert tap.take(10, 1) is None
    assert tap.ends_before(1)
    tap.add(0, b"a")
    assert tap.take(10, 1) is None
    assert not tap.ends_before(2), "where it ended before that record says nothing"
    tap.reached_end(0)
    assert tap.take(10, 1) is None
    tap.reached_end(1)
    assert tap.take(10, 1) == [(0, b"a")]


def test_no_jump_to_what_was_not_fetched() -> None:
    tap = PartitionBuffer(5, 0.0)
    tap.add(5, b"a")
    assert not tap.move(4)
    assert not tap.move(7)
    assert tap.move(6)
    assert not tap.move(5)


def test_fetching_pauses_and_goes_on_in_time() -> None:
    tap = PartitionBuffer(0, 0.0)
    for offset in range(MOST):
        assert not tap.should_pause()
        tap.add(offset, b"")
    assert tap.should_pause()
    tap.paused = True
    position = 0
    while not tap.should_go_on():
        found: list[Raw] | None = tap.take(100, MOST + 1)
        assert found is not None
        position += len(found)
        assert tap.move(position)
    assert len(tap.rest(MOST)) < FEW
    assert tap.position == MOST
