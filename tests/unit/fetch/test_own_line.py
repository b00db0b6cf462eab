"""Our own line: what tells that it is down, who is asked meanwhile, and what is no sign of it. Time is passed in."""

import asyncio
import time
from collections.abc import Iterable
from itertools import pairwise

import pytest

from gregor.worker.borders.resolver import DnsFailure, Resolution
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, SocketAddress
from gregor.worker.config.settings import Config, replace
from gregor.worker.fetch.address_gate import AddressGate
from gregor.worker.fetch.fetcher import Fetcher
from gregor.worker.fetch.held import InDoubt, LineDown
from gregor.worker.fetch.names import NameLookups
from gregor.worker.fetch.outcomes import Failed, Fetched
from gregor.worker.fetch.own_line import HOSTS, LATELY, LATEST, LONGEST, MOST_WAIT, NAMES, PATIENCE, Blame, OwnLine
from gregor.worker.web.urls import Urls
from tests.contract.world import Permitted
from tests.memory_transport import MemoryTransport, Scripted

MANY = [f"h{number}.test" for number in range(8)]


def line_of(hosts: Iterable[str] = MANY, at: float = 0.0) -> OwnLine:
    """A line over which these hosts answered at a time."""
    line = OwnLine()
    for host in hosts:
        assert not line.answered(host, at)
    return line


def test_hosts_that_all_fail_at_once_are_not_to_blame_and_none_of_them_before_it_is_known() -> None:
    line = line_of()
    blamed = [line.failed(host, f"192.0.2.{place}", 1.0) for place, host in enumerate(MANY)]
    assert blamed == [Blame.NOBODY_YET] * (HOSTS - 1) + [Blame.LINE] * (len(MANY) - HOSTS + 1)
    assert line.failed("new.test", "192.0.2.99", 2.0) is Blame.LINE
    assert line.failed(MANY[0], "192.0.2.1", 2.0, sent=True) is Blame.LINE
    assert line.answered("new.test", 3.0)
    assert not line.down(3.0)
    assert not line.answered(MANY[0], 3.0)


def test_a_host_that_fails_while_others_answer_is_to_blame_at_its_second_failure() -> None:
    line = line_of()
    for round_ in range(20):
        expected = Blame.HOST if round_ else Blame.NOBODY_YET
        assert line.failed(MANY[0], "192.0.2.1", float(round_)) is expected
        line.answered(MANY[1], float(round_))
    assert line.failed(MANY[2], "192.0.2.1", 20.0) is Blame.NOBODY_YET


@pytest.mark.parametrize(
    ("hosts", "at", "sent"),
    [
        (MANY[:1], 0.0, False),  # one host alone: who could tell
        (MANY[:2], 0.0, False),
        ([], 0.0, False),  # none ever answered: a list of dead ones
        (MANY, -LATELY - 1, False),  # not lately
        (MANY, 0.0, True),  # they take connections, and do not answer
    ],
)
def test_what_is_no_sign_of_the_line(hosts: list[str], at: float, sent: bool) -> None:
    line = line_of(hosts, at)
    for place, host in enumerate(hosts or MANY):
        assert line.failed(host, f"192.0.2.{place}", 1.0, sent=sent) is Blame.HOST
    assert not line.down(1.0)
    assert line.wait(1.0) == 0.0


def test_before_anybody_answered_names_that_nobody_answers_for_tell() -> None:
    line = OwnLine()
    blamed = [line.failed(host, "", 0.0) for host in MANY]
    assert blamed == [Blame.HOST] * (NAMES - 1) + [Blame.LINE] * (len(MANY) - NAMES + 1)
    line = line_of(MANY[:1])
    assert {line.failed(f"dead{number}.test", "", 1.0) for number in range(50)} == {Blame.HOST}


def test_while_it_is_down_a_few_ask_one_after_another_and_nobody_waits_for_long() -> None:
    line = line_of()
    for place, host in enumerate(MANY):
        line.failed(host, f"192.0.2.{place}", 0.0)
    looks, due = [], dict.fromkeys(range(200), 0.0)
    for tick in range(1, 6000):
        now = tick / 10
        for number in [number for number, at in due.items() if at <= now]:
            wait = line.wait(now)
            assert wait <= MOST_WAIT
            looks += [now] * (not wait)
            due[number] = now + (wait or 1.0)
    gaps = [after - before for before, after in pairwise(looks)]
    assert 20 <= len(looks) <= 40
    assert max(gaps) <= LATEST + 1.0
    assert gaps == sorted(gaps) or max(gaps[6:]) - min(gaps[6:]) < 2.0


