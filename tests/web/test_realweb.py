"""Four sites of the recorded web, crawled whole: what is stored equals their truth.json."""

from pathlib import Path

import pytest

from tests.web import realweb
from tests.web.shared import SHARED, needs

SITES = ("ant", "flink", "sakura", "glref")


@needs("realweb/truth.json")
@pytest.mark.parametrize("profile", sorted(realweb.PROFILES))
def test_recorded_sites_equal_their_truth(profile: str, tmp_path: Path) -> None:
    report, different = realweb.compare(SHARED / "realweb", profile, SITES, tmp_path)
    assert not different, "\n".join(different[: realweb.SHOWN])
    assert report["pages"]["found"] == report["pages"]["expected"]
    assert bool(report.get("sitemaps")) == (profile == "sitemaps")
