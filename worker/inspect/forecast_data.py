"""What a forecast is made of, read from what a crawl remembers; in a temporary file of SQLite's, so that memory stays
bounded. It reads the rows once and changes nothing."""

import sqlite3
from collections.abc import Iterator
from typing import Final

from gregor.schemas.messages import KEPT, Row, url_fingerprint
from gregor.worker.borders.reader import Reader
from gregor.worker.config.settings import Config
from gregor.worker.inspect.forecast import Forecast, Ground, HostSoFar, forecast
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.url_record import only_waiting
from gregor.worker.observe.course import STEPS, GrowthStep
from gregor.worker.settle.rows import OPTED_OUT

_TABLES: Final = (
    # at: when it was visited first, NULL while it waits. via: the fingerprint of what named it.
    "CREATE TABLE urls (print INTEGER PRIMARY KEY, at REAL, via INT, host INT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE hosts (id INTEGER PRIMARY KEY, host TEXT UNIQUE, newest REAL NOT NULL, delay REAL NOT NULL,
       requests INT NOT NULL, visited INT NOT NULL, elapsed REAL NOT NULL)""",
)
_HOST: Final = """INSERT INTO hosts (host, newest, delay, requests, visited, elapsed) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (host) DO UPDATE SET requests = requests + excluded.requests, visited = visited + excluded.visited,
    elapsed = elapsed + excluded.elapsed, delay = CASE WHEN excluded.newest > newest THEN excluded.delay ELSE delay END,
    newest = max(newest, excluded.newest) RETURNING id"""
_URL: Final = """INSERT INTO urls VALUES (?, ?, ?, ?) ON CONFLICT (print) DO UPDATE
    SET at = excluded.at, via = excluded.via WHERE excluded.at IS NOT NULL"""
_SIGN: Final = 1 << 63
PAGES_EACH: Final = 0.8
"""Pages a visited URL where none was visited yet; bytes a page and seconds of a request likewise."""
BYTES_EACH: Final = 50_000.0
ANSWER: Final = 0.3


class SoFar:
    """What is known of a crawl: filled by `visited` and `waits`, then asked for its `forecast`. To be closed."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._delays = {table.host: table.delay for table in config.hosts if table.delay is not None}
        self._database = sqlite3.connect("", isolation_level=None)
        for statement in _TABLES:
            self._database.execute(statement)
        self._database.execute("BEGIN")
        self._pages = self._pages_200 = self._bytes = self._requests = self._visited = 0

    def __enter__(self) -> "SoFar":
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def visited(self, row: Row) -> None:
        """A URL that has a row. One that waits for its next try is not visited yet."""
        asked = [attempt for attempt in row.attempts if attempt.status or attempt.asked]
        requests, kept = len(asked), row.state in KEPT
        done = row.state != "waiting"
        at = row.first_seen or (row.attempts[0].at if row.attempts else 0.0)
        newest = row.attempts[-1].at if row.attempts else at
        delay = max((start.page_delay for attempt in asked[-1:] for start in attempt.asked), default=0.0)
        elapsed = sum(attempt.elapsed for attempt in asked)
        values = (row.host, newest if delay else 0.0, delay or self._delay(row.host), requests, int(done), elapsed)
        self._put(row.key, at if done else None, row.via, values)
        if done:
            self._visited += 1
            self._requests += requests
            self._pages += kept
            self._pages_200 += kept and row.kept_status == 200
            self._bytes += row.kept_size if kept else 0

    def waits(self, key: str, host: str, via: str = "") -> None:
        """A URL that was never visited; ``via``: what named it."""
        self._put(key, None, via, (host, 0.0, self._delay(host), 0, 0, 0.0))

    def _delay(self, host: str) -> float:
        return self._delays.get(host, self._config.delay)

    def _put(self, key: str, at: float | None, via: str, host: tuple[object, ...]) -> None:
        (number,) = self._database.execute(_HOST, host).fetchone()
        values = (_signed(key), at, _signed(via) if via else None, number)
        self._database.execute(_URL, values)

    def forecast(self, listed: int, cpu: float, workers: int = 1) -> Forecast:
        """What will come of it. ``cpu``: requests a second that the processors of all ``workers`` bear."""
        moments = self._moments()
        self._count_growth(moments)
        config, answer = self._config, self._answer()
        pages = self._pages / self._visited if self._visited else PAGES_EACH
        ground = Ground(
            steps=self._steps(len(moments)),
            pages=pages,
            requests=self._requests / self._visited if self._visited else 1.0,
            bytes=self._bytes / self._pages if self._pages else BYTES_EACH,
            cpu=cpu,
            answer=answer,
            concurrency=config.concurrency * workers,
            pages_left=None if config.max_pages is None else config.max_pages - self._pages_200,
            bytes_left=None if config.max_bytes is None else config.max_bytes - self._bytes,
        )
        return forecast(ground, self._hosts(answer), listed)

    def _moments(self) -> list[float]:
        """When an eighth, two eighths ... and all of what was visited were."""
        self._database.execute("CREATE INDEX IF NOT EXISTS by_time ON urls (at) WHERE at IS NOT NULL")
        statement = "SELECT at FROM urls WHERE at IS NOT NULL ORDER BY at LIMIT 1 OFFSET ?"
        (visited,) = self._database.execute("SELECT count(at) FROM urls").fetchone()
        places = [max(0, visited * step // STEPS - 1) for step in range(1, STEPS + 1)] if visited else []
        return [self._database.execute(statement, (place,)).fetchone()[0] for place in places]

    def _count_growth(self, moments: list[float]) -> None:
        """Count by host what was visited and known at moments. What something unknown named was known from the
        beginning."""
        times = moments[:-1]
        visited = "".join(f", sum(u.at <= {at!r})" for at in times)
        were_known = "".join(f", sum(coalesce(v.at, 0) <= {at!r})" for at in times)
        self._database.execute("DROP TABLE IF EXISTS growth")
        self._database.execute(f"""CREATE TABLE growth AS SELECT u.host{visited}, count(u.at){were_known}, count(*)
            FROM urls u LEFT JOIN urls v ON v.print = u.via GROUP BY u.host""")

    def _by_host(self) -> Iterator[tuple[int, list[GrowthStep]]]:
        """The steps of each host, by its number."""
        for host, *sums in self._database.execute("SELECT * FROM growth"):
            half = len(sums) // 2
            yield (
                host,
                [GrowthStep(*(number or 0 for number in pair)) for pair in zip(sums[:half], sums[half:], strict=True)],
            )

    def _steps(self, moments: int) -> tuple[GrowthStep, ...]:
        sums = [(0, 0)] * max(1, moments)
        for _, steps in self._by_host():
            sums = [(pair[0] + step.visited, pair[1] + step.urls) for pair, step in zip(sums, steps, strict=True)]
        return tuple(GrowthStep(*pair) for pair in sums)

    def _answer(self) -> float:
        elapsed, requests = self._database.execute("SELECT sum(elapsed), sum(requests) FROM hosts").fetchone()
        return float(elapsed / requests) if requests and elapsed else ANSWER

    def _hosts(self, answer: float) -> Iterator[HostSoFar]:
        names = self._database.cursor()
        statement = "SELECT host, delay, requests, visited, elapsed FROM hosts WHERE id = ?"
        for number, steps in self._by_host():
            name, delay, requests, visited, elapsed = names.execute(statement, (number,)).fetchone()
            latency = elapsed / requests if requests and elapsed else answer
            own = self._delay(name)
            imposed = delay if delay > own * 1.001 else 0.0  # its robots.txt, an order or its latency asks for more
            each = max(1.0, requests / visited) if visited else 1.0
            yield HostSoFar(name, tuple(steps), max(delay, latency), max(imposed, latency), each)


def _signed(text: str) -> int:
    number = url_fingerprint(text)
    return number - (number & _SIGN) * 2


async def read(reader: Reader, config: Config) -> SoFar:
    """What a crawl remembers, whether it runs or not. Hosts that opted out are left out."""
    so_far = SoFar(config)
    async for row in reader.rows(None, None):
        if row.rule != OPTED_OUT:
            so_far.visited(row)
    async for ticket in only_waiting(reader, Selection()):
        so_far.waits(ticket.key, ticket.host, ticket.via)
    return so_far
