"""Rules files: what is right, and what is wrong in one line with the line's number and what is allowed."""

import sys
from pathlib import Path

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.extract import rules
from gregor.worker.extract.model import Field, Group
from tests.unit.extract.made import fields, found, parsed, rules_of

HEAD = '[[item]]\nname = "job"\n'
WRONG = [
    ("", 1, "there is no rule"),
    ("[[item]]\n[item.fields]\na='b'", 1, "needs a name"),
    (HEAD, 1, "needs fields"),
    (f"{HEAD}[item.fields]", 3, "fields are tables"),
    (f"[[itm]]\n{HEAD}", 1, "did you mean item?"),
    (f"{HEAD}mach = 'x'\n[item.fields]\na='b'", 3, "did you mean match?); allowed: name, item, match"),
    (f"{HEAD}match = 7\n[item.fields]\na='b'", 3, "a pattern of URLs"),
    (f"{HEAD}match = 'ftp://x/'\n[item.fields]\na='b'", 3, "must start with a scheme"),
    (f"{HEAD}match = 're:('\n[item.fields]\na='b'", 3, "no RE2 expression"),
    (f"{HEAD}when = '::before'\n[item.fields]\na='b'", 3, "no CSS selector"),
    (f"{HEAD}each = {{ css = 'a', xpath = '//a' }}\n[item.fields]\na='b'", 3, "one selector"),
    (f"{HEAD}schema = 'Thing'\neach = 'li'", 4, "each entity is an item"),
    (f"{HEAD}[item.fields.a]\ncss = 'h1'\n\ntipe = 'int'", 6, "did you mean type?"),
    (f"{HEAD}[item.fields.a]\ncss = 'h1'\ntype = 'integer'", 5, "is no type"),
    (f"{HEAD}[item.fields.a]\ncss = 'h1'\ntype = 'list[intt]'", 5, "did you mean int?"),
    (f"{HEAD}[item.fields.a]\ncss = 'li['", 4, "'li[' is no CSS selector"),
    (f"{HEAD}[item.fields.a]\ncss = 'a::attr(href), b'", 4, "stand at its end"),
    (f"{HEAD}[item.fields.a]\ncss = []", 4, "a list of alternatives"),
    (f"{HEAD}[item.fields.a]\nxpath = '//a['", 4, "no XPath"),
    (f"{HEAD}[item.fields.a]\nxpath = '//a[re:test(., \"x\")]'", 4, "there is no function re:test()"),
    (f"{HEAD}[item.fields.a]\nxpath = '//a[matches(., \"x\")]'", 4, "there is no function matches()"),
    (f"{HEAD}[item.fields.a]\nregex = '(?=a)'", 4, "no RE2 expression"),
    (f"{HEAD}[item.fields.a]\njson = 'a['", 4, "no JMESPath"),
    (f"{HEAD}[item.fields.a]\njson = 'foo(a)'", 4, "there is no function foo(); allowed: abs, avg,"),
    (f"{HEAD}[item.fields.a]\njson = 'length()'", 4, "length() wants 1 argument, not 0"),
    (f"{HEAD}[item.fields.a]\njson = 'a[?b == join(c)].d | [0]'", 4, "join() wants 2 arguments, not 1"),
    (f"{HEAD}[item.fields.a]\njson = 'a[].{{b: length(@, c)}}'", 4, "length() wants 1 argument, not 2"),
    (f"{HEAD}[item.fields.a]\njson = 'not_null()'", 4, "not_null() wants at least 1 argument, not 0"),
    (
        f"{HEAD}[item.fields.a]\njson = 'sort_by(a, b)'",
        4,
        "sort_by() wants an expression, such as &name, as its argument 2",
    ),
    (f"{HEAD}[item.fields.a]\njson = 'length(&a)'", 4, "length() wants a value, not an expression"),
    (f"{HEAD}[item.fields.a]\njson = 'a'\nscript = 'li['", 4, "no CSS selector"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nscript = 'b'", 5, "there is no json"),
    (f"{HEAD}[item.fields]\na = 'b'\n[[test]]\npge = 'x.html'", 6, "did you mean page?"),
    (f"{HEAD}schema = 'Job Posting'", 3, "write a schema.org type"),
    (f"{HEAD}[item.fields.a]\nschema = 'JobPosting..title'", 4, "a path such as JobPosting.title"),
    (f"{HEAD}[item.fields.a]\npage = 'urls'", 4, "url, host, status"),
    (f"{HEAD}[item.fields.a]\nconstant = 2026-11-29", 4, "constant wants"),
    (f"{HEAD}[item.fields.a]\ntype = 'int'", 3, "has no source: one or more of css, xpath"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nmany = 'yes'", 5, "true or false"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nrequired = true\ndefault = 'x'", 6, "would never be used"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\ntype = 'int'\ndefault = 'x'", 6, "default 'x' is not an integer"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\ntype = 'int'\ndefault = ''", 6, "is not an integer"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nmany = true\ndefault = 'x'", 6, "wants a list"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nfind = '('", 5, "no RE2 expression"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nstrip = 1", 5, "strip wants"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nzone = 'Europe/Berlin'", 5, "for the types date and datetime"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\ntype = 'date'\nzone = 'Mars'", 6, "no time zone"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\ntype = 'date'\nformat = 'dd.mm'", 6, "format wants"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\ntype = 'date'\nformat = '%Q'", 6, "format wants"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\ntype = 'date'\nformat = '%d.%'", 6, "format wants"),
    (f"{HEAD}[item.fields.a]\ncss = 'a'\nlanguage = 'klingon'", 5, "is no language"),
    (f"{HEAD}[item.fields.'a b']\ncss = 'a'", 3, "no name of a field"),
    (f"{HEAD}[item.fields.o]\nmany = true\n[item.fields.o.fields]\na = 'b'", 4, "where each"),
    (f"{HEAD}[item.fields.o]\ncss = 'b'\n[item.fields.o.fields]\na = 'b'", 4, "allowed: fields, each, many, required"),
    (f"{HEAD}[item.fields.o.fields.p.fields.a]\ncss = 'li['", 4, "no CSS selector"),
    (f"{HEAD}each = {{ xpath = '//li' }}\n[item.fields]\na = 'b'", 5, "by xpath"),
    (f"{HEAD}each = {{ json = 'a' }}\n[item.fields.a]\ncss = 'b'", 5, "there is no css"),
    (f"{HEAD}[item.fields.a]\nconstant = 'x'\ntype = 'int'", 4, "constant 'x' is not an integer"),
    (f"{HEAD}[item.fields.a]\nconstant = [1, '']\ntype = 'int'", 4, "constant '' is not an integer"),
    (f"{HEAD}[item.fields.a]\ncss = 'b'\ntype = 'list[int]'\ndefault = [1, '']", 6, "default '' is not an integer"),
    (f"{HEAD}[item.fields]\na = 'b'\n{HEAD}[item.fields]\na = 'b'", 6, "there is a rule 'job' already"),
    (f"{HEAD}[item.fields]\na = ", 4, "it is no TOML"),
    (f'{HEAD}[item.fields]\na = """\nx\n[b]\n"""\nb = 3', 8, "is a table"),
]


@pytest.mark.parametrize(("text", "line", "part"), WRONG, ids=[part for _, _, part in WRONG])
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, part: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        rules_of(tmp_path, text)
    said = str(caught.value)
    assert f"rules.toml, line {line}: " in said and part in said and "\n" not in said


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("item:\n- name: job\n  fields:\n    a: {css: 'li['}", 4, "no CSS selector"),
        ("item:\n- name: job\n  fields:\n    a:\n      css: b\n      tipe: int", 6, "did you mean type?"),
        ("item:\n- name: job\n  name: job", 3, "stands twice"),
        ("item: [", 1, "no YAML"),
        ("item:\n- name: job\n  fields: {1: h1}", 3, "1 is no text as a key: quote it"),
        ("item:\n- name: job\n  fields:\n    no: h1", 4, "no is no text as a key: quote it"),
        ("item:\n- name: job\n  fields:\n    ? [a]\n    : h1", 4, "no text as a key: quote it"),
        ("item:\n- name: job\n  fields:\n    2024-01-01: h1", 4, "no text as a key"),
        ("item:\n- name: job\n  fields:\n    ~: h1", 4, "no text as a key"),
        ("- a", 1, "it begins with `item:`"),
    ],
)
def test_what_is_wrong_in_yaml_is_said_with_its_line(text: str, line: int, part: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        rules_of(tmp_path, text, "rules.yaml")
    assert f"rules.yaml, line {line}: " in str(caught.value) and part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item: &a\n- name: x\n  fields: *a\n", "line 3: aliases"),
        ("item:\n" + "- [" * 5000, "line 2: it is nested too deep"),
        ("item:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 200)), "line 65: it is nested too deep"),
        (
            "[[item]]\nname = 'x'\nfields = [\n" + "[" * 5000 + "\n" + "]" * 5000 + "]\n",
            "line 4: it is nested too deep",
        ),
        ("[[item]]\nname = 'x'\0\n", "line 2: it is no TOML: "),
        ("item:\n- name: x\0\n", "line 2: it is no YAML: unacceptable character #x0000"),
    ],
)
def test_what_has_no_end_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    name = "rules.toml" if "=" in text else "rules.yaml"
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=said):
        rules.read_all([tmp_path / name])


