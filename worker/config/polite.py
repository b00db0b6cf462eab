"""The settings of politeness: a part of the crawl's settings. Times are seconds."""

from typing import Annotated, Literal

from msgspec import Meta

from gregor.worker.config.api import Api
from gregor.worker.config.times import SECONDS


class Polite(Api, frozen=True, kw_only=True):
    """How often hosts and addresses are asked, and what their robots.txt may say."""

    delay: Annotated[
        float, SECONDS, Meta(ge=0, le=31_536_000, description="between the starts of two requests to one host")
    ] = 1.0
    delay_factor: Annotated[
        float, Meta(ge=0, le=31_536_000, description="a host also waits so often its last latency; 0: off")
    ] = 1.0
    max_crawl_delay: Annotated[
        float, SECONDS, Meta(ge=0, le=31_536_000, description="the longest crawl-delay of a robots.txt obeyed")
    ] = 60.0
    first_contact_delay: (
        Annotated[float, SECONDS, Meta(ge=0, le=31_536_000, description="wait before a new host; none: delay")] | None
    ) = None
    robots: Annotated[Literal["obey", "ignore"], Meta(description="robots.txt; ignore only what is yours")] = "obey"
    robots_ttl: Annotated[
        float, SECONDS, Meta(gt=0, le=86400, description="longest life of a robots.txt read (RFC 9309)")
    ] = 86400.0
    robots_redirects: Annotated[int, Meta(ge=0, le=20, description="redirects of a robots.txt followed")] = 5
    robots_answer: Annotated[
        float,
        SECONDS,
        Meta(
            gt=0, le=31_536_000, description="first wait for a robots.txt that another host answers; 6 waits, doubling"
        ),
    ] = 60.0
    max_robots: Annotated[int, Meta(ge=512000, description="bytes read of a robots.txt (RFC 9309: 500 KiB)")] = 524288
    concurrency: Annotated[int, Meta(ge=1, le=10000, description="requests at once in all")] = 64
    per_address: (
        Annotated[int, Meta(ge=1, description="requests at once to one IP address, of all workers together")] | None
    ) = None
    per_address_delay: (
        Annotated[
            float,
            SECONDS,
            Meta(
                ge=0,
                le=31_536_000,
                description="between the starts of two requests to one IP address, whatever the hosts and of all "
                "workers together; none: 0.05, or a tenth of the host's `delay` if that is less; 0: off",
            ),
        ]
        | None
    ) = None
