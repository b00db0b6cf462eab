"""How often the detected language is the one that a page says itself, and what detecting costs, on the recorded web.

`python -m benchmarks.language [--web ../shared/realweb] [--pages 150]`. Of each site so many pages of HTML that
say their language and have text enough to be asked; processor time of detecting alone.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.measure import ROOT, Figure, Figures, report
from gregor.worker.demo import warc
from gregor.worker.read import languages
from gregor.worker.read.document import Document
from gregor.worker.read.processors import ProcessorError, process
from tests.search.recorded_web import page_files

WEB = ROOT.parent / "shared" / "realweb"


def measured(web: Path = WEB, pages: int = 150) -> Figures:
    """Pages, the share of them of which both say the same, that of which nothing is said, and microseconds a page."""
    if not web.is_dir():
        print(f"languages are not measured: {web} is missing", file=sys.stderr)
        return {}
    count = same = silent = 0
    spent = 0.0
    for said, text, media_type in (page for file in page_files(web) for page in islice(declaring(file), pages)):
        started = time.process_time()
        detected = languages.detected(text, media_type)
        spent += time.process_time() - started
        count, same, silent = count + 1, same + (detected == said), silent + (not detected)
    return {
        "language.pages": Figure(count, "pages"),
        "language.same": Figure(round(same / count, 3), "of them"),
        "language.silent": Figure(round(silent / count, 3), "of them"),
        "language.cost": Figure(round(1e6 * spent / count, 1), "µs a page"),
    }


def declaring(file: Path) -> Iterator[tuple[str, str, str]]:
    """The pages of a file that say their language: what they say, their text, their media type."""
    for address, record in warc.index([file]).items():
        answer = warc.load(record)
        fields = {name.strip().lower(): value.strip() for name, _, value in map(_halves, answer.headers)}
        media_type = fields.get("content-type", "")
        if answer.status != 200 or "html" not in media_type:
            continue
        try:
            extract = process(Document(address, answer.body, media_type))
        except ProcessorError:
            continue
        said = languages.declared(extract.lang, fields.get("content-language"))
        if said and len(extract.text) >= languages.LEAST:
            yield said.lower().replace("_", "-").partition("-")[0], extract.text, media_type


def _halves(line: bytes) -> tuple[str, str, str]:
    return line.decode("latin-1").partition(":")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--web", type=Path, default=WEB)
    parser.add_argument("--pages", type=int, default=150, help="of each site")
    options = parser.parse_args()
    report(measured(options.web, options.pages))


if __name__ == "__main__":
    main()