@pytest.mark.parametrize(("addresses", "patience"), [(1, PATIENCE), (3, 9 * PATIENCE), (20, LONGEST)])
def test_it_is_believed_only_for_so_long_since_it_might_be_the_hosts_after_all(addresses: int, patience: float) -> None:
    hosts = [f"h{number}.test" for number in range(20)]
    line = line_of(hosts)
    for number, host in enumerate(hosts):
        line.failed(host, f"192.0.2.{number % addresses}", 0.0)
    assert line.failed(hosts[0], "192.0.2.0", patience) is Blame.LINE
    assert line.failed(hosts[0], "192.0.2.0", patience + 1) is Blame.HOST
    assert line.wait(patience + 1) == 0.0


def test_it_remembers_no_more_than_it_needs() -> None:
    line = OwnLine()
    for number in range(20_000):
        line.failed(f"dead{number}.test", "", 0.0)
        line.answered(f"h{number}.test", 0.0)
    for number in range(20_000):
        line.failed(f"h{number}.test", "192.0.2.1", 1.0)
    assert len(line._answered) + len(line._failing) + len(line._doubted) + len(line._unnamed) < 20_000


def test_hosts_that_die_one_by_one_are_forgotten_with_their_answers() -> None:
    line = OwnLine()
    for number in range(10_000):
        line.answered(f"h{number}.test", 0.0)
        doubted = line.failed(f"h{number}.test", f"192.0.2.{number}", 1.0)
        assert doubted is (Blame.NOBODY_YET if number > 1 else Blame.HOST)
    assert len(line._doubted) <= len(line._answered) < 5000


class Line(MemoryTransport):
    """A transport whose line can be cut: nothing is sent then."""

    cut = False

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        return Failure("connect", "no route to host") if self.cut else await super().fetch(request, limits, permit)


class Resolves:
    """A resolver whose names nobody answers for while the line is cut."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def remembered(self, hostname: str, port: int) -> Resolution | DnsFailure:
        if self._line.cut and hostname.startswith("dns"):
            return DnsFailure("timeout", "no answer", 60.0)
        return Resolution((SocketAddress(f"192.0.2.{hostname[-6:-5]}", port),), 60.0)

    async def resolve(self, hostname: str, port: int) -> Resolution | DnsFailure:
        return self.remembered(hostname, port)


URLS = Urls()


async def ask(fetcher: Fetcher, host: str) -> object:
    """What becomes of a request to a host: the type of its outcome, or of why its turn is held."""

    def wake() -> bool:
        WOKEN.append(host)
        return True

    url = URLS.parse(f"http://{host}/")
    assert url is not None
    try:
        outcome, response = await fetcher.fetch(url, Permitted(), 0.0, fetcher.limits)
    except (InDoubt, LineDown) as held:
        held.call_when_over(host, wake)
        return type(held)
    if response is not None:
        response.close()
    return type(outcome)


WOKEN: list[str] = []
FREE = AddressGate(Config(per_address_delay=0.0), None, time.monotonic)


def test_a_turn_that_meets_a_line_that_is_down_is_held_and_called_when_it_is_back() -> None:
    async def crawl() -> None:
        WOKEN.clear()
        hosts = ["dns0.test", "a1.test", "a2.test", "a3.test"]
        line = Line({f"http://{host}/": Scripted() for host in [*hosts, "new9.test"]})
        names = NameLookups(Resolves(line), 64, time.monotonic)
        fetcher = Fetcher(
            replace(Config(), failure_ttl=0.2),
            line,
            names,
            FREE,
            URLS,
            {},
        )
        assert {await ask(fetcher, host) for host in hosts} == {Fetched}
        line.cut = True
        assert [await ask(fetcher, host) for host in hosts] == [InDoubt, InDoubt, LineDown, LineDown]
        assert fetcher.line.down
        asked = len(line.requests)
        line.cut = False
        assert await ask(fetcher, "a1.test") is LineDown, "it is not its turn to look yet"
        assert len(line.requests) == asked
        fetcher.line.answered("a2.test")
        assert not fetcher.line.down
        assert sorted(WOKEN) == ["a1.test", "a2.test", "a3.test"]
        line.cut = True
        assert await ask(fetcher, "dns0.test") is LineDown, "found while it was down, and still remembered"
        await asyncio.sleep(0.25)
        assert await ask(fetcher, "dns0.test") is InDoubt
        fetcher.line.answered("a2.test")
        assert await ask(fetcher, "dns0.test") is Failed

    asyncio.run(crawl())
