"""Files of labelled pages: CSV or lines of JSON, each with a URL of the crawl or a file, and the page's class. Pure."""

import csv
import io
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.topic.model_file import wrong_class

LARGEST: Final = 64 << 20
"""Bytes of a file of labels."""
_WEB: Final = ("http://", "https://")
_PAGE_NAMES: Final = ("url", "file", "page", "url or file", "url_or_file")


class LabelledPlace(NamedTuple):
    """Where a labelled page is. ``url``: its address; "" for a file of which none is known. ``file``: where its bytes
    are, as it stands there; "" where the crawl has them. ``line``: of the file of labels."""

    url: str
    file: str
    label: str
    line: int


def read(data: bytes, name: str) -> list[LabelledPlace]:
    """The pages of a file of labels, of its name. Raises `BadInput` with one line that says where what is wrong."""
    name = one_line(name, 200)
    if len(data) > LARGEST:
        raise BadInput(f"{name} has more than {LARGEST >> 20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{name} is not UTF-8 text") from None
    rows = _of_lines(text, name) if text.lstrip().startswith("{") else _of_table(text, name)
    places = [_place(row, line, name) for row, line in rows]
    if not places:
        raise BadInput(f"{name} has no labelled page: give lines of url,label or file,label")
    return places


def _of_lines(text: str, name: str) -> Iterator[tuple[dict[str, str], int]]:
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            values: Any = msgspec.json.decode(row)
        except (msgspec.MsgspecError, RecursionError):
            raise BadInput(f"{name}:{line}: it is no line of JSON") from None
        if not isinstance(values, dict):
            raise BadInput(f"{name}:{line}: it is no object")
        row_of = {key: value for key, value in values.items() if key in ("url", "file", "label") and value is not None}
        if any(not isinstance(value, str) for value in row_of.values()):
            raise BadInput(f"{name}:{line}: url, file and label are texts")
        yield row_of, line


def _of_table(text: str, name: str) -> Iterator[tuple[dict[str, str], int]]:
    """Of CSV; the first row may name the columns, else they are the page and its label."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    names: list[str] | None = None
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if names is None:
                names = [cell.lower() for cell in cells]
                if "label" in names and any(column in names for column in _PAGE_NAMES):
                    continue
                names = ["page", "label"]
            if len(cells) != len(names):
                raise BadInput(f"{name}:{reader.line_num}: it has {len(cells)} columns, and not {len(names)}")
            yield dict(zip(names, cells, strict=True)), reader.line_num
    except csv.Error as error:
        raise BadInput(f"{name}:{reader.line_num}: it is no CSV: {one_line(str(error), 200)}") from None


def _place(row: dict[str, str], line: int, name: str) -> LabelledPlace:
    url, file, label = row.get("url", ""), row.get("file", ""), row.get("label", "")
    page = next((row[column] for column in _PAGE_NAMES[2:] if row.get(column)), "")
    if url and not file and not url.lower().startswith(_WEB):
        page, url = url, ""  # a file in the column of URLs
    if page and not url and page.lower().startswith(_WEB):
        url = page
    elif page and not file:
        file = page
    if not url and not file:
        raise BadInput(f"{name}:{line}: it names no url and no file")
    if wrong := wrong_class(label):
        raise BadInput(f"{name}:{line}: {label[:80]!r} cannot be a label: {wrong}")
    return LabelledPlace(url, file, label, line)
