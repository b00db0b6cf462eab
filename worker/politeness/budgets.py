"""The budgets of hosts and of domains: how many pages and bytes of them are stored at most. Pure."""

from gregor.schemas.messages import Page, Row
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import NO_CHANGE, CountsChange, change_of, count_settled
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.partition import Partition
from gregor.worker.links.reasons import reason
from gregor.worker.orders.in_force import OrdersInForce


class HostBudgets:
    """One worker's. A host's counts stand in its record, those of domains with the partitions."""

    def __init__(self, config: Config, orders: OrdersInForce, domain_pages: DomainPages) -> None:
        self._config = config
        self._orders = orders
        self._domain_pages = domain_pages
        self._overrides = {override.host: override for override in config.hosts}

    def spent(self, host: Host) -> str:
        """Which budget of the host is spent; empty when none is."""
        override, config = self._overrides.get(host.name), self._config
        pages, size = config.max_pages_per_host, config.max_bytes_per_host
        if override is not None:
            pages = pages if override.max_pages is None else override.max_pages
            size = size if override.max_bytes is None else override.max_bytes
        ordered = self._orders.budget(host.name)
        pages = pages if ordered is None else ordered
        if pages is not None and host.record.pages >= pages:
            return reason("budget", f"{pages} pages of this host")
        if size is not None and host.record.bytes >= size:
            return reason("budget", f"{size} bytes of this host")
        fresh = config.topic_discover
        if fresh is not None and not host.record.relevant and host.record.pages >= fresh:
            return reason("topic", f"none of the first {fresh} pages of this host is relevant")
        for domain, most in self._orders.domain_budgets(host.name):
            if self._domain_pages.of(domain) >= most:
                return reason("budget", f"{most} pages of {domain}")
        return ""

    def counts(self, host: Host) -> bool:
        """Whether the pages of a host are counted in its record: where a budget of its own may need them."""
        config = self._config
        return (
            config.max_pages_per_host is not None
            or config.topic_discover is not None
            or config.max_bytes_per_host is not None
            or host.name in self._overrides
            or self._orders.budget(host.name) is not None
        )

    def settled(
        self, partition: Partition, before: Row | None, after: Row, page: Page | None, cause: str
    ) -> CountsChange:
        """Count a visit that was settled, and its page for the budgets of the host's domains; see `count_settled`.

        Gives what the crawl has more by it.
        """
        count_settled(partition.counts, before, after, page, cause)
        change = change_of(before, page) if page is not None else NO_CHANGE
        for domain, _ in self._orders.domain_budgets(after.host) if change.pages else ():
            partition.domain_pages[domain] += 1
            self._domain_pages.stored(domain)
        return change
