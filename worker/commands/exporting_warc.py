"""`gregor export warc`: one file or several of bounded size, with an index, or a WACZ of all."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import Page
from gregor.worker.archives import places
from gregor.worker.archives.cdxj import Cdxj
from gregor.worker.archives.places import NewFile, OutputPlace
from gregor.worker.archives.segments import Segments
from gregor.worker.archives.wacz import Wacz
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.reader import Reader
from gregor.worker.commands.output import output
from gregor.worker.config.settings import Config
from gregor.worker.inspect import export, warc_records
from gregor.worker.inspect.selection import Selection

_WACZ: Final = ".wacz"
_ENDING: Final = ".warc.gz"
_NO_TEXT: Final = "a WARC is no text for a terminal: use --output FILE, or a pipe"


def is_wacz(arguments: argparse.Namespace) -> bool:
    """Whether a WACZ is wanted: its name says so, or the flag."""
    return bool(arguments.wacz or arguments.output.lower().endswith(_WACZ))


async def warc(arguments: argparse.Namespace, config: Config, reader: Reader, wanted: Selection, now: float) -> int:
    """Write it; how many pages. Raises `BadInput` where it cannot be written. ``now``: unix seconds."""
    first = partial(warc_records.warcinfo, await export.agent(reader) or config.user_agent, config.robots)
    with ExitStack() as stack:
        index = stack.enter_context(closing(Cdxj())) if arguments.cdxj or is_wacz(arguments) else None
        if is_wacz(arguments):
            file = stack.enter_context(output(arguments.output, _NO_TEXT))
            wacz = Wacz(file, PurePosixPath(arguments.output).stem, now)
            segments = Segments(wacz.begin, first, size=arguments.size, index=index)
            count = await export.warc(reader, segments, wanted, arguments.part, partial(_list, wacz))
            wacz.finish(index.lines() if index is not None else ())
            return count
        if arguments.size is None and not arguments.cdxj:
            name = PurePosixPath(arguments.output).name.replace("-", "", arguments.output == "-")
            with output(arguments.output, _NO_TEXT) as file:
                count = await export.warc(reader, Segments(lambda _: (name, file), first), wanted, arguments.part)
            if name.endswith(_ENDING) and name != _ENDING:
                with places.writing(arguments.output):
                    _end_index(*_named(arguments.output))
            return count
        files = stack.enter_context(_files(arguments.output, numbered=arguments.size is not None))
        segments = Segments(files.begin, first, size=arguments.size, index=index)
        count = await export.warc(reader, segments, wanted, arguments.part)
        if index is not None:
            files.add_index(index)
        return count


def _list(wacz: Wacz, page: Page) -> None:
    """Note a page that a person may want to open."""
    if page.status == 200 and not page.requisite and page.content_type.startswith(("text/html", "application/xhtml")):
        identity = warc_records.identity("page", f"{page.visit} {page.href}")[len("<urn:uuid:") : -1]
        wacz.page(identity, page.href, rfc3339(page.fetched_at), page.title or "")


class _Files:
    """WARC files beside each other, which all get their names when the last one is whole."""

    def __init__(self, place: OutputPlace, stem: str, *, numbered: bool) -> None:
        self._place = place
        self._stem = stem
        self._numbered = numbered
        self._last = 0
        self.begun: list[NewFile] = []

    def begin(self, number: int) -> tuple[str, BinaryIO]:
        """The file of a number, with its name."""
        name = _numbered(self._stem, number) if self._numbered else f"{self._stem}{_ENDING}"
        self._last = number
        self.begun.append(self._place.create(name))
        return name, self.begun[-1].file

    def end_earlier(self) -> None:
        """Remove what an earlier export of this name had beyond these files: together they would be no archive."""
        number = self._last + 1
        while self._numbered and self._place.remove(_numbered(self._stem, number)):
            number += 1

    def add_index(self, index: Cdxj) -> None:
        """The index of them all."""
        self.begun.append(self._place.create(_index(self._stem)))
        for line in index.lines():
            self.begun[-1].file.write(line)


def first_of(path: str) -> str:
    """The first of several files that are named after a path. Raises `BadInput`."""
    folder, stem = _named(path)
    return f"{folder}/{_numbered(stem, 1)}"


def _index(stem: str) -> str:
    return f"{stem}.cdxj"


def _end_index(folder: str, stem: str) -> None:
    """Remove that of an earlier export of this name: of what is in the new files it knows nothing."""
    places.place_of(folder).remove(_index(stem))


def _numbered(stem: str, number: int) -> str:
    return f"{stem}-{number:05}{_ENDING}"


def _named(path: str) -> tuple[str, str]:
    """The folder of several files that are named after a path, and what their names begin with. Raises `BadInput`."""
    folder, name = places.split(path) if places.is_remote(path) else (str(Path(path).parent), Path(path).name)
    ending = next((end for end in (_ENDING, ".warc", ".gz") if name.endswith(end)), "")
    if not name.removesuffix(ending):
        raise BadInput(f"{one_line(path)} names no file: several are named after it, as site.warc.gz")
    return folder, name.removesuffix(ending)


@contextmanager
def _files(path: str, *, numbered: bool) -> Iterator[_Files]:
    folder, stem = _named(path)
    files = _Files(places.place_of(folder), stem, numbered=numbered)
    with places.writing(path):
        try:
            yield files
            _end_index(folder, stem)
            for file in files.begun:
                file.keep()
            files.end_earlier()
        except BaseException:
            for file in files.begun:
                file.drop()
            raise
