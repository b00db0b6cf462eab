"""Seeds as people and other tools give them: arguments, and lines of URLs or JSON objects from a file or a stream.

All are checked before the first is used, and can be gone through again without being kept in memory.
"""

import difflib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import msgspec
from msgspec import Meta, Struct

from gregor.worker.base.errors import BadInput, plain_types, why
from gregor.worker.base.printable import one_line
from gregor.worker.config.credentials import basic
from gregor.worker.operate.seeds import Seed
from gregor.worker.web.urls import Url, Urls, user_info

_KEPT = 1024 * 1024  # bytes of a stream kept in memory
_BOM = b"\xef\xbb\xbf"
_LONGEST = 1024 * 1024  # bytes of a line


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of JSON."""

    url: str
    label: Annotated[str, Meta(max_length=1000)] | None = None
    depth: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    priority: Annotated[int, Meta(ge=1, le=4)] | None = None


Watched = Callable[[str, Iterable[Seed], int | None], Iterator[Seed]]
"""Gives the seeds, and tells meanwhile what is done with them and how many there are, if that is known."""


def unwatched(_doing: str, seeds: Iterable[Seed], _total: int | None) -> Iterator[Seed]:
    """For few seeds."""
    return iter(seeds)


_DECODER = msgspec.json.Decoder(_Line)


class Seeds:
    """All seeds, in their order; can be iterated again and again, to publish them. Close it in the end."""

    def __init__(
        self,
        arguments: Sequence[str],
        file: BinaryIO | None,
        name: str,
        urls: Urls,
        watched: Watched = unwatched,
        authorizations: dict[str, str] | None = None,
    ) -> None:
        self._arguments = arguments
        self._file = file
        self._name = name
        self._urls = urls
        self._watched = watched
        self.authorizations = authorizations
        self.count = sum(1 for _ in watched("checking seeds", self._all(), None))

    def __iter__(self) -> Iterator[Seed]:
        return self._watched("publishing seeds", self._all(), self.count)

    def _all(self) -> Iterator[Seed]:
        for number, text in enumerate(self._arguments, start=1):
            yield Seed(_url(text, self._urls, f"seed {number}", self.authorizations))
        if self._file is not None:
            self._file.seek(0)
            for number, line in enumerate(iter(self._next_line, b""), start=1):
                stated = line.removeprefix(_BOM) if number == 1 else line
                seed = _seed(stated, self._urls, f"{self._name}:{number}", self.authorizations)
                if seed is not None:
                    yield seed

    def _next_line(self) -> bytes:
        assert self._file is not None
        return self._file.readline(_LONGEST)

    def close(self) -> None:
        """Free the file."""
        if self._file is not None:
            self._file.close()


def open_seeds(
    arguments: Sequence[str],
    path: str | None,
    stdin: BinaryIO,
    urls: Urls,
    watched: Watched = unwatched,
    authorizations: dict[str, str] | None = None,
) -> Seeds:
    """Read and check all seeds; ``path`` "-" is ``stdin``, and so is "-" among the arguments.

    ``authorizations`` learns the Authorization header of each origin with whose URL a user name and password are given;
    without it they are refused.

    Raises BadInput with the line that is wrong.
    """
    if "-" in arguments:
        if path not in (None, "-"):
            raise BadInput(f"seeds come from standard input (-) or from {one_line(path)}, not from both")
        arguments, path = [text for text in arguments if text != "-"], "-"
    if path is None:
        return Seeds(arguments, None, "", urls, watched, authorizations)
    name = "standard input" if path == "-" else one_line(path)
    try:
        file = _spooled(stdin) if path == "-" else Path(path).open("rb")  # noqa: SIM115 - Seeds closes it
        if not file.seekable():
            with file as pipe:
                file = _spooled(pipe)
    except OSError as error:
        raise BadInput(f"cannot read seeds from {name}: {why(error)}") from None
    try:
        return Seeds(arguments, file, name, urls, watched, authorizations)
    except BaseException:
        file.close()
        raise


def _spooled(stream: BinaryIO) -> BinaryIO:
    """A copy that can be read again, of a stream that cannot. Raises BadInput where there is no room for it."""
    spool = tempfile.SpooledTemporaryFile(_KEPT)  # noqa: SIM115 - Seeds closes it
    while piece := stream.read(_LONGEST):
        try:
            spool.write(piece)
        except OSError as error:
            spool.close()
            folder = one_line(tempfile.gettempdir())
            raise BadInput(f"cannot keep seeds in {folder}, which TMPDIR can place elsewhere: {why(error)}") from None
    return cast(BinaryIO, spool)


def _seed(line: bytes, urls: Urls, place: str, authorizations: dict[str, str] | None) -> Seed | None:
    """The seed of one line; None for an empty one and a comment."""
    stripped = line.strip()
    if not stripped or stripped.startswith(b"#"):
        return None
    if len(line) >= _LONGEST:
        raise BadInput(f"{place}: the line is longer than {_LONGEST} bytes")
    try:
        if not stripped.startswith(b"{"):
            return Seed(_url(stripped.decode(), urls, place, authorizations))
        line_read = _DECODER.decode(stripped)
    except UnicodeDecodeError:
        raise BadInput(f"{place}: the line is not UTF-8 text") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{place}: {_plain(str(error))}") from None
    url = _url(line_read.url, urls, place, authorizations)
    return Seed(url, line_read.label or "", line_read.depth or 0, line_read.priority)


def _plain(message: str) -> str:
    unknown = re.search(r"unknown field `(.*?)`", message)
    if unknown:
        near = difflib.get_close_matches(unknown[1], _Line.__struct_fields__, n=1)
        advice = f"did you mean {near[0]}?" if near else f"known are {', '.join(_Line.__struct_fields__)}"
        return f"unknown field {one_line(unknown[1], 80)!r}: {advice}"
    return one_line(plain_types(message.replace("$.", ""))).replace("JSON is malformed", "not a JSON object")


def _url(text: str, urls: Urls, place: str, authorizations: dict[str, str] | None) -> Url:
    url = urls.parse(text.strip())
    if url is None:
        guess = urls.parse(f"https://{text.strip()}") if "://" not in text and "." in text else None
        advice = f"; did you mean {guess.href}?" if guess else ""
        raise BadInput(f"{place}: {urls.refusal(text.strip())}: {one_line(text, 200)!r}{advice}")
    if "@" in text:
        _authorize(text.strip(), url, place, authorizations)
    return url


def _authorize(text: str, url: Url, place: str, authorizations: dict[str, str] | None) -> None:
    """Keep the credentials of a URL, if it has any, for its origin: those that its parser says, whatever else of it
    looks like some. They may be refused; no message says them."""
    ways = f"by username_env and password_env of a [[host]] table, and {url.href} as the seed"
    try:
        credentials = user_info(text)
    except ValueError:
        if authorizations is not None:
            raise BadInput(
                f"{place}: user name and password in a URL have to be text, the name without colon"
            ) from None
        credentials = ("", "")
    if credentials is None:
        return
    if authorizations is None:
        raise BadInput(f"{place}: user name and password in a URL are not used here: give them {ways}")
    value = basic(*credentials)
    if authorizations.setdefault(url.origin, value) != value:
        raise BadInput(f"{place}: another user name or password for {url.origin}: give one of them {ways}")
