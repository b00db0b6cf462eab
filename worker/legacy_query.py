"""Queries of links in documents that are not UTF-8 (URL Standard, "percent-encode after encoding")."""

import codecs
import re

import webencodings

_EDGES = "".join(map(chr, range(0x21)))
_INVISIBLE = str.maketrans("", "", "\t\n\r")
_ESCAPED = re.compile(rb"[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]")
"""Octets outside the special-query percent-encode set stay; all others are escaped."""

_NOT_A_CHARACTER = "%26%2365533%3B"
_DIFFERENCES: dict[str, dict[int, int | str]] = {
    "euc-jp": {0xFF0D: 0x2212, 0xFF5E: 0x301C, 0xA5: 0x5C, 0x203E: 0x7E},
    "shift_jis": {0x2212: 0xFF0D, 0xA5: 0x5C, 0x203E: 0x7E},
    "iso-2022-jp": {0x2212: 0xFF0D, 0x0E: _NOT_A_CHARACTER, 0x0F: _NOT_A_CHARACTER, 0x1B: _NOT_A_CHARACTER},
    "gb18030": {0xE5E5: "%26%2358853%3B"},
    "gbk": {0xE5E5: "%26%2358853%3B", 0x20AC: "%80"},
}
"""Where encoders of the Encoding Standard and Python's codecs part ways (what is escaped here stays as it is)."""

_READ_ONLY = {"big5": frozenset(bytes((lead,)) for lead in range(0x81, 0xA1)), "euc-jp": frozenset((b"\x8f",))}
"""First octets of characters that the standard reads and never writes: Hong Kong's in Big5, JIS X 0212 in EUC-JP."""


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
    codec = encoding.codec_info
    query = query.translate(_DIFFERENCES.get(encoding.name, {}))
    if leads := _READ_ONLY.get(encoding.name):
        query = "".join(_numeric(one) if codec.encode(one, "ignore")[0][:1] in leads else one for one in query)
    octets = codec.encode(query, "gregor.reference")[0]
    return path + question + _ESCAPED.sub(_escape, octets).decode("ascii") + number_sign + fragment


def _escape(octet: re.Match[bytes]) -> bytes:
    return b"%%%02X" % ord(octet[0])


def _reference(error: UnicodeError) -> tuple[str, int]:
    """What the encoding lacks becomes a numeric character reference, escaped."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_numeric, error.object[error.start : error.end])), error.end


def _numeric(character: str) -> str:
    return f"%26%23{ord(character)}%3B"


codecs.register_error("gregor.reference", _reference)
