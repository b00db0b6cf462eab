"""Text to terms: what is compared when something is searched for, the same for documents and for queries. Pure.

What a word is, and what is folded, is said in `gregor.search.words`; here texts are cut, the long ones as arrays.
"""

from functools import cache
from typing import Final

from gregor.search.words import LONGEST, MARKS, WORD, term_of, terms_of_piece

__all__ = ["CUT", "LONGEST", "MARKS", "joined", "terms"]

_REMEMBERED: Final = 200_000
_LONG: Final = 1000
"""Characters, or bytes, of a text that is looked at as an array, which takes a while to begin."""
_MUCH_MORE: Final = 1.2
"""So many bytes a character has a text of which much is beyond ASCII."""
_SPACE, _LAST_ASCII = ord(" "), 127
CUT: Final = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(256)
)
"""Bytes of UTF-8: letters of ASCII in lower case, its digits and what is not ASCII as they are, spaces for others."""


class _Pieces(dict[str, str]):
    """What stands between spaces and ASCII's signs, lower case as far as it is ASCII, to its terms joined by spaces."""

    def __missing__(self, piece: str) -> str:
        is_word = piece.isascii() or WORD.fullmatch(piece) is not None
        joined = term_of(piece) if is_word else " ".join(terms_of_piece(piece))
        if len(piece) <= LONGEST:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[piece] = joined
        return joined


_pieces: Final = _Pieces()


def terms(text: str) -> list[str]:
    """The terms of a text in their order; none is empty or has white space in it."""
    return joined(text).split()


def joined(text: str) -> str:
    """The terms of a text, with white space between them, more than one sign in places.

    At ASCII's signs every script is cut, and what stands between them is mostly a word that was met before: so most of
    a text is looked at by functions of the interpreter alone, whatever it is written in.
    """
    if len(text) >= _LONG and not text.isascii() and _has_numpy():
        from gregor.search.arrays import joined_by_table

        if (by_table := joined_by_table(text, _pieces.__getitem__)) is not None:
            return by_table
    encoded = text.encode("utf-8", "surrogatepass")
    if len(text) >= _LONG and len(encoded) > _MUCH_MORE * len(text) and _has_numpy():
        from gregor.search.arrays import joined_by_arrays

        if (by_arrays := joined_by_arrays(text, _pieces.__getitem__)) is not None:
            return by_arrays
    cut = encoded.translate(CUT)
    if len(cut) >= _LONG and (joined_long := _joined_long(cut)) is not None:
        return joined_long
    said = cut.decode("utf-8", "surrogatepass")
    pieces = said.split(" ")
    if said.isascii() and len(max(pieces, key=len)) <= LONGEST:
        return said
    return " ".join(map(_pieces.__getitem__, pieces))


@cache
def _has_numpy() -> bool:
    """Whether long texts can be looked at as arrays; asked once, and by the first long text alone: a crawl loads this
    module, and neither needs numpy nor waits for it."""
    try:
        import numpy  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _joined_long(cut: bytes) -> str | None:
    """The terms of a long text, of which only the pieces are looked up that are not ASCII, or too long; None where
    these are many, and without numpy."""
    if not _has_numpy():
        return None
    import numpy as np

    signs = np.frombuffer(cut, np.uint8)
    spaces = np.flatnonzero(signs == _SPACE)
    bounds = np.concatenate(([-1], spaces, [len(cut)]))
    looked_up = np.diff(bounds) > LONGEST + 1
    looked_up[np.searchsorted(spaces, np.flatnonzero(signs > _LAST_ASCII))] = True
    places = np.flatnonzero(looked_up)
    if 2 * len(places) > len(looked_up):
        return None
    parts, at = [], 0
    for before, end in zip(bounds[places].tolist(), bounds[places + 1].tolist(), strict=True):
        term = _pieces[cut[before + 1 : end].decode("utf-8", "surrogatepass")]
        parts += [cut[at : before + 1], term.encode("utf-8", "surrogatepass")]
        at = end
    return b"".join([*parts, cut[at:]]).decode("utf-8", "surrogatepass")
