"""Queries of links in documents that are not UTF-8 (URL Standard, "percent-encode after encoding"), written as the
encoders of the Encoding Standard write them."""

import re
import unicodedata
from collections.abc import Iterator, Mapping

import webencodings

from gregor.worker.base.surrogates import well_formed

_EDGES = "".join(map(chr, range(0x21)))
_INVISIBLE = str.maketrans("", "", "\t\n\r")
_ESCAPED = re.compile(rb"[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]")
"""Octets outside the special-query percent-encode set stay; all others are escaped."""
_JIS, _ROMAN, _ASCII = b"\x1b$B", b"\x1b(J", b"\x1b(B"
_ROMANS = {"\xa5": b"\\", "\u203e": b"~"}
_UNWRITTEN = "\ue5e5"
"""A private character that gb18030 once read a space as, and neither reads nor writes."""
_SOUND_MARKS = {"\uff9e": "\u309b", "\uff9f": "\u309c"}


def encode_query(reference: str, label: str) -> str:
    """The reference with its query as escaped ASCII in the encoding that ``label`` names in the Encoding Standard.

    Unchanged if the query is plain, or the encoding unknown or one whose forms and links are UTF-8.
    """
    if reference.isascii() and reference.isprintable():
        return reference
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in ("utf-8", "utf-16le", "utf-16be", "replacement"):
        return reference
    before, number_sign, fragment = reference.strip(_EDGES).translate(_INVISIBLE).partition("#")
    path, question, query = before.partition("?")
    query = well_formed(query)
    match encoding.name:
        case "iso-2022-jp":
            octets = b"".join(_iso2022_jp(query))
        case name:
            octets = b"".join(_encoded(query, name))
    return path + question + _ESCAPED.sub(_escape, octets).decode("ascii") + number_sign + fragment


def _escape(octet: re.Match[bytes]) -> bytes:
    return b"%%%02X" % ord(octet[0])


def _octets_by_point(encoding: str) -> Mapping[int, bytes]:
    from gregor.worker.web.encodings import indexes  # which most URLs do without

    return indexes.octets_by_point(encoding)


def _encoded(query: str, encoding: str) -> Iterator[bytes]:
    octets = _octets_by_point(encoding)
    for character in query:
        if character.isascii():
            yield character.encode()
        elif encoded := octets.get(ord(character)):
            yield encoded
        elif encoding == "gb18030" and character != _UNWRITTEN:
            # Python has a pair for the one that is written in four octets.
            yield character.encode(encoding) if character != "\ue7c7" else b"\x81\x35\xf4\x37"
        else:
            yield _numeric(character)


def _numeric(character: str) -> bytes:
    """What the encoding lacks becomes a numeric character reference, escaped."""
    return b"%%26%%23%d%%3B" % ord(character)


def _iso2022_jp(query: str) -> Iterator[bytes]:
    """With an escape wherever the set of characters changes, and back to ASCII at the end."""
    octets, mode = _octets_by_point("euc-jp"), _ASCII
    for character in query:
        if "\uff61" <= character <= "\uff9f":
            character = _SOUND_MARKS.get(character) or unicodedata.normalize("NFKC", character)
        pair = octets.get(ord(character), b"") if not character.isascii() and character not in _ROMANS else b""
        if character in _ROMANS:
            wanted = _ROMAN
        elif len(pair) == 2 and pair[0] != 0x8E:
            wanted = _JIS
        else:
            wanted = _ROMAN if mode == _ROMAN and character not in "\\~" else _ASCII
        if wanted != mode:
            yield wanted
            mode = wanted
        if wanted == _JIS:
            yield bytes(octet & 0x7F for octet in pair)
        elif character in _ROMANS:
            yield _ROMANS[character]
        elif character in "\x0e\x0f\x1b":
            yield _numeric("\ufffd")
        else:
            yield character.encode() if character.isascii() else _numeric(character)
    if mode != _ASCII:
        yield _ASCII
