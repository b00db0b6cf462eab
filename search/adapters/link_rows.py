"""The links of a page as they are kept: rows of three numbers of 64 bits, little-endian."""

from collections.abc import Iterable

import numpy as np

from gregor.schemas.messages import url_fingerprint
from gregor.search.links import packed, signed

LinkRow = tuple[int, int, int]
"""Where a link leads to, its words, and the host that it is of."""


def number_of(text: str) -> int:
    """The number of a URL or a host."""
    return signed(url_fingerprint(text))


def rows_of(data: bytes) -> dict[LinkRow, None]:
    """The rows, each once."""
    return dict.fromkeys(map(tuple, np.frombuffer(data, dtype="<i8").reshape(-1, 3).tolist()))


def data_of(rows: Iterable[LinkRow]) -> bytes:
    """What is kept of rows."""
    return packed(rows)
