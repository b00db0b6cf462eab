"""What is public: the names that a plug-in imports, and the first import of a checkout."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gregor.processing
from gregor.processing import (
    GROUP,
    MAX_LINKS,
    BroughtPage,
    Document,
    Drop,
    Extract,
    Extractor,
    Filter,
    FoundLink,
    Item,
    Learns,
    OrderPolicy,
    PageFilter,
    Pipeline,
    Processor,
    ProcessorError,
    Reference,
    Scorer,
    decoded,
    process,
)

ROOT = Path(__file__).parents[2]


def test_a_processor_needs_no_other_import() -> None:
    class Shouting:
        types = ("text/x-shouting",)

        def process(self, document: Document) -> Extract | None:
            text, encoding = decoded(document)
            links = [Reference(word, "a") for word in text.split() if word.startswith("/")]
            return Extract(text=text.lower(), encoding=encoding, links=links[:MAX_LINKS])

    assert isinstance(Shouting(), Processor)
    extract = Shouting().process(Document("http://a/x", "GRÜN /weiter".encode(), "text/x-shouting;charset=utf-8"))
    assert extract == Extract(text="grün /weiter", encoding="utf-8", links=[Reference("/weiter", "a")])


def test_a_document_is_read_as_the_crawl_reads_it() -> None:
    extract = process(Document("http://a/x", b"<title>T</title><a href=/b>c</a>", "text/html"))
    assert (extract.title, extract.links) == ("T", [Reference("/b", "a", text="c")])
    assert issubclass(ProcessorError, Exception)


def test_an_extractor_and_a_pipeline_need_no_other_import() -> None:
    class Words:
        def extract(self, document: Document) -> list[dict[str, str]]:
            return [{"word": word} for word in decoded(document)[0].split()]

    class Short:
        def process(self, item: Item) -> Item | None:
            if len(item.fields["word"]) > 3:
                raise Drop("it is long")
            return Item(item.rule, item.item, {"short": item.fields["word"]})

    assert isinstance(Words(), Extractor)
    assert isinstance(Short(), Pipeline)
    (fields,) = Words().extract(Document("http://a/x", b"abc", "text/plain"))
    assert Short().process(Item("words", "word", fields)) == Item("words", "word", {"short": "abc"})


def test_filters_and_scorers() -> None:
    class Judge:
        def follow(self, link: FoundLink) -> bool:
            return link.kind == "a"

        def keep(self, document: Document, extract: Extract) -> bool:
            return bool(extract.text) and document.size > 0

        def score(self, link: FoundLink) -> float | None:
            return 1.0 if link.depth < 2 else None

    assert all(isinstance(Judge(), face) for face in (Filter, PageFilter, Scorer))
    link = FoundLink("http://a/x", "http://a/x", "a", "a", "text", False, "http://a/", 1, "")
    assert (Judge().follow(link), Judge().score(link)) == (True, 1.0)
    assert Judge().keep(Document("http://a/x", b"abc", "text/plain"), Extract(text="abc"))


def test_a_policy_of_the_order() -> None:
    class Near:
        def learn(self, page: BroughtPage) -> None:
            self.last = page.url

        def worth(self, link: FoundLink, page: BroughtPage) -> float:
            return page.worth / link.depth

    assert all(isinstance(Near(), face) for face in (OrderPolicy, Learns))
    page = BroughtPage("http://a/", "http://a/", "a", 0, "", 1.0, 1, "title", "text")
    link = FoundLink("http://a/x", "http://a/x", "a", "a", "text", False, "http://a/", 2, "")
    Near().learn(page)
    assert Near().worth(link, page) == 0.5


def test_every_public_name_is_tried_here() -> None:
    here = {name for name, value in globals().items() if value is getattr(gregor.processing, name, None)}
    assert here >= set(gregor.processing.__all__)


def test_the_docs_name_the_public_face_alone() -> None:
    page = (ROOT / "docs" / "processors.md").read_text()
    assert set(re.findall(r"gregor\.[a-z_.]+", page)) == {"gregor.processing", GROUP}
    both = page + (ROOT / "docs" / "plugins.md").read_text()
    assert not [name for name in gregor.processing.__all__ if not name.isupper() and name not in both]


def _run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of what the first import reads, with links as git has them."""
    origin = tmp_path / "origin"
    for layer in ("worker", "search", "partitioner", "schemas"):
        (origin / layer).mkdir(parents=True)
        shutil.copy(ROOT / layer / "__init__.py", origin / layer)
    shutil.copytree(ROOT / "gregor", origin / "gregor", symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "all")):
        assert _run(origin, "git", *command).returncode == 0
    cloned = _run(tmp_path, "git", "clone", "-q", "-c", "core.symlinks=false", "origin", "checkout")
    assert cloned.returncode == 0, cloned.stderr
    return tmp_path / "checkout"


@pytest.mark.parametrize(
    "command",
    [
        ("-c", "import gregor.worker"),
        ("-c", "from gregor.worker.commands.cli import main"),
        ("-c", "import gregor.processing"),
        ("-m", "gregor.worker.demo"),
    ],
)
def test_a_checkout_without_links_says_what_to_do(checkout: Path, command: tuple[str, ...]) -> None:
    assert (checkout / "gregor" / "worker").read_text() == "../worker"
    tried = _run(checkout, sys.executable, *command)
    assert tried.returncode == 1
    (line,) = tried.stderr.splitlines()
    assert "ImportError" in line and str(checkout / "gregor" / "worker") in line
    advised = re.findall(r"`(.*?)`", line)
    assert len(advised) == 2
    for advice in advised:
        mended = _run(checkout, *advice.split())
        assert mended.returncode == 0, mended.stderr
    assert _run(checkout, sys.executable, "-c", "import gregor.worker, gregor.partitioner").returncode == 0
