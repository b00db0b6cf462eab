"""Classes of pages: while crawling, of what is stored, and what is wrong with labels and models in one line."""

import json
from pathlib import Path

import pytest

from gregor.worker.topic.features import features, of_page
from gregor.worker.topic.model_file import encode, model_data
from tests.endtoend.site import Here, Web

WORDS = sorted(features(of_page("", "crane harbour wharf", "")))
MODEL = encode(model_data(("other", "port"), (3, 3), (1.0, -1.0), WORDS, [[-3.0] * 3, [3.0] * 3]))
TURNED = encode(model_data(("other", "port"), (3, 3), (-1.0, 1.0), WORDS, [[3.0] * 3, [-3.0] * 3]))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "ports.model").write_bytes(MODEL)
    return tmp_path / "ports.model"


def test_each_page_gets_its_class_as_it_comes_and_again(web: Web, here: Here, model: Path, tmp_path: Path) -> None:
    web.page("a.test/", "<title>all</title>Pages <a href=/crane>c</a> <a href=/tea>t</a><img src=/i.png>")
    web.page("a.test/crane", "The crane of the harbour")
    web.page("a.test/tea", "Green tea")
    web.page("a.test/i.png", "crane harbour")
    (tmp_path / "gregor.toml").write_text(f'requisites = true\n[topic]\nmodel = "{model}"\n')
    report = here.report("http://a.test/", *web.flags, "--config", str(tmp_path / "gregor.toml"))
    assert report["classes"] == {"other": 2, "port": 1}
    data = web.flags[:2]
    listed = [json.loads(line) for line in here.said("pages", *data, "--class", "port", "--json").splitlines()]
    assert [(page["url"], page["page_class"]) for page in listed] == [("http://a.test/crane", "port")]
    assert 0.5 < listed[0]["class_probability"] < 1.0
    table = [json.loads(line) for line in here.said("export", "jsonl", "pages", *data).splitlines()]
    assert {page["url"][13:]: page["page_class"] for page in table} == {
        "/": "other",
        "/crane": "port",
        "/tea": "other",
        "/i.png": None,
    }
    model.write_bytes(TURNED)
    lines = [json.loads(line) for line in here.said("classify", "apply", str(model), *data).splitlines()]
    assert {line["url"][13:]: line["class"] for line in lines} == {"/": "port", "/crane": "other", "/tea": "port"}
    assert all(abs(sum(line["probabilities"].values()) - 1.0) < 1e-9 for line in lines)
    assert len(here.said("pages", *data, "--class", "port", "--json").splitlines()) == 1  # nothing was changed
    assert here.said("classify", "apply", str(model), "--store", *data) == ""
    assert len(here.said("pages", *data, "--class", "port", "--json").splitlines()) == 2
    model.write_bytes(b"nothing")
    assert "is no model" in here.said("crawl", "http://a.test/", *web.flags, code=2)  # the crawl knows it
    model.unlink()
    assert "cannot read the model" in here.said("crawl", "http://a.test/", *web.flags, code=2)


def test_a_topical_crawl_says_what_is_relevant_and_where_it_stopped(web: Web, here: Here, tmp_path: Path) -> None:
    out = "<a href=http://b.test/>b</a> <a href=http://c.test/>c</a>"
    web.page("a.test/", f"All <a href=/ferry>ferry</a> <a href=/1>one</a> {out}")
    web.page("a.test/ferry", "<title>Ferry</title>The ferry, the ferry <a href=/last>last</a>")
    for number in range(1, 4):
        web.page(f"a.test/{number}", f"Nothing <a href=/{number + 1}>next</a>")
    web.page("a.test/last", "Nothing")
    links = " ".join(f"<a href=/{other}>{other}</a>" for other in range(1, 6))
    for name in ("", *"12345"):
        ferry = "<title>Ferry</title>The ferry and the ferry" if not name else "Nothing"
        web.page(f"b.test/{name}", f"{ferry} {name} {links}")
        web.page(f"c.test/{name}", f"Nothing at all {name} {links}")
    (tmp_path / "gregor.toml").write_text('ordering = "topic"\n[topic]\nwords = ["ferry"]\nhops = 1\ndiscover = 2\n')
    report = here.report("http://a.test/", *web.flags, "--config", str(tmp_path / "gregor.toml"))
    data = web.flags[:2]
    least = here.said("pages", *data, "--topic-min", "0.5", "--json").splitlines()
    assert {json.loads(line)["url"] for line in least} == {"http://a.test/ferry", "http://b.test/"}
    assert report["topic"] == {"relevant": 2, "other": report["pages"] - 2}
    known = {record["url"]: record for record in map(json.loads, here.said("pages", *data, "--json").splitlines())}
    assert "http://a.test/last" in known and "http://a.test/2" in known
    assert "http://a.test/3" not in known  # two in a row are too many
    assert "topic: 2 irrelevant pages in a row" in here.said("explain", "http://a.test/3", *data)
    assert "relevance" in here.said("explain", "http://a.test/ferry", *data)
    denied = [record for record in known.values() if record["state"] == "denied"]
    assert {record["rule"] for record in denied} == {"topic: none of the first 2 pages of this host is relevant"}
    assert {record["host"] for record in denied} == {"c.test"}
    assert len([record for record in known.values() if record["host"] == "c.test" and record["version"]]) == 2
    assert len([record for record in known.values() if record["host"] == "b.test" and record["version"]]) == 6


