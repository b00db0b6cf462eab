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
            file = stack.enter_context(output(arguments.output, _NO_TEXT))
            name = PurePosixPath(arguments.output).name.replace("-", "", arguments.output == "-")
            segments = Segments(lambda _: (name, file), first)
            return await export.warc(reader, segments, wanted, arguments.part)
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

    def __init__(self, place: OutputPlace, stem: str, ending: str, *, numbered: bool) -> None:
        self._place = place
        self._stem = stem
        self._ending = ending
        self._numbered = numbered
        self.begun: list[NewFile] = []

    def begin(self, number: int) -> tuple[str, BinaryIO]:
        """The file of a number, with its name."""
        name = f"{self._stem}-{number:05}{self._ending}" if self._numbered else f"{self._stem}{self._ending}"
        self.begun.append(self._place.create(name))
        return name, self.begun[-1].file

    def add_index(self, index: Cdxj) -> None:
        """The index of them all."""
        self.begun.append(self._place.create(f"{self._stem}.cdxj"))
        for line in index.lines():
            self.begun[-1].file.write(line)


@contextmanager
def _files(path: str, *, numbered: bool) -> Iterator[_Files]:
    folder, name = places.split(path) if places.is_remote(path) else (str(Path(path).parent), Path(path).name)
    ending = next((end for end in (".warc.gz", ".warc", ".gz") if name.endswith(end)), "")
    if not name.removesuffix(ending):
        raise BadInput(f"{one_line(path)} names no file: several are named after it, as site.warc.gz")
    files = _Files(
        places.place_of(folder),
        name.removesuffix(ending),
        ".warc.gz",
        numbered=numbered,
    )
    with places.writing(path):
        try:
            yield files
            for file in files.begun:
                file.keep()
        except BaseException:
            for file in files.begun:
                file.drop()
            raise
