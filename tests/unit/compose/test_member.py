"""What is shown of what a process writes to standard error."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.worker.compose.member import Member


def shown(capsys: pytest.CaptureFixture[str], *pieces: bytes) -> str:
    async def relay() -> None:
        pipe = asyncio.StreamReader()
        process: Any = SimpleNamespace(stderr=pipe)
        relaying = asyncio.create_task(Member(process, 0, 0).relay())
        for piece in pieces:
            pipe.feed_data(piece)
            await asyncio.sleep(0)
        pipe.feed_eof()
        await relaying

    asyncio.run(relay())
    return capsys.readouterr().err


def test_lines_are_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        shown(capsys, b"one\ntw", "o: schön".encode()[:-2], "ön\nth".encode()[1:], b"ree") == "one\ntwo: schön\nthree"
    )


def test_a_line_longer_than_any_buffer_is_read_on(capsys: pytest.CaptureFixture[str]) -> None:
    """Else whoever writes it would wait for ever."""
    line = b"x" * 1_000_000
    assert shown(capsys, b"before\n", line, line + b"\n", b"after\n") == f"before\n{'x' * 2_000_000}\nafter\n"
