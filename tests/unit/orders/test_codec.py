"""Orders as they are kept: read as written, and whatever stands there, reading never fails and loses nothing."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.errors import BadInput
from gregor.worker.orders.codec import MOST_BYTES, encoded, encoded_changes, read, read_changes
from gregor.worker.orders.model import By, Change, Order, Orders, give, take_back
from tests.contract.world import ordered
from tests.unit.orders.test_model import GIVEN

ME = By("me", 2.0, "why", "here", "key", 2**64 - 1)


@given(st.lists(GIVEN))
def test_what_is_written_is_read(orders: list[Order]) -> None:
    found = ordered(*orders)
    assert read(encoded(found)) == found
    assert read_changes(encoded_changes(found.changes)) == list(found.changes)
    assert read(b"") == Orders()


KEPT = {
    "version": 7,
    "standing": {
        "block a.example": {"kind": "block", "target": "a.example", "who": "ann", "at": 1.0, "new": [1]},
        "render b.example": {"kind": "render", "target": "b.example", "how": {"deep": [1, 2]}},
        "delay c.example": {"kind": "delay", "target": "c.example", "value": -3},
        "delay d.example": {"kind": "delay", "target": "e.example", "value": 3},
        "rate f.example": 12,
    },
    "changes": [{"number": 6, "at": 1.0, "who": "ann", "where": "there", "what": "pause"}, {"number": "x"}, 7],
    "later": {"x": 1},
}


def test_what_cannot_be_read_holds_for_nobody_and_stays() -> None:
    found = read(msgspec.msgpack.encode(KEPT))
    assert found.by_name == {"block a.example": Order("block", "a.example", None, "ann", 1.0)}
    assert found.version == 7
    assert [one.number for one in found.changes] == [6]
    assert list(found.unread) == ["render b.example", "delay c.example", "delay d.example", "rate f.example"]
    changed = read(encoded(give(found, Order("pause"), ME)))
    assert changed.unread == found.unread
    kept = msgspec.msgpack.decode(encoded(changed))["standing"]
    assert kept["render b.example"] == KEPT["standing"]["render b.example"]  # type: ignore[index]
    without = take_back(changed, "render b.example", ME._replace(key=""))
    assert "render b.example" not in read(encoded(without)).unread
    assert without.changes[-1].what == "took back render b.example"


@given(st.binary())
def test_no_bytes_fail(data: bytes) -> None:
    found = read(data)
    assert read(encoded(found)) == found
    assert read(encoded(give(found, Order("pause"), ME))).paused
    assert all(isinstance(one, Change) for one in read_changes(data))


JSONISH: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*KEPT, "kind", "target"]), inner),
    max_leaves=12,
)


@given(JSONISH)
def test_no_document_fails(document: object) -> None:
    found = read(msgspec.msgpack.encode(document))
    assert read(encoded(found)) == found


def test_orders_of_the_first_version_hold() -> None:
    first = msgspec.msgpack.encode([True, ["a.example"], {"*.b.example": 3.0}, {"pause": ["ann", 5.0, "why"]}])
    assert read(first).by_name == {
        "pause": Order("pause", "", None, "ann", 5.0, "why"),
        "block a.example": Order("block", "a.example"),
        "delay *.b.example": Order("delay", "*.b.example", 3.0),
    }


def test_more_than_can_be_kept_is_refused() -> None:
    orders = Orders(unread={"x": msgspec.msgpack.encode("x" * MOST_BYTES)})
    with pytest.raises(BadInput, match="too much"):
        encoded(orders)
