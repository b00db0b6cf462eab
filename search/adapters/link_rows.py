"""The links of a page as they are kept: rows of three numbers of 64 bits, little-endian."""

import numpy as np
from xxhash import xxh3_64_intdigest

LinkRow = tuple[int, int, int]
"""Where a link leads to, its words, and the host that it is of."""


def number_of(text: str) -> int:
    """The number of a URL or a host: its fingerprint (`gregor.schemas.messages.url_fingerprint`) as a signed number."""
    number = xxh3_64_intdigest(text.encode())
    return number - (1 << 64) if number >> 63 else number


def rows_of(data: bytes) -> dict[LinkRow, None]:
    """The rows, each once."""
    return dict.fromkeys(map(tuple, np.frombuffer(data, dtype="<i8").reshape(-1, 3).tolist()))
