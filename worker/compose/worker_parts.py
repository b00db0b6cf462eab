"""What makes a worker, but for the engine that remembers its crawl."""

import os
import random
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from gregor.worker.borders.counted_together import CountedTogether
from gregor.worker.borders.services import Services
from gregor.worker.compose import network
from gregor.worker.compose.engine import OpenEngine
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.compose.known_ranks import kept_up, ranking
from gregor.worker.compose.process import SystemClock, tokens_are_there, worker_name
from gregor.worker.config.credentials import authorizations
from gregor.worker.config.settings import Config
from gregor.worker.extract.crawled import Extraction
from gregor.worker.links.configured import scope_rules, urls_of
from gregor.worker.links.scope import Scope
from gregor.worker.observe import logging
from gregor.worker.observe.stats import Stats
from gregor.worker.run.runtime import Runtime


class WorkerParts:
    """Made before an engine is opened: what cannot be used is told before anything is touched."""

    def __init__(
        self,
        config: Config,
        stack: AsyncExitStack,
        tell: Callable[[str], None],
        authorized: Mapping[str, str] | None = None,
        extraction: Extraction | None = None,
    ) -> None:
        """They are closed with ``stack``; ``extraction``: None for what ``config`` says. Raises `BadInput`."""
        table, self._rules, self.clock = network.host_table(config), scope_rules(config), SystemClock()
        self._config = config
        self._extraction, self._ranks = ranking(extraction_of(config) if extraction is None else extraction)
        self._cookies = network.cookies(config, tell)
        self._secrets = authorizations(config, os.environ) | dict(authorized or {})
        self.name = worker_name()
        logging.identify(config.crawl, self.name)
        tokens_are_there(config)
        self._tracer = network.tracer(config, self.name)
        if self._tracer is not None:
            stack.push_async_callback(self._tracer.close)
        self.stats = Stats()
        self._transport = network.transport(config, table, self.stats)
        stack.push_async_callback(self._transport.close)
        self._resolver = network.resolver(config, table, self.clock.monotonic, self.stats)

    async def ranked(self, engine: OpenEngine, stack: AsyncExitStack) -> None:
        """Order visits by the ranks of the crawl's index, and by its topic, until ``stack`` is closed."""
        await stack.enter_async_context(kept_up(self._ranks, engine))
        if self._extraction.topic is not None:
            from gregor.worker.compose.topics import examples_learnt  # heavy, and most crawls have no topic

            await stack.enter_async_context(examples_learnt(self._extraction.topic, engine.store))

    def scope(self, hosts: list[str]) -> Scope:
        """The scope of a crawl whose seeds are on these hosts."""
        return Scope(self._rules, hosts)

    def runtime(self, engine: OpenEngine, hosts: list[str], counters: CountedTogether | None = None) -> Runtime:
        """The worker. ``hosts``: those of the seeds."""
        borders = engine.log, engine.seen, engine.store, engine.coordinator
        services = Services(*borders, self._transport, self._resolver, engine.addresses, engine.settler, counters)
        return Runtime(
            self._config,
            services,
            self.clock,
            urls=urls_of(self._config),
            scope=self.scope(hosts),
            random=random.Random(),
            name=self.name,
            stats=self.stats,
            authorizations=self._secrets,
            cookies=self._cookies,
            tracer=self._tracer,
            extraction=self._extraction,
        )
