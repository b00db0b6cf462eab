"""Crawls the bundled web: `python -m gregor.worker.demo [option of gregor crawl …]`."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gregor.worker import cli
from gregor.worker.demo.server import serving


def main(options: Sequence[str]) -> int:
    """Serves and crawls into a fresh folder, and says how to read it; returns the exit code of the crawl.

    The web is its own, so a quarter of a second between requests is polite; one of its hosts asks for more.
    """
    folder = Path(tempfile.mkdtemp(prefix="gregor-demo-"))
    table, data = folder / "hosts.table", folder / "data"
    with serving() as web:
        table.write_text("".join(f"{line}\n" for line in web.host_table_lines))
        line = ["crawl", *web.seeds, "--host-table", str(table), "--scope", "any", "--delay", "0.25"]
        code = cli.main([*line, "--set", "sitemaps=on", "--data", str(data), *options])
    print(f"\nRead what was crawled: gregor pages --data {data}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
