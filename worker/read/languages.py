"""Which language a document is in: as it says, else as its text looks.

That is told by letters that few languages have, and by resiliparse's profiles of 101 languages (the extra "text"): the
same text has always the same answer. Pure.
"""

import re
from functools import cache
from importlib.util import find_spec
from typing import Final

MOST: Final = 1000
"""Characters that are looked at, from the beginning on."""
LEAST: Final = 150
"""Characters without which nothing is said: of fewer words many guesses are wrong."""
_CUTOFF: Final = 1000
"""The distance from a language's profile beyond which it is none that is known."""
_SHARE: Final = 0.2
"""The share of a text in the letters of a script that decides."""
_FEWEST: Final = 20
_KANA_SHARE: Final = 0.05
_KANA: Final = re.compile("[\u3040-\u30ff]")
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_OTHERS: Final = (("ko", re.compile("[\uac00-\ud7af]")), ("th", re.compile("[\u0e00-\u0e7f]")), ("zh", _HAN))
"""Scripts of one language each that has no blanks between words, or few: profiles of words say little of them."""
_OF_PROGRAMS: Final = re.compile(r"css|csv|javascript|json|(?<!xhtml\+)xml\Z")
"""Media types whose text is none that people write."""
_TAG: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")


def declared(lang: str | None, header: str | None) -> str:
    """What a document says: its own ``lang``, else its Content-Language (RFC 9110 section 8.5), if that names one
    language; "" if it says none."""
    if lang:
        return lang
    tag = (header or "").strip()
    return tag if _TAG.fullmatch(tag) else ""


def detected(text: str, media_type: str) -> str:
    """The language of a text, ISO 639-1; "" where it cannot be told, is no prose, or the extra is not installed."""
    if not _is_installed() or _OF_PROGRAMS.search(media_type):
        return ""
    text = text[:MOST]
    if not text.isascii() and (language := _by_script(text)):
        return language
    if len(text) < LEAST:
        return ""
    from resiliparse.parse.lang import detect_fast  # heavy: only where a page says no language

    language, _ = detect_fast(text, cutoff=_CUTOFF)
    return "" if language == "unknown" else str(language)


def _by_script(text: str) -> str:
    """Of a script that is enough to tell."""
    least = max(_SHARE * len(text), _FEWEST)
    kana = len(_KANA.findall(text))
    if kana > _KANA_SHARE * len(text) and kana + len(_HAN.findall(text)) > least:
        return "ja"
    return next((language for language, letters in _OTHERS if len(letters.findall(text)) > least), "")


@cache
def _is_installed() -> bool:
    return find_spec("resiliparse") is not None
