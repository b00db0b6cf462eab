"""What a crawl that was not begun would find: its seeds and the sitemaps of their hosts are asked, and nothing more."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from gregor.schemas.messages import KEPT
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config, replace
from gregor.worker.extract.crawled import Extraction
from gregor.worker.extract.judges import Judges
from gregor.worker.inspect import unfetched
from gregor.worker.links.found_link import FoundLink
from gregor.worker.operate.seeds import Seed

if TYPE_CHECKING:
    from gregor.worker.inspect.forecast_data import SoFar

_ONLY_LOOKS: Final[dict[str, object]] = {
    "engine": "embedded",
    "sitemaps": True,
    "listen": "",
    "linger": False,
    "requisites": False,
    "revisit": None,
    "max_pages": None,
    "max_bytes": None,
    "max_pages_per_run": None,
    "max_depth": None,
    "ordering": "depth",
    "rules": (),
    "plugins": (),
    "trace_endpoint": "",
}
"""Settings of a crawl that only looks."""


class Census(NamedTuple):
    """What a look came to, beside what it told of URLs: the hosts of which no sitemap lists anything, and why none of
    the seeds could be read, if so."""

    bare: list[str]
    failure: str = ""


class _Counted:
    """Counts what would be followed, and follows redirects alone."""

    def __init__(self, so_far: "SoFar") -> None:
        self._so_far = so_far
        self.listed: Counter[str] = Counter()
        """URLs that sitemaps list, by host."""

    def follow(self, link: FoundLink) -> bool:
        if link.kind == "redirect":
            return True
        if link.kind == "url":
            self.listed[link.host] += 1
        self._so_far.waits(link.key, link.host)
        return False


async def census(
    config: Config, seeds: Iterable[Seed], so_far: "SoFar", longest: float, authorized: Mapping[str, str]
) -> Census:
    """Tell ``so_far`` what there is; for ``longest`` seconds at most. ``seeds`` are asked for more than once."""
    from gregor.worker.compose import worker as composition

    counted = _Counted(so_far)
    extraction = Extraction(judges=Judges(filters={"census": counted}))
    bare, came = list[str](), False
    with tempfile.TemporaryDirectory(prefix="gregor-census-") as folder:
        looking = replace(config, **_ONLY_LOOKS, data=folder, max_time=longest)
        await composition.crawl(looking, seeds, lambda _: None, authorized=authorized, extraction=extraction)
        reader, _ = await engine_of(looking).read()
        try:
            async for row in reader.rows(None, None):
                if row.link != "sitemap":
                    so_far.visited(row)
                    came = came or row.state in KEPT
                    if row.state in KEPT and not counted.listed[row.host]:
                        bare.append(row.host)
            failure = await unfetched.why_no_seed(reader, (seed.url for seed in seeds), hints=False)
            if not failure and not came:
                failure = await unfetched.why_not_yet(reader, (seed.url for seed in seeds))
        finally:
            await reader.close()
    return Census(sorted(set(bare)), failure)
