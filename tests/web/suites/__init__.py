"""Published conformance suites, judged one case (one line of a .jsonl file) at a time.

Every module of this package exposes ``SUITES``. The data stays where it was published; a suite only says which file it
reads, which of its cases count for a crawler, and how one case is judged.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Line = dict[str, Any]
"""One case as published: a JSON object with a stable ``id``."""


class Case(NamedTuple):
    """How one case ended; ``detail`` says what was expected and what came instead (empty when it passed)."""

    id: str
    passed: bool
    detail: str


class Verdict(NamedTuple):
    """What a judge says of one case. Any ``(passed, detail)`` pair will do."""

    passed: bool
    detail: str


def equal(actual: object, expected: object) -> Verdict:
    """The usual verdict: the two are equal."""
    return Verdict(actual == expected, "" if actual == expected else f"expected {expected!r}, got {actual!r}")


def every(_: Line) -> bool:
    """Each case of the file counts."""
    return True


def lines(file: Path) -> Iterator[Line]:
    """The cases of one .jsonl file. Of ``x_b64`` (base64 of the exact bytes of ``x``) see :func:`octets`."""
    with file.open(encoding="utf-8") as text:
        yield from (json.loads(line) for line in text if line.strip())


def octets(case: Line, field: str) -> bytes:
    """The exact bytes of a field: ``field_b64`` when the file has it, the UTF-8 form of ``field`` otherwise."""
    encoded = case.get(f"{field}_b64")
    return str(case[field]).encode("utf-8", "surrogatepass") if encoded is None else base64.b64decode(encoded)


@dataclass(frozen=True)
class Suite:
    """One published file and how its cases are judged."""

    name: str
    """Shown in the table, e.g. ``url/parsing_wpt``."""
    file: str
    """Path below the conformance folder."""
    reference: str
    """What other libraries score on the same file, short."""
    judge: Callable[[Line], tuple[bool, str]]
    counts: Callable[[Line], bool] = every
    """Which cases are in question (a crawler has no business with ``mailto:``)."""
    cases: Callable[[Path], Iterable[Line]] = lines
    """How the file is read; a suite whose cases need a sibling file, or the whole file at once, reads it here."""


def run(suite: Suite, folder: Path) -> list[Case]:
    """Judges every case of ``suite`` that counts. A judge that raises has failed its case, and says with what."""
    return [_judged(suite, case) for case in suite.cases(folder / suite.file) if suite.counts(case)]


def _judged(suite: Suite, case: Line) -> Case:
    try:
        passed, detail = suite.judge(case)
    except Exception as error:  # noqa: BLE001 - whatever the code under test raises is the result of this case
        passed, detail = False, f"raised {error!r}"
    return Case(str(case["id"]), passed, detail)
