"""Heads as they travelled: whatever is called tidy is what parsing and writing it again would give."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.web import heads

TIDY: Final = [
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"GET /a b HTTP/1.1\r\nHost: a.test\r\nX-Empty: \r\nServer: \xe9 x\r\n\r\n",
]
UNTIDY: Final = [
    b"",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\n\n",
    b" HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA:1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA : 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA:  1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: 1 \r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: 1\xa0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: 1\x1f\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: 1\rB: 2\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\n\r\n",
]


@pytest.mark.parametrize("head", TIDY)
def test_most_heads_are_tidy(head: bytes) -> None:
    assert heads.is_tidy(head)
    assert heads.compose(*heads.parse(head)) == head


@pytest.mark.parametrize("head", UNTIDY)
def test_what_would_be_written_otherwise_is_not(head: bytes) -> None:
    assert not heads.is_tidy(head)


@given(
    st.lists(st.sampled_from([b"A", b":", b" ", b"\t", b"\r", b"\n", b"\r\n", b": ", b"\xa0", b"\x85", b"1", b"\x0b"]))
)
def test_whatever_is_tidy_is_what_it_is_written_as(pieces: list[bytes]) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(pieces) + b"\r\n\r\n"
    assert not heads.is_tidy(head) or heads.compose(*heads.parse(head)) == head
