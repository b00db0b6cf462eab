"""Text of strangers, made harmless for a terminal, a log line or an error message."""

import re
import unicodedata

_USER_INFO = re.compile(r"(?i)(https?:[/\\]*|://)[^/?#\s]*@")
MASK = "***"


def escape(text: str) -> str:
    """With everything that is not printable (controls, bidirectional marks, line separators …) as \\xNN, \\uNNNN."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, limit: int = 500) -> str:
    """Escaped, and cut where it passes ``limit`` characters."""
    return escape(text if len(text) <= limit else text[: limit - 1] + "…")


def mask_user_info(text: str) -> str:
    """Without the user name and password of any URL in it, in whatever form the URL Standard takes; they end with the
    last @ of the authority."""
    return _USER_INFO.sub(rf"\1{MASK}@", text) if "@" in text else text
