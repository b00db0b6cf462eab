"""What rules, extractors and pipelines make of a page as it is crawled."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gregor.schemas.messages import Page
from gregor.worker.base.errors import BadInput
from gregor.worker.extract import plugins, rules
from gregor.worker.extract.crawled import Extracted, Extraction
from gregor.worker.extract.model import Drop, Item
from gregor.worker.read.document import Document
from gregor.worker.read.processors import process
from gregor.worker.web.urls import Urls

URL = "https://shop.example/a/1"
HTML = "<title>t</title><h1>one</h1><ul><li data-id=1>a<li data-id=2>b</ul><nav><a href=/n>n</a></nav><a href=/m>m</a>"
RULES = """
[[item]]
name = "page"
match = "https://shop.example/*"
id = "title"
[item.fields]
title = {css = "h1", required = true}
price = ".price"

[[item]]
name = "row"
each = "li"
id = ["n"]
[item.fields]
n = {css = "::attr(data-id)", type = "int"}
text = {css = "::text", required = true}

[[item]]
name = "other"
match = "https://other.example/*"
[item.fields]
x = "h1"
"""


def extraction(folder: Path, text: str = RULES, *named: str) -> Extraction:
    (folder / "rules.toml").write_text(text)
    loaded = plugins.load(named, ())
    return Extraction(*rules.read_all([folder / "rules.toml"]), loaded.extractors, loaded.pipelines)


def extracted(what: Extraction, html: str = HTML, url: str = URL, media: str = "text/html") -> Extracted:
    document, parsed = Document(url, html.encode(), media), Urls().parse(url)
    assert parsed is not None
    document.keeps_tree = True
    said = process(document)
    page = Page(parsed.key, url, parsed.host, 1, "new", 200, 1.0, content_type=media, title=said.title, text=said.text)
    return what.of(page, parsed, document)


def told(what: Extracted) -> list[tuple[str, Any]]:
    return [(item.rule, json.loads(item.fields)) for item in what.items]


def test_items_of_a_page_and_which_fields_had_a_value(tmp_path: Path) -> None:
    what = extraction(tmp_path)
    made = extracted(what)
    assert told(made) == [
        ("page", {"title": "one", "price": None}), ("row", {"n": 1, "text": "a"}), ("row", {"n": 2, "text": "b"}),
    ]  # fmt: skip
    assert [item.id for item in made.items] == ['["one"]', "[1]", "[2]"]
    assert made.asked == {"page": False, "row": False}
    assert made.values == {
        ("page", ""): True, ("page", "title"): True, ("page", "price"): False,
        ("row", ""): True, ("row", "n"): True, ("row", "text"): True,
    }  # fmt: skip
    assert {item.version for item in made.items} == {rule.version for rule in what.rules[:2]}
    assert not what.wants(Urls().parse("https://third.example/") or pytest.fail()) or what.rules[1].match is None


def test_a_required_field_that_is_not_there_costs_the_item_and_says_which(tmp_path: Path) -> None:
    made = extracted(extraction(tmp_path), "<h2>no</h2>")
    assert told(made) == []
    assert made.asked == {"page": True, "row": False}
    assert made.values == {
        ("page", ""): False, ("page", "title"): False, ("row", ""): False, ("row", "n"): False, ("row", "text"): False,
    }  # fmt: skip
    assert [(loss.rule, loss.cause) for loss in made.losses] == [("page", "title is missing")]


def test_no_document_of_another_type_is_looked_at(tmp_path: Path) -> None:
    made = extracted(extraction(tmp_path), media="image/png")
    assert (made.items, made.values, made.asked) == ([], {}, {})


def test_the_tree_is_the_one_that_was_parsed_anyway(tmp_path: Path) -> None:
    document = Document(URL, HTML.encode(), "text/html")
    process(document)
    assert document.tree is None
    document.keeps_tree = True
    process(document)
    assert document.tree is not None


def test_another_text_of_a_rule_is_another_version_and_another_layout_is_none(tmp_path: Path) -> None:
    versions = {
        extraction(tmp_path, text).rules[0].version
        for text in (RULES, RULES.replace("\n\n", "\n# \n\n"), RULES.replace('".price"', '".cost"'))
    }
    assert len(versions) == 2
    assert all(len(version) == 12 for version in versions)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('id = "x"\n[item.fields]\na = "h1"', "line 4: id = 'x' is no field; allowed: a"),
        ('id = []\n[item.fields]\na = "h1"', "line 4: id wants the name of a field"),
        ('[item.fields]\na = "h1"\n[[links]]\nselect = "a"', "line 6: a rule for links says priority = 1 to 4, or"),
        ('[item.fields]\na = "h1"\n[[links]]\nselect = "a"\npriority = 5', "line 8: priority wants 1 (the highest) to"),
        ('[item.fields]\na = "h1"\n[[links]]\npriority = 1', "which of their links (select)"),
        ('[item.fields]\na = "h1"\n[[links]]\nselect = "a"\nfollow = "no"', "line 8: follow wants true or false"),
        ('[item.fields]\na = "h1"\n[[links]]\nselect = ">>"\nfollow = false', "is no CSS selector"),
        ('[item.fields]\na = "h1"\n[[links]]\nselct = "a"\nfollow = false', "did you mean select?"),
        ('[item.fields]\na = "h1"\n[[links]]\nname = "x"\nselect = "a"\nfollow = false', "there is a rule 'x' already"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        extraction(tmp_path, f'\n[[item]]\nname = "x"\n{text}\n')
    assert said in str(error.value)
    assert "rules.toml, line" in str(error.value)


LINKS = """
[[links]]
match = "https://shop.example/*"
select = "nav"
follow = false
[[links]]
name = "best"
select = {xpath = "//a[text()='m']/@href"}
priority = 1
"""


def test_what_rules_say_of_links(tmp_path: Path) -> None:
    made = extracted(extraction(tmp_path, LINKS))
    assert made.links == {"/n": (0, "links: rules.toml, line 2", ""), "/m": (1, "", "links: best")}
    assert not extracted(extraction(tmp_path, LINKS), url="https://other.example/").links.keys() - {"/m"}


@pytest.mark.parametrize(
    ("select", "chosen"),
    [
        ('["nav", "ul"]', {"/n"}),
        ('["nav", "body > a"]', {"/n", "/m"}),
        ('["nav a", {xpath = "//body/a/@href"}]', {"/n", "/m"}),
        ('"nav a, body > a"', {"/n", "/m"}),
        ("""'a[href*="json"], nav'""", {"/n"}),
    ],
)
def test_links_are_chosen_by_one_selector_or_several(select: str, chosen: set[str], tmp_path: Path) -> None:
    made = extracted(extraction(tmp_path, f"[[links]]\nselect = {select}\nfollow = false"))
    assert made.links.keys() == chosen


@pytest.mark.parametrize("select", ["[]", "[1]", '["a", {json = "b"}]', '{json = "b"}', "3"])
def test_what_chooses_no_links_is_refused_with_its_line(select: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"rules\.toml, line 2: select "):
        extraction(tmp_path, f"[[links]]\nselect = {select}\nfollow = false")


CODE = """
from gregor.processing import Drop, Item

