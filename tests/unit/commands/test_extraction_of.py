"""What a configuration extracts: rules and plug-ins of all kinds, and what of them does not go together."""

from pathlib import Path

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.config.settings import Config, replace
from gregor.worker.read.document import Document
from gregor.worker.read.processors import installed

CODE = """
from gregor.processing import Document, Extract

class Subtitles:
    types = ("text/vtt",)
    def process(self, document: Document) -> Extract:
        return Extract(text="read")

class Again:
    types = ("text/vtt",)
    def process(self, document):
        return None

class job:
    def extract(self, document):
        return []
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    (tmp_path / "rules.toml").write_text('[[item]]\nname = "job"\n[item.fields]\na = "h1"\n')
    return tmp_path


def config(folder: Path, *plugins: str, rules: tuple[str, ...] = ()) -> Config:
    named = [f"{folder / 'mine.py'}:{name}" for name in plugins]
    return replace(Config(), plugins=named, rules=[str(folder / name) for name in rules])


def test_a_processor_of_a_file_reads_its_type_and_is_nobody_elses(folder: Path) -> None:
    registry = extraction_of(config(folder, "Subtitles")).processors
    document = Document("http://a/x", b"x", "text/vtt")
    assert registry is not None and registry.process(document).text == "read"
    assert installed().process(document).text == "x"
    assert extraction_of(config(folder)).processors is None


def test_nothing_is_extracted_where_nothing_is_named(folder: Path) -> None:
    assert not extraction_of(config(folder))
    assert extraction_of(config(folder, rules=("rules.toml",))).names == ["job"]


@pytest.mark.parametrize(
    ("plugins", "said"),
    [
        (("Subtitles", "Again"), r"mine.py:Again, line \d+: text/vtt is claimed by two processors"),
        (("job",), "there is a rule 'job', and an extractor of that name"),
        (("job", "job"), "mine.py:job, line 14: there are two extractors of the name 'job': see plug-in "),
    ],
)
def test_what_does_not_go_together(folder: Path, plugins: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        extraction_of(config(folder, *plugins, rules=("rules.toml",)))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("class P:\n    def extract(self, d) return 1", "P, line 2 cannot be loaded: SyntaxError"),
        ("x = 1\nimport nothere", "P, line 2 cannot be loaded: ModuleNotFoundError"),
        ("\n\nclass P:\n    def __init__(self, a): ...", "P, line 3 cannot be loaded: TypeError: P.__init__"),
        ("class P:\n    def __init__(self):\n        1 / 0", "P, line 3 cannot be loaded: ZeroDivisionError"),
        (
            "x = 1\nclass Q: ...\nclass R: ...",
            r"P cannot be loaded: .*it has no P; there are Q \(line 2\), R \(line 3\)$",
        ),
        ("P = None\nP = 5\nx = 7", r"P, line 2: int is none: it has extract\(document\)"),
        ("import json as P", r"P, line 1: module is none"),
        ("\nclass P:\n    match = 5\n    def extract(self, d): ...", "P, line 2: match wants a text, or several"),
        ("\nclass P:\n    match = 're:('\n    def extract(self, d): ...", r"P, line 2: match: pattern 're:\('"),
        ("class P:\n    name = ' '\n    def extract(self, d): ...", "P, line 1: name wants a text"),
        (
            "class P:\n    id = property(lambda _: 1 / 0)\n    def extract(self, d): ...",
            "P, line 1: id: ZeroDivisionError",
        ),
        (
            "class P:\n    types = property(lambda _: 1 / 0)\n    def process(self, d): ...",
            "P, line 1: it: ZeroDivisionError",
        ),
        (
            "class P:\n    types = 'text/vtt'\n    def process(self, d): ...",
            "P, line 1: types wants a tuple of media types",
        ),
        ("class P:\n    types = ('Text/VTT',)\n    def process(self, d): ...", "P, line 1: types wants a tuple of"),
        ("class P:\n    types = ()\n    def process(self, d): ...", "P, line 1: types wants a tuple of"),
        ("x = 1\n\0", "P, line 2 cannot be loaded: SyntaxError"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line(tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(code)
    with pytest.raises(BadInput, match=said):
        extraction_of(config(tmp_path, "P"))
