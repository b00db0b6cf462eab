"""The canonical form of a URL: its identity, by which it is seen, stored and explained.

It is built on the WHATWG serialisation, which already lower-cases scheme and host, drops default ports and removes dot
segments. On top come the rest of RFC 3986 section 6.2.2 (upper-case escapes, unreserved characters unescaped) and, only
where the operator asks for them, operations that can make two different pages one.
"""

import re
import string

import ada_url
import msgspec

FORM = 2
"""Number of this canonical form; it changes when any URL could get another key."""


class CanonicalRules(msgspec.Struct, frozen=True):
    """Operations beyond RFC 3986. Each one can merge different pages, so none is on by default."""

    session_ids: bool = False
    """Drop session identifiers (``jsessionid``, ``PHPSESSID``, ``(S(...))`` …) from path and query."""
    tracking_parameters: bool = False
    """Drop query parameters that say where a visitor came from (``utm_*``, ``gclid`` …)."""
    index_files: bool = False
    """``/index.html``, ``/default.aspx`` and their like are the directory they stand for."""
    sort_query: bool = False
    """Query parameters in order of name, then value; empty ones and an empty query dropped."""

    def fingerprint(self) -> str:
        """What the keys of a crawl depend on. A crawl must not go on under another fingerprint: it would see anew."""
        form = FORM + self.session_ids  # which names are sessions became more
        return "+".join([f"canonical-{form}", *(name for name in self.__struct_fields__ if getattr(self, name))])

    @classmethod
    def of_fingerprint(cls, fingerprint: str) -> "CanonicalRules":
        """The rules of a fingerprint, whatever the number of its form."""
        return cls(**dict.fromkeys(fingerprint.split("+")[1:], True))


CORE = CanonicalRules()

_AUTHORITY = re.compile(r"[^:/?#]+:(?://[^/?#]*)?")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_OTHERWISE = re.compile(r"%(?:[0-9A-Fa-f][a-f]|[a-f][0-9A-F]|2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])")
"""An escape that is no canonical one: not in upper case, or of an unreserved character. Most are canonical."""
_STRAY = re.compile(r"%(?![0-9A-Fa-f]{2})")
"""A percent sign that begins no escape."""
_UNRESERVED = string.ascii_letters + string.digits + "-._~"
_DECODED = {f"%{ord(character):02X}": character for character in _UNRESERVED}

SESSION_NAME = (
    r"(?:bv_|_|[jl]|asp\.net_)?(?:session_?id|sid)|(?:php|cgi)?sess_?id|aspsessionid[a-z]*|cfid|cftoken"
    r"|(?:os|xt)csid|zenid|mscsid"
)
"""A regular expression for the names of parameters that are known to hold a session."""
_SESSION_PARAMETER = re.compile(rf"(?:{SESSION_NAME})=[^/]*", re.IGNORECASE)
"""A slash speaks against a session: Slash, for one, names its stories ``sid=01/02/03/123``."""
_SESSION_SUFFIX = re.compile(rf";(?:{SESSION_NAME})=[^/?&;]*", re.IGNORECASE)
_SESSION_SEGMENT = re.compile(r"/\((?:[0-9a-z]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)(?=/)", re.IGNORECASE)
"""ASP.NET's cookieless sessions."""
_TRACKING_PARAMETER = re.compile(
    r"(?:(?:utm|mtm|pk|piwik|matomo|mc|mkt|hsa|itm|oly|vero|fb|aftr)_[^=]*"
    r"|[^=]*_(?:affiliate|campaign|cid|medium|ref|referr?er|source)"
    r"|(?:d|fb|g|tt|tw|y)clid|ysclid|gclsrc|srsltid|msclkid|[gw]braid|igshid|(?:click|partner)_?id|_hs(?:enc|mi)|_g[al]|tracking|xtor"
    r")(?:=.*)?",
    re.IGNORECASE,
)
INDEX_FILE = re.compile(
    r"/(?:index|default)\.(?:[psx]?html?|aspx?|cfm|cgi|php[0-9]?|js[pf][afx]?)$",
    re.IGNORECASE,
)


def canonical(href: str, rules: CanonicalRules = CORE) -> str:
    """The canonical form of ``href``, a WHATWG serialisation. Idempotent; drops a fragment; takes linear time."""
    href = href.partition("#")[0]
    if "%" in href:
        href = _normalise_escapes(href)
    return href if rules == CORE else _reduce(href, rules)


def _normalise_escapes(href: str) -> str:
    """RFC 3986 sections 6.2.2.1 and 6.2.2.2, for path and query."""
    start = _rest(href)
    rest = href[start:]
    if not _STRAY.search(rest):
        return href[:start] + _OTHERWISE.sub(_decode, rest)
    # With a decoded character it can make a new escape ("%%361" is "%61" is "a"), which may even spell a dot segment.
    return _reparse(href[:start] + _decode_to_the_end(rest))


def _decode(escape: re.Match[str]) -> str:
    upper = escape[0].upper()
    return _DECODED.get(upper, upper)


def _decode_to_the_end(text: str) -> str:
    """Decodes until nothing can be decoded, on a stack: repeated passes would be quadratic in a hostile URL.

    Escapes never overlap ("%" is no hexadecimal digit), so the order of decoding makes no difference.
    """
    stack: list[str] = []
    for character in text:
        stack.append(character)
        while len(stack) > 2 and stack[-3] == "%" and (decoded := _DECODED.get("".join(stack[-3:]).upper())):
            stack[-3:] = decoded
    return _ESCAPE.sub(_decode, "".join(stack))


def _reduce(href: str, rules: CanonicalRules) -> str:
    """The optional operations, in an order in which none leaves work for an earlier one."""
    start = _rest(href)
    path, question, query = href[start:].partition("?")
    parameters = query.split("&")
    if rules.session_ids:
        path = _SESSION_SEGMENT.sub("", _SESSION_SUFFIX.sub("", path))
        parameters = [
            _SESSION_SUFFIX.sub("", parameter)
            for parameter in parameters
            if not _SESSION_PARAMETER.fullmatch(parameter)
        ]
    if rules.tracking_parameters:
        parameters = [parameter for parameter in parameters if not _TRACKING_PARAMETER.fullmatch(parameter)]
    if rules.index_files:
        path = INDEX_FILE.sub("/", path)
    if rules.sort_query:
        parameters = sorted(filter(None, parameters), key=lambda parameter: parameter.partition("=")[::2])
        question = "?" if parameters else ""
    elif not parameters:
        question = ""
    reduced = href[:start] + path + question + "&".join(parameters)
    return _reparse(reduced) if "/." in path else reduced


def _rest(href: str) -> int:
    """Where the path begins: the authority is not ours to touch."""
    match = _AUTHORITY.match(href)
    return match.end() if match else 0


def _reparse(href: str) -> str:
    """Removes dot segments that came up."""
    return ada_url.normalize_url(href)
