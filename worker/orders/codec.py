"""Orders as they are kept: written so that every version reads what it knows and keeps the rest. Pure.

Reading never fails. A kept order that cannot be understood (a later version wrote it, a hand slipped) holds for nobody,
is listed, and stays where it is until it is taken back.
"""

from typing import Any, Final

import msgspec

from gregor.worker.base.errors import BadInput
from gregor.worker.orders.model import Change, Order, Orders, check

MOST_BYTES: Final = 900_000
"""ZooKeeper keeps a megabyte in a node."""
_WHOLE: Final = "all of it"
"""Under this name stands what is no collection of orders at all."""


class _Kept(msgspec.Struct, frozen=True):
    version: int = 0
    by_name: dict[str, msgspec.Raw] = msgspec.field(name="standing", default_factory=dict)
    changes: list[msgspec.Raw] = []


class _First(msgspec.Struct, frozen=True, array_like=True):
    """How the first version kept them; ``notes`` (who, when, why) by name."""

    paused: bool
    blocked: tuple[str, ...]
    delays: dict[str, float]
    notes: dict[str, tuple[str, float, str]] = {}


_ENCODER: Final = msgspec.msgpack.Encoder()


def encoded(orders: Orders) -> bytes:
    """What is kept. Raises `BadInput` when it is more than can be."""
    unread = {name: msgspec.Raw(data) for name, data in orders.unread.items()}
    by_name: dict[str, Any] = {**orders.by_name, **unread}
    data = _ENCODER.encode({"version": orders.version, "standing": by_name, "changes": orders.changes})
    if len(data) > MOST_BYTES:
        raise BadInput("the orders that stand are too much to keep: take some back, or put them into the config file")
    return data


def read(data: bytes) -> Orders:
    """What was kept; no orders where nothing was."""
    if not data:
        return Orders()
    try:
        kept = msgspec.msgpack.decode(data, type=_Kept)
    except msgspec.MsgspecError:
        return _read_first(data)
    by_name: dict[str, Order] = {}
    unread: dict[str, bytes] = {}
    for name, raw in kept.by_name.items():
        order = _order(raw)
        if order is None or order.name != name:
            unread[name] = bytes(raw)
        else:
            by_name[name] = order
    changes = tuple(change for raw in kept.changes if (change := _change(raw)) is not None)
    return Orders(kept.version, by_name, changes, unread)


def _read_first(data: bytes) -> Orders:
    try:
        kept = msgspec.msgpack.decode(data, type=_First)
    except msgspec.MsgspecError:
        return Orders(unread={_WHOLE: _ENCODER.encode(data)})
    orders = [Order("pause")] * kept.paused + [Order("block", host) for host in kept.blocked]
    orders += [Order("delay", host, seconds) for host, seconds in kept.delays.items()]
    by_name = {}
    for order in orders:
        who, at, why = kept.notes.get(order.name, ("", 0.0, ""))
        by_name[order.name] = msgspec.structs.replace(order, who=who, at=at, why=why)
    return Orders(by_name=by_name)


def encoded_changes(changes: tuple[Change, ...]) -> bytes:
    """Changes that are put aside."""
    return _ENCODER.encode(changes)


def read_changes(data: bytes) -> list[Change]:
    """Changes that were put aside; those that cannot be read are left out."""
    try:
        stored = msgspec.msgpack.decode(data, type=list[msgspec.Raw])
    except msgspec.MsgspecError:
        return []
    return [change for raw in stored if (change := _change(raw)) is not None]


def _order(raw: msgspec.Raw) -> Order | None:
    try:
        order = msgspec.msgpack.decode(raw, type=Order)
        check(order)
    except (msgspec.MsgspecError, BadInput):
        return None
    return order


def _change(raw: msgspec.Raw) -> Change | None:
    try:
        return msgspec.msgpack.decode(raw, type=Change)
    except msgspec.MsgspecError:
        return None
