"""What this machine lacks is told apart from what a host does, and work gets less while it lasts."""

import errno
import socket
from unittest import mock

import pytest

from gregor.worker.base.shortage import LONGEST, RECOVERY, SHORTEST, Thrift, connect_shortage, pause, shortage


def raised(inner: Exception, outer: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    "fault",
    [
        *(OSError(number, "x") for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)),
        *(OSError(number, "x") for number in (errno.ENOSPC, errno.EDQUOT)),
        MemoryError(),
        RuntimeError("can't start new thread"),
        raised(OSError(errno.EMFILE, "x"), ValueError("wrapped")),
    ],
)
def test_a_shortage_is_seen_through_what_wraps_it(fault: Exception) -> None:
    assert shortage(fault)


@pytest.mark.parametrize(
    "fault",
    [
        None,
        ValueError("x"),
        RuntimeError("x"),
        OSError("no number"),
        *(OSError(number, "x") for number in (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ETIMEDOUT, errno.EPIPE)),
        OSError(errno.EADDRNOTAVAIL, "x"),
    ],
)
def test_what_is_no_shortage(fault: Exception | None) -> None:
    assert shortage(fault) is None


def test_ports_that_ran_out_are_told_from_an_address_that_is_not_there() -> None:
    assert connect_shortage(errno.EMFILE, "192.0.2.1", 80)
    assert connect_shortage(errno.ECONNREFUSED, "127.0.0.1", 80) is None
    assert connect_shortage(errno.EADDRNOTAVAIL, "127.0.0.1", 80)
    with mock.patch.object(socket.socket, "connect", side_effect=OSError(errno.EADDRNOTAVAIL, "x")):
        assert connect_shortage(errno.EADDRNOTAVAIL, "2001:db8::1", 80) is None
    with mock.patch.object(socket, "socket", side_effect=OSError(errno.EMFILE, "x")):
        assert connect_shortage(errno.EADDRNOTAVAIL, "2001:db8::1", 80)


def test_a_shortage_halves_what_runs_once_for_all_that_met_it() -> None:
    thrift = Thrift()
    assert thrift.most(64) == 64
    for n in range(5):
        thrift.lacks(40, 0.1 * n)
    assert thrift.most(64) == 20
    assert thrift.most(10) == 10
    thrift.lacks(20, 2.0)
    assert thrift.most(64) == 10
    for n in range(20):
        thrift.lacks(10, 100.0 * (n + 1))
    assert thrift.most(64) == 1


def test_what_goes_well_brings_it_back() -> None:
    thrift = Thrift()
    thrift.lacks(8, 0.0)
    for _ in range(RECOVERY * 4):
        thrift.went_well()
    assert thrift.most(8) == 5
    for _ in range(RECOVERY * 20):
        thrift.went_well()
    assert thrift.most(8) == 8


def test_who_meets_one_again_waits_longer() -> None:
    assert [pause(times) for times in (0, 1, 2)] == [SHORTEST, 2 * SHORTEST, 4 * SHORTEST]
    assert pause(10**6) == LONGEST
