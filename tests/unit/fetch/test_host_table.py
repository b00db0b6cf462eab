"""The static host table: what a line means, which one wins, and what is said of a wrong one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.borders.transport import SocketAddress
from gregor.worker.fetch.host_table import HostTable

TABLE = HostTable.parse(
    """
    # everything is served from loopback
    a.test       127.0.0.1:8001
    A.Test       127.0.0.2:8001     # a second address
    a.test       127.0.0.1:8001
    a.test:443   [::1]:8443
    *            127.0.0.9:9
    *:8080       127.0.0.9:10
    [2001:db8::1] 127.0.0.1:6
    [2001:0db8::1]:81 127.0.0.1:7
    """
)


@pytest.mark.parametrize(
    ("hostname", "port", "expected"),
    [
        ("a.test", 80, [("127.0.0.1", 8001), ("127.0.0.2", 8001)]),
        ("a.test.", 80, [("127.0.0.1", 8001), ("127.0.0.2", 8001)]),
        ("a.test", 443, [("::1", 8443)]),
        ("a.test", 8080, [("127.0.0.1", 8001), ("127.0.0.2", 8001)]),
        ("b.test", 80, [("127.0.0.9", 9)]),
        ("b.test", 8080, [("127.0.0.9", 10)]),
        ("[2001:db8::1]", 80, [("127.0.0.1", 6)]),
        ("[2001:db8::1]", 81, [("127.0.0.1", 7)]),
    ],
)
def test_lookup(hostname: str, port: int, expected: list[tuple[str, int]]) -> None:
    assert list(TABLE.lookup(hostname, port)) == expected


def test_a_host_that_is_not_listed() -> None:
    assert HostTable.parse("a.test:80 127.0.0.1:1").lookup("a.test", 443) == ()
    assert HostTable().lookup("a.test", 80) == ()
    assert HostTable().endpoints == frozenset()


def test_all_endpoints_are_known_to_the_address_policy() -> None:
    table = HostTable.parse("a.test 127.0.0.1:1\n*:80 [::1]:2\n")
    assert table.endpoints == {SocketAddress("127.0.0.1", 1), SocketAddress("::1", 2)}


@pytest.mark.parametrize(
    "line",
    [
        "a.test",
        "a.test 127.0.0.1",
        "a.test 127.0.0.1:",
        "a.test 127.0.0.1:0",
        "a.test 127.0.0.1:65536",
        "a.test 127.0.0.1:x",
        "a.test: 127.0.0.1:80",
        "a.test:port 127.0.0.1:80",
        "a.test b.test:80",
        "a.test ::1:80",
        "a.test [::1]",
        "a.test [::1:80",
        "a.test [127.0.0.1]:80",
        "a.test [::1]80",
        ":80 127.0.0.1:80",
        "bücher.test 127.0.0.1:80",
        "a.test 127.0.0.1:80 more",
        "[x]:1 127.0.0.1:80",
        "*.a.test 127.0.0.1:80",
        "a.test/ 127.0.0.1:80",
    ],
)
def test_a_wrong_line_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"^line 2: "):
        HostTable.parse(f"ok.test 127.0.0.1:1\n{line}\n")


@given(st.text())
def test_any_text_is_read_or_refused_with_a_line_number(text: str) -> None:
    try:
        HostTable.parse(text).lookup("a.test", 80)
    except ValueError as fault:
        assert str(fault).startswith("line ")


names = st.from_regex(r"[a-z]{1,5}\.test", fullmatch=True)
ports = st.integers(1, 65535)
endpoints = st.tuples(st.ip_addresses().map(str), ports)


@given(st.lists(st.tuples(names, ports, endpoints)), names, ports)
def test_only_lines_of_the_host_and_port_answer(
    lines: list[tuple[str, int, tuple[str, int]]], name: str, port: int
) -> None:
    def written(address: str, at: int) -> str:
        return f"[{address}]:{at}" if ":" in address else f"{address}:{at}"

    table = HostTable.parse("\n".join(f"{host}:{on} {written(*to)}" for host, on, to in lines))
    expected = dict.fromkeys(to for host, on, to in lines if (host, on) == (name, port))
    assert [tuple(found) for found in table.lookup(name, port)] == list(expected)