def test_examples_that_are_urls_are_known_after_a_restart(web: Web, here: Here, tmp_path: Path) -> None:
    ferry = "The ferry leaves the harbour at noon, passengers board the ferry from the pier"
    web.page("a.test/", f"<title>Ferry</title>{ferry} <a href=/tea>tea</a>")
    web.page("a.test/tea", "Green tea is grown in the hills, and its leaves are dried")
    web.page("b.test/", "<a href=/1>1</a>")
    web.page("b.test/1", f"<title>Ferry</title>{ferry} today <a href=/2>2</a>")
    web.page("b.test/2", "The mayor opened a school <a href=/3>3</a>")
    web.page("b.test/3", "The mayor closed it")
    (tmp_path / "gregor.toml").write_text('[topic]\ngood = ["http://a.test/"]\nhops = 0\n')
    flags = [*web.flags, "--config", str(tmp_path / "gregor.toml")]
    here.report("http://a.test/", *flags)
    here.report("http://b.test/", *flags)
    records = map(json.loads, here.said("pages", *web.flags[:2], "--json").splitlines())
    relevance = {record["url"]: record["relevance"] for record in records}
    assert relevance["http://b.test/1"] > 0.5 > relevance["http://b.test/2"]
    assert "http://b.test/3" not in relevance


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["classify", "train", "nowhere.csv", "-o", "m"], "cannot read nowhere.csv"),
        (["classify", "train", "l.csv", "-o", "-"], "a model is no text"),
        (["classify", "train", "l.csv", "-o", "m"], "of the class 'x' there is 1 page"),
        (["classify", "evaluate", "l.csv"], "of the class 'x' there is 1 page"),
        (["classify", "evaluate", "missing.csv"], "cannot read"),
        (["classify", "evaluate", "wrong.csv"], "wrong.csv:2: it has 1 columns"),
        (["classify", "apply", "l.csv"], "l.csv is no model"),
        (["classify", "apply", "."], "cannot read the model"),
        (["classify", "apply", "good.model", "--store", "-o", "x"], "leave --output out"),
        (["crawl", "http://a.test/", "--set", "ordering=topic"], "no topic is told"),
        (["crawl", "http://a.test/", "--set", "topic_hops=2"], "topic_hops wants a topic"),
        (["crawl", "http://a.test/", "--set", "topic_discover=2"], "topic_discover wants a topic"),
        (["crawl", "http://a.test/", "--set", "topic_bad=a.html"], "topic_bad wants a topic"),
        (["crawl", "http://a.test/", "--set", "topic_words=ferry,--"], "'--' has no letter and no digit"),
        (["crawl", "http://a.test/", "--set", "topic_classes=x"], "set topic_model, too"),
        (["crawl", "http://a.test/", "--set", "topic_good=nowhere.html"], "cannot read nowhere.html"),
        (["crawl", "http://a.test/", "--set", "topic_model=l.csv"], "l.csv is no model"),
        (["crawl", "http://a.test/", "--set", "topic_threshold=1.5"], "topic_threshold"),
        (
            ["crawl", "http://a.test/", "--set", "topic_model=good.model", "--set", "topic_classes=x"],
            "the model has no class 'x'; it has other, port",
        ),
        (["crawl", "http://a.test/", "--config", "bad.toml"], "unknown setting 'modell' in [topic] of bad.toml"),
        (["crawl", "http://a.test/", "--config", "flat.toml"], "must be written as a table: [topic]"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: list[str], line: str, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.html").write_text("<p>words")
    (tmp_path / "l.csv").write_text("file,label\na.html,x\na.html,y\na.html,y\na.html,y\n")
    (tmp_path / "missing.csv").write_text("file,label\nb.html,x\n")
    (tmp_path / "wrong.csv").write_text("file,label\na.html\n")
    (tmp_path / "good.model").write_bytes(MODEL)
    (tmp_path / "bad.toml").write_text('[topic]\nmodell = "m"\n')
    (tmp_path / "flat.toml").write_text('topic = "m"\n')
    said = here.said(*words, code=2)
    assert line in said and said.count("\n") <= 1
