"""URLs as the wild has them, for property tests: built from the pieces at which parsers and canonicalisers stumble."""

import ada_url
from hypothesis import strategies as st

_PIECES = [
    *"/?#&;=%.:@\\^ \t[]()'<~",
    *("%2e", "%2E", "%41", "%%361", "%%32e", "%2F", "%zz", "..", "/.", "/..", "//", "ü", "\ud800", "a", "B", "1", "61"),
    *("index.html", "/default.aspx", "jsessionid=1", ";jsessionid=A", "sid=2", "utm_source=x", "&gclid=", "b=2", "a=1"),
    *("(S(abcdefghijklmnopqrstuvwx))", "/(abcdefghijklmnopqrstuvwx)", "?phpsessid=", "x_ref=y", "&&"),
]


def url_texts() -> st.SearchStrategy[str]:
    """Texts that look like URLs, most of them broken."""
    heads = st.sampled_from(
        ["", "http://h", "https://u:p@h.example:80/", "HTTP:\\\\h./", "http://[::1]:81", "//h", "x:"]
    )
    return st.builds(str.__add__, heads, _tails())


def hrefs() -> st.SearchStrategy[str]:
    """WHATWG serialisations of http(s) URLs."""
    return _tails().map(_serialised)


def _tails() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(_PIECES) | st.characters(), max_size=12).map("".join)


def _serialised(tail: str) -> str:
    text = f"https://h.example/{tail}"
    return ada_url.normalize_url(text.encode("utf-8", "replace").decode())
