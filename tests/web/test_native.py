"""What the native core makes of the texts of published cases and of the recorded web is what Python makes of them."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from shutil import which
from typing import Final

import msgspec
import pytest

from gregor.worker.demo import warc
from gregor.worker.read import native
from gregor.worker.read.document import Document
from gregor.worker.read.html import parse
from gregor.worker.read.html.natively import NativeAttempt
from gregor.worker.read.processors import Processors
from gregor.worker.read.read import read
from tests.web import fuzz_inputs, markup
from tests.web.shared import SHARED, needs

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = Processors()
FILES: Final = ("site-ant.warc.gz", "site-sakura.warc.gz", "web-02.warc.gz")
PAGES: Final = int(os.environ.get("GREGOR_TEST_NATIVE_PAGES", "1000"))
"""Generated ones; 300,000 in a long run."""
SEED: Final = 1
STEP: Final = 12
"""Of the recorded pages every so-manieth."""


@pytest.fixture
def natively() -> Processors:
    core = native.core()
    if core is None:
        pytest.skip(f"{native.why_not()} (make native)")
    return Processors().natively(core)


def equal(document: Document, natively: Processors) -> str:
    """Which way it was read."""
    reading = read(natively, document, False)
    said = msgspec.structs.replace(reading, way="")
    assert said == msgspec.structs.replace(read(PYTHON, document, False), way=""), document.read()[:1000]
    return reading.way


def texts(value: object) -> Iterator[str]:
    """All texts that are anywhere in a case."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        yield from chain.from_iterable(map(texts, value.values() if isinstance(value, dict) else value))


@needs("conformance")
def test_published_cases_are_read_alike(natively: Processors) -> None:
    files = [*SHARED.glob("conformance/*/*.jsonl"), *SHARED.glob("cases/*.jsonl")]
    lines = (line for file in files for line in file.read_text(errors="replace").split("\n"))
    every = {text for line in lines if line.startswith("{") for text in texts(json.loads(line))}
    for text in sorted(every):
        document = Document("http://a.example/", text.encode("utf-8", "surrogatepass"), "text/html; charset=utf-8")
        equal(document, natively)


@needs("realweb/truth.json")
def test_recorded_pages_are_read_alike(natively: Processors) -> None:
    records = warc.index(SHARED / "realweb" / name for name in FILES)
    ways: Counter[str] = Counter()
    for url, record in islice(sorted(records.items()), 0, None, STEP):
        response = warc.load(record)
        kinds = (line.partition(b":")[2] for line in response.headers if line.lower().startswith(b"content-type:"))
        header = next(kinds, b"").strip().decode("latin-1") or None
        document = Document(url, response.body, header)
        way = equal(document, natively)
        if document.content_type in ("text/html", "application/xhtml+xml"):
            ways[way] += 1
    assert ways["native"] >= 0.95 * ways.total(), ways


@pytest.mark.parametrize("most", [100_000, 5])
def test_generated_pages_are_read_alike(natively: Processors, most: int) -> None:
    assert natively.core is not None
    for number in range(PAGES // 2):
        for page in (markup.page(SEED, number), fuzz_inputs.make("html", SEED, number).decode("utf-8", "replace")):
            keeping = Document("http://a.example/", b"", "text/html")
            said, kept = (
                parse.extract(page, max_links=most, attempt=NativeAttempt(natively.core), kept_in=document)
                for document in (None, keeping)
            )
            assert said == kept == parse.extract(page, max_links=most), (number, page)


def test_the_core_survives_generated_inputs_under_sanitizers() -> None:
    compiler = os.environ.get("CXX", "g++")
    if which(compiler) is None:
        pytest.skip(f"{compiler} is not there")
    inputs = os.environ.get("GREGOR_TEST_NATIVE_INPUTS", "3000")
    line = (ROOT / "native/fuzz/run.sh", sys.executable, inputs)
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == f"{inputs} inputs\n"
