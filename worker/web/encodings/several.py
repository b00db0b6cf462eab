"""Encodings in which several octets may be a character: a pattern cuts a text into characters, an index reads each."""

import re
from collections.abc import Callable
from typing import Final

_BLOCK: Final = 1 << 16

Read = Callable[[bytes], str]


class Several:
    """Several octets may be a character.

    The pattern matches one character, or a run of ASCII, wherever the one before it ends; of what is no character, it
    matches the octets that are one fault; and at the end of a text what may be the beginning of one.
    """

    def __init__(self, characters: re.Pattern[bytes], read: Read) -> None:
        self._characters = characters
        self._read = read
        self._rest = b""

    def decode(self, octets: bytes, final: bool = False, /) -> str:
        octets = self._rest + octets
        texts, self._rest = [], b""
        for at in range(0, len(octets), _BLOCK):
            block = self._rest + octets[at : at + _BLOCK]
            if block.isascii():
                texts.append(block.decode("ascii"))
                self._rest = b""
                continue
            characters = self._characters.findall(block)
            last = final and at + _BLOCK >= len(octets)
            self._rest = b"" if last or characters[-1].isascii() else characters.pop()
            texts.extend(map(self._read, characters))
        return "".join(texts)
