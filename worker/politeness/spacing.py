"""The delay in force between two requests to a host: configured, ordered, asked for, or by its latency. Pure."""

from gregor.worker.config.settings import Config
from gregor.worker.frontier.host import Host
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.politeness import delays


class Spacing:
    """One worker's. Delays are seconds between two request starts."""

    def __init__(self, config: Config, orders: OrdersInForce) -> None:
        self._config = config
        self._orders = orders
        self._overrides = {override.host: override.delay for override in config.hosts if override.delay is not None}
        self.first_contact = config.delay if config.first_contact_delay is None else config.first_contact_delay

    def ordered(self, host: Host) -> float:
        """The least delay that orders ask for; 0 when none does."""
        return self._orders.delay(host.name)

    def delay(self, host: Host, *, crawl_delay: bool = True) -> float:
        """The delay in force; `crawl_delay`: what robots.txt asks for counts."""
        return self._in_force(host, self.ordered(host), host.crawl_delay if crawl_delay else 0.0)

    def of_request(self, host: Host, ordered: float) -> float:
        """The delay that a request keeps whose turn began with ``ordered`` in force: an order of more that came since
        then holds from the next turn on. A crawl-delay does not count."""
        return self._in_force(host, min(ordered, self.ordered(host)), 0.0)

    def of_page(self, host: Host, delay: float) -> float:
        """The delay between two pages, where that between two requests of any kind is ``delay``."""
        return delays.delay_in_force(delay, host.crawl_delay, self._config.max_crawl_delay, 0.0, 0.0)

    def longest(self, host: Host) -> float:
        """The longest delay that can be in force: more on record was ordered or configured once, and is no more."""
        config = self._config
        return delays.ceiling(
            self._in_force(host, self.ordered(host), config.max_crawl_delay, latency=config.total_timeout)
        )

    def page_due(self, host: Host) -> float:
        """When a page of the host may be asked for, monotonic seconds, as far as its last page decides."""
        return host.last_page + self.delay(host)

    def _in_force(self, host: Host, ordered: float, crawl_delay: float, latency: float | None = None) -> float:
        config = self._config
        return delays.delay_in_force(
            max(self._overrides.get(host.name, config.delay), ordered),
            crawl_delay,
            config.max_crawl_delay,
            config.delay_factor,
            host.latency if latency is None else latency,
        )