class Words:
    name = "words"
    item = "word"
    id = "word"
    match = "https://shop.example/*"
    def extract(self, document):
        for word in document.read().decode().split():
            yield {"word": word}

class Fails:
    def extract(self, document):
        yield {"a": 1}
        raise ValueError("no")

class Shop:
    required = ("price",)
    def extract(self, document):
        import json
        return json.loads(document.read())

class Checks:
    def process(self, item):
        if item.fields.get("n") == 1:
            raise Drop("it is the first")
        if item.fields.get("n") == 2:
            return None
        if item.rule == "broken":
            return {"a": 1}
        return Item(item.rule, item.item, {**item.fields, "checked": True})

class Nothing:
    pass

class Raises:
    def __init__(self):
        raise RuntimeError("a reason\\nin two lines")
"""


def code(folder: Path, name: str) -> str:
    (folder / "mine.py").write_text(CODE)
    return f"{folder / 'mine.py'}:{name}"


def test_an_extractor_makes_items_and_its_failure_costs_no_others(tmp_path: Path) -> None:
    what = extraction(tmp_path, RULES, code(tmp_path, "Words"), code(tmp_path, "Fails"))
    made = extracted(what, "a b", media="text/plain")
    assert told(made) == [("words", {"word": "a"}), ("words", {"word": "b"}), ("Fails", {"a": 1})]
    assert [item.id for item in made.items] == ['["a"]', '["b"]', ""]
    assert made.asked == {"page": True, "row": False, "words": False, "Fails": True}
    assert ("Fails", "the extractor failed: ValueError") in [(loss.rule, loss.cause) for loss in made.losses]


def test_what_an_extractor_gave_is_told_of_by_field(tmp_path: Path) -> None:
    what = extraction(tmp_path, RULES, code(tmp_path, "Shop"))

    def values(body: str) -> tuple[dict[str, bool], bool, list[str]]:
        made = extracted(what, body, media="application/json")
        fields = {field: has_value for (rule, field), has_value in made.values.items() if rule == "Shop"}
        assert {field for rule, field in made.required if rule == "Shop"} == {"", "price"}
        return fields, "Shop" in made.open, [loss.cause for loss in made.losses if loss.rule == "Shop"]

    assert values('[{"price": 1, "size": null}, {"price": 2}]') == ({"": True, "price": True, "size": False}, True, [])
    assert values('[{"size": 3}]') == ({"": False, "price": False}, False, ["price is missing"])
    assert values("[]") == ({"": False}, False, [])
    assert values("no") == ({"": False}, False, ["the extractor failed: JSONDecodeError"])
    many = json.dumps([{"price": 0, **{str(number): 1 for number in range(99)}}])
    assert values(many)[0].keys() == {"", "price", *map(str, range(49))}


def test_a_pipeline_checks_changes_and_drops_with_a_reason(tmp_path: Path) -> None:
    made = extracted(extraction(tmp_path, RULES, code(tmp_path, "Checks")))
    assert told(made) == [("page", {"title": "one", "price": None, "checked": True})]
    assert [(loss.rule, loss.cause) for loss in made.losses] == [
        ("row", "dropped by Checks: it is the first"), ("row", "dropped by Checks"),
    ]  # fmt: skip
    assert made.asked["row"] is False, "what a pipeline does not want is not lost"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("{folder}/none.py:Words", "there is no file"),
        ("{folder}/mine.py", "write FILE.py:CLASS"),
        ("{folder}/mine.py:None1", "it has no None1; there are"),
        ("{folder}/mine.py:Nothing", "Nothing is none: it has extract(document), process(item), follow(link), keep("),
        ("{folder}/mine.py:Raises", "line 39 cannot be loaded: RuntimeError: a reason"),
        ("{folder}/bad.py:Words", "line 2 cannot be loaded: SyntaxError"),
    ],
)
def test_a_plug_in_that_cannot_be_loaded_is_one_line(name: str, said: str, tmp_path: Path) -> None:
    code(tmp_path, "Words")
    (tmp_path / "bad.py").write_text("x = 1\nclass :\n")
    with pytest.raises(BadInput) as error:
        plugins.load([name.format(folder=tmp_path)], ())
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_what_a_pipeline_gives_must_be_an_item() -> None:
    class Odd:
        def process(self, item: Item) -> Any:
            return "x"

    losses: list[Any] = []
    assert plugins.LoadedPipeline("Odd", Odd()).process(Item("r", "i", {}), losses) is None
    assert [loss.cause for loss in losses] == ["Odd gave no item but str"]


@dataclass
class Ratio:
    """A value of a type of one's own."""

    share: float


