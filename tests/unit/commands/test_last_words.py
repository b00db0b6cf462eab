"""What a report lacks because a server is away by then is named, not waited for, and changes no exit code."""

import asyncio

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.commands import last_words
from gregor.worker.config.settings import Config
from gregor.worker.extract.drift import Fallen


@pytest.mark.parametrize("error", [Unavailable("Cassandra", "no answer"), BadInput("see that it is up")])
def test_what_cannot_be_read_is_named(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def away(_: Config) -> tuple[Fallen, ...]:
        raise error

    monkeypatch.setattr("gregor.worker.compose.drift.drift_of", away)
    assert asyncio.run(last_words.fallen_away(Config())) == ()
    assert f"the crawl is over; what rules find no more cannot be read: {error}" in capsys.readouterr().err


def test_nobody_waits_for_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def asked(config: Config) -> tuple[Fallen, ...]:
        waits.append(config.start_timeout)
        return ()

    monkeypatch.setattr("gregor.worker.compose.drift.drift_of", asked)
    asyncio.run(last_words.fallen_away(Config()))
    assert waits == [0]
