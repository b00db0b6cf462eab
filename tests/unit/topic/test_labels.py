"""Files of labels: their forms, and what is wrong in one is told in one line that names it."""

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.topic.labels import LabelledPlace, read

URL = "https://a.test/1"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (f"url,label\n{URL},x\n", [LabelledPlace(URL, "", "x", 2)]),
        (f"\ufeffURL , Label\r\n{URL}, x\r\n", [LabelledPlace(URL, "", "x", 2)]),
        (f"{URL},x\npages/b.html,y\n", [LabelledPlace(URL, "", "x", 1), LabelledPlace("", "pages/b.html", "y", 2)]),
        (f'label,file,url\n"a ""b""",c.html,{URL}\n', [LabelledPlace(URL, "c.html", 'a "b"', 2)]),
        ("url,label\nc.html,x\n\n", [LabelledPlace("", "c.html", "x", 2)]),
        (f"file,label\n{URL},x\n", [LabelledPlace("", URL, "x", 2)]),
        (f"page,label,note\n{URL},x,of June\n", [LabelledPlace(URL, "", "x", 2)]),
        (f'{{"url": "{URL}", "label": "é"}}\n\n', [LabelledPlace(URL, "", "é", 1)]),
        ('{"file": "b.txt", "url": null, "label": "x", "by": 3}\n', [LabelledPlace("", "b.txt", "x", 1)]),
    ],
)
def test_forms(text: str, places: list[LabelledPlace]) -> None:
    assert read(text.encode(), "l") == places


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "l has no labelled page: give lines of url,label or file,label"),
        (b"url,label\n", "l has no labelled page: give lines of url,label or file,label"),
        (b"\xff\xfe", "l is not UTF-8 text"),
        (b"url,label\n,x\n", "l:2: it names no url and no file"),
        (b"url,label\nb.html,\n", "l:2: '' cannot be a label: it is empty, or has white space around it"),
        (b"url,label\nb.html\n", "l:2: it has 1 columns, and not 2"),
        (b'url,label\n"b.html,x\n', "l:2: it is no CSV: unexpected end of data"),
        (
            b'url,label\n"a\nb.html","x\x1by"\n',
            "l:3: 'x\\x1by' cannot be a label: it has characters that cannot be shown",
        ),
        (b'{"url": "http://a/", "label": "x"}\nnothing\n', "l:2: it is no line of JSON"),
        (b'{"url": "http://a/", "label": "x"}\n[1]\n', "l:2: it is no object"),
        (b'{"url": 3, "label": "x"}\n', "l:1: url, file and label are texts"),
        (b'{"label": "x"}\n', "l:1: it names no url and no file"),
        (b'{"url": "http://a/"}\n', "l:1: '' cannot be a label: it is empty, or has white space around it"),
        (b'{"a": ' + 100_000 * b"[", "l:1: it is no line of JSON"),
    ],
)
def test_what_is_wrong_is_named(data: bytes, line: str) -> None:
    with pytest.raises(BadInput) as error:
        read(data, "l")
    assert str(error.value) == line