LOOP: list[Any] = []
LOOP.append(LOOP)
DEEP: dict[str, Any] = {}
for _ in range(5000):
    DEEP = {"x": DEEP}


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (object(), None),
        (LOOP, None),
        (DEEP, None),
        ({(1, 2): 3}, None),
        (float("nan"), None),
        ([{"x": float("-inf")}], None),
        (Ratio(float("nan")), None),
        ("\ud800", ["?"]),
        (["\udc00", 10**30], [["?", 10**30]]),
        ({"_x": 1}, [{"_x": 1}]),
        (date(2026, 11, 30), ["2026-11-30"]),
        ({1: {2}}, None),
        ({"1": {2}}, [{"1": [2]}]),
    ],
)
def test_what_code_of_others_makes_is_kept_as_json_or_costs_its_item(
    value: Any, kept: list[Any] | None, tmp_path: Path
) -> None:
    class Made:
        def extract(self, document: Document) -> Iterable[Any]:
            yield {"a": 1}
            yield {"a": value}

    class Changed:
        def process(self, item: Item) -> Item:
            item.fields["a"] = value
            return item

    extractors = {"Made": plugins.LoadedExtractor("Made", "made", None, (), "", Made())}
    made = extracted(Extraction(extractors=tuple(extractors.values())))
    assert told(made) == [("Made", {"a": 1}), *(("Made", {"a": each}) for each in kept or [])]
    assert [loss.cause.partition(": ")[0] for loss in made.losses] == ([] if kept else ["the extractor failed"])
    losses: list[Any] = []
    passed = plugins.LoadedPipeline("Changed", Changed()).process(Item("r", "i", {}), losses)
    assert ([passed.fields["a"]] if passed else None, len(losses)) == (kept, int(not kept))