def test_aliases_are_no_bombs(tmp_path: Path) -> None:
    bomb = "item: &a [x, x]\n" + "".join(f"k{n}: &b{n} [*a, *a]\n" for n in range(3))
    with pytest.raises(BadInput, match=r"line \d+: aliases"):
        rules_of(tmp_path, bomb, "rules.yml")


def test_yaml_says_what_toml_says(tmp_path: Path) -> None:
    page = parsed("<h1>One</h1><p class=n>7</p>")
    in_toml = fields(tmp_path, 'title = "h1"\nn = { css = ".n", type = "int" }', page)
    text = "item:\n- name: x\n  fields:\n    title: h1\n    n: {css: .n, type: int}\n"
    (item,) = found(rules_of(tmp_path, text, "rules.yaml"), page).items
    assert item.fields == in_toml == {"title": "One", "n": 7}


def test_rules_of_several_files_have_names_of_their_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(f"{HEAD}[item.fields]\nx = 'h1'")
    with pytest.raises(BadInput, match=r"b\.toml, line 2: there is a rule 'job' already: .*a\.toml, line 1"):
        rules.read([tmp_path / "a.toml", tmp_path / "b.toml"])


@pytest.mark.parametrize("module", ["dateparser", "price_parser", "yaml"])
def test_a_package_that_is_missing_is_named(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    kind = {"dateparser": "date", "price_parser": "price"}.get(module, "text")
    name = "rules.yaml" if module == "yaml" else "rules.toml"
    with pytest.raises(BadInput) as caught:
        rules_of(tmp_path, f"{HEAD}[item.fields.a]\ncss = 'b'\ntype = '{kind}'", name)
    assert "pip install 'gregor-crawler[extract]'" in str(caught.value) and "\n" not in str(caught.value)


def test_dates_of_programs_need_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dateparser", None)
    made = fields(tmp_path, 'd = { css = "p", type = "date", format = "iso" }', parsed("<p>2026-11-29T10:00Z"))
    assert made == {"d": "2026-11-29"}


@pytest.mark.parametrize("path", [".", "nowhere.toml"])
def test_a_file_that_cannot_be_read(path: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read"):
        rules.read([tmp_path / path])


def test_the_columns_of_objects_have_dots(tmp_path: Path) -> None:
    text = f"{HEAD}[item.fields]\na = 'h1'\n[item.fields.o.fields]\nb = 'h2'\n"
    text += "[item.fields.l]\nmany = true\neach = 'li'\n[item.fields.l.fields]\nc = 'b'"
    (rule,) = rules_of(tmp_path, text)
    assert [type(field) for field in rule.fields] == [Field, Group, Group]
    assert list(rule.columns()) == ["a", "o.b", "l"]


@pytest.mark.parametrize("name", ["rules.toml", "rules.yaml"])
def test_what_is_no_text_is_said_with_its_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"# a\n# b\n# \xe9\n")
    with pytest.raises(BadInput, match=rf"{name}, line 3: it is not text in UTF-8$"):
        rules.read([tmp_path / name])
