def text_fingerprint(text: str, /) -> bytes:
    """16 bytes (XXH3, 128 bits) over a text whose white space counts as one space, and not at all at its ends."""

def simhash_and_sketch(text: str, letters: bytes, /) -> tuple[int, bytes]:
    """Simhash and sketch of a text in lower case; 0 and nothing for one of fewer than 32 letters.

    ``letters``: 16 KiB, a bit for each code point of the first two planes, the lowest first: whether it is a letter;
    beyond them all are. Raises ValueError for a table of another size.
    """