@pytest.mark.parametrize(
    ("name", "said"), [("_url", "a field's name begins with _"), (3, "a name in it is no text"), (None, "is no text")]
)
def test_a_field_has_a_name_that_is_not_ours(name: Any, said: str) -> None:
    class Gives:
        def extract(self, document: Document) -> Iterable[Any]:
            yield {name: "fake"}

        def process(self, item: Item) -> Item:
            return Item("other", "o2", {name: "fake"})

    losses: list[Any] = []
    assert plugins.LoadedPipeline("Gives", Gives()).process(Item("r", "i", {}), losses) is None
    items, more = plugins.LoadedExtractor("Gives", "x", None, (), "", Gives()).extract(Document(URL, b"", "text/html"))
    assert items == [] and all(said in loss.cause for loss in (*losses, *more)) and len(losses) == len(more) == 1


@pytest.mark.parametrize(
    "method",
    ["process(self, item)", "extract(self, document)", "follow(self, link)", "keep(self, document, extract)"],
)
def test_code_that_wants_to_be_waited_for_is_refused(method: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"class Waits:\n    async def {method}:\n        return None\n")
    with pytest.raises(BadInput, match=r"mine\.py.*: (\w+) is async, and nobody waits for it: write def \1"):
        plugins.load([f"{tmp_path / 'mine.py'}:Waits"], ())


@pytest.mark.parametrize("names", [(3, "i"), ("r", None), ("\ud800", "i")])
def test_a_pipeline_names_rule_and_item_in_text(names: tuple[Any, Any]) -> None:
    class Renamed:
        def process(self, item: Item) -> Item:
            return Item(*names, {})

    losses: list[Any] = []
    assert plugins.LoadedPipeline("Renamed", Renamed()).process(Item("r", "i", {}), losses) is None and losses


def test_whoever_wants_to_leave_costs_no_more_than_another_failure(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(BadInput, match="line 1 cannot be loaded: SystemExit"):
        plugins.load([f"{tmp_path / 'bad.py'}:Words"], ())

    class Leaves:
        def extract(self, document: Document) -> Iterable[Any]:
            raise SystemExit(3)

    assert plugins.LoadedExtractor("Leaves", "x", None, (), "", Leaves()).extract(Document(URL, b"", "text/html"))[1]


def test_entry_points_are_loaded() -> None:
    class Point:
        name, value = "mine", "mine:Mine"

        def load(self) -> Any:
            class Mine:
                def extract(self, document: Document) -> Iterable[Any]:
                    return []

            return Mine

    loaded = plugins.load((), [Point()])  # type: ignore[list-item]
    assert [extractor.name for extractor in loaded.extractors] == ["Mine"]
    assert issubclass(Drop, Exception)
