"""Crawls a recorded web and compares the result with its truth.json.

`python -m tests.web.realweb FOLDER PROFILE [--sites ant,flink] [--charset] [--work FOLDER]`: the last line of output is
one JSON object {"profile", "pages", "links", "duplicate_groups", "differences"}, under `sitemaps` with the number of
"sitemaps" read; the first differences go to standard error; the exit code is 1 if there are any.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tests.web import crawler, truth, warc_server

_POLITE = {"nofollow": "on", "meta_refresh": "on", "frames": "on", "canonical_links": "on"}
PROFILES: dict[str, dict[str, Any]] = {
    "plain": {"nofollow": "off", "meta_refresh": "off", "frames": "off", "canonical_links": "off"},
    "polite": _POLITE,
    "sitemaps": _POLITE | {"sitemaps": "on"},
}
"""The rules of truth.json as options. Under `plain` no robots.txt is served, so that obeying it changes nothing.

`sitemaps` has no truth of its own: what `polite` reaches and the recorded pages that the recorded sitemaps name.
"""

COMMON: dict[str, Any] = {
    "scope": "host",
    "delay": 0,
    "delay_factor": 0,
    "max_crawl_delay": 0,
    "max_body": 64 << 20,
    "sitemaps": "off",
}
SHOWN = 50
LIMIT_SECONDS = 3600.0
NOT_PAGES = ("extras.warc.gz", "recaptures.warc.gz")


def page_files(folder: Path, sites: Sequence[str]) -> list[Path]:
    """The WARC files of the named sites, or all. Raises SystemExit for a site that isn't there."""
    if not sites:
        return sorted(path for path in folder.glob("*.warc.gz") if path.name not in NOT_PAGES)
    files = [folder / f"site-{site}.warc.gz" for site in sites]
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        raise SystemExit(f"realweb: {folder} has no {', '.join(missing)}")
    return files


def seeds(folder: Path, files: Sequence[Path]) -> list[str]:
    """The start pages that lie in the given files."""
    names = {path.name for path in files}
    there = {entry.url for entry in truth.recorded(folder) if entry.file in names}
    return [url for url in (folder / "seeds.txt").read_text().split() if url in there]


def crawl(folder: Path, profile: str, files: Sequence[Path], work: Path) -> truth.Found:
    """Serves the files, crawls them from their start pages under the profile, and reads what was stored."""
    extras = [] if profile == "plain" else [folder / NOT_PAGES[0]]
    start = work / "seeds.txt"
    start.write_text("\n".join(seeds(folder, files)) + "\n")
    data = work / "data"
    with warc_server.serving([*files, *extras], work) as web:
        line = ["--seeds", str(start), "--host-table", str(web.host_table), "--ca-file", str(web.ca)]
        ended = crawler.crawl([*line, *crawler.arguments(COMMON | PROFILES[profile])], data, LIMIT_SECONDS)
    if ended.status != 0:
        raise SystemExit(f"realweb: the crawl ended with status {ended.status}:\n{ended.said()[-4000:]}")
    print(f"crawled {len(files)} files in {ended.seconds:.1f} s, {ended.rss_mb:.0f} MiB", file=sys.stderr)
    known = frozenset(entry.url for entry in truth.recorded(folder))
    return truth.read(crawler.pages(data), known)


def compare(
    folder: Path, profile: str, sites: Sequence[str], work: Path, charsets: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Crawls and compares. Returns the report and the differences, one line each."""
    files = page_files(folder, sites)
    sitemaps = truth.sitemaps(folder / NOT_PAGES[0]) if profile == "sitemaps" else {}
    named = frozenset(chain.from_iterable(sitemaps.values()))
    rules = "polite" if profile == "sitemaps" else profile
    want = truth.expected(folder, rules, [path.name for path in files], named)
    have = crawl(folder, profile, files, work)
    read = have.without(sitemaps)
    different = list(truth.differences(want, have, charsets))
    report = {
        "profile": profile,
        "pages": {"expected": len(want.sha256), "found": len(have.sha256)},
        "links": {"expected": sum(want.links.values()), "found": sum(have.links.values())},
        "duplicate_groups": {
            "expected": len(truth.groups(want.sha256)),
            "found": len(truth.groups(have.sha256)),
        },
        "differences": len(different),
    }
    if profile == "sitemaps":
        report["sitemaps"] = len(read)
    return report, different


def main() -> int:
    parser = argparse.ArgumentParser(description="Crawl a recorded web and compare with its truth.json.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("profile", choices=sorted(PROFILES))
    parser.add_argument("--sites", default="", help="only these sites, e.g. ant,flink")
    parser.add_argument("--charset", action="store_true", help="compare the encodings too")
    parser.add_argument("--work", type=Path, help="keep the crawl's files in this new folder")
    options = parser.parse_args()
    if not (options.folder / "truth.json").is_file():
        parser.error(f"{options.folder} holds no truth.json: name the folder of a recorded web")
    work = options.work or Path(tempfile.mkdtemp(prefix="realweb-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        sites = [site for site in options.sites.split(",") if site]
        report, different = compare(options.folder, options.profile, sites, work, options.charset)
    finally:
        if not options.work:
            shutil.rmtree(work)
    for line in islice(different, SHOWN):
        print(line, file=sys.stderr)
    print(json.dumps(report))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
