"""Reasons as they stand in records."""

import pytest

from gregor.worker.links.reasons import ReasonKind, reason, what_decided


@pytest.mark.parametrize("kind", ["scope", "trap", "budget"])
def test_what_was_recorded_is_read(kind: ReasonKind) -> None:
    recorded = reason(kind, "exclude: */a: b")
    assert what_decided(recorded, kind) == "exclude: */a: b"
    others: tuple[ReasonKind, ...] = ("scope", "trap", "budget")
    assert not any(what_decided(recorded, other) for other in others if other != kind)


@pytest.mark.parametrize("recorded", ["", "scope", "scope:x", "depth", "robots.txt line 3: Disallow: /scope: x"])
def test_what_is_of_no_kind_is_none(recorded: str) -> None:
    assert what_decided(recorded, "scope") is None
