"""What is told of a server that is away for long."""

import pytest

from gregor.worker.borders.errors import Unavailable
from gregor.worker.observe.away import AGAIN, Away


class Lines:
    """A log in memory."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def warning(self, event: str, **fields: object) -> None:
        self.events.append(f"{event} {fields.get('why', '')}")


def test_it_is_told_once_for_each_kind_now_and_then_again_and_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, now = Lines(), [0.0]
    monkeypatch.setattr("gregor.worker.observe.away._log", lines)
    away = Away(lambda: now[0])
    away.back("OpenSearch")
    for _ in range(5):
        away.warn(Unavailable("OpenSearch", "refused"))
    away.warn(Unavailable("OpenSearch", "no room", "full"))
    away.warn(Unavailable("Kafka", "refused"))
    assert len(lines.events) == 3
    now[0] = AGAIN
    away.warn(Unavailable("OpenSearch", "refused"))
    assert len(lines.events) == 4
    away.back("OpenSearch")
    away.back("OpenSearch")
    assert len(lines.events) == 5 and "again" in lines.events[-1]
    away.warn(Unavailable("OpenSearch", "refused"))
    assert len(lines.events) == 6
