"""The shape of a URL: what is left of it without what varies. Pages of one shape come from one part of a site. Pure."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from gregor.worker.links.url_loops import LETTER, pairs
from gregor.worker.web.canonical import SESSION_NAME

REPEATING: Final = "/**"
"""The shape of all paths in which a segment comes twice."""

_TARGETS: Final = 4096
"""URLs that are remembered by what they show: each is asked for some times on its way (some 500 bytes each)."""
_IN_A_ROW: Final = 16
_KINDS: Final = 4
_WORD: Final = 12
_NAME: Final = 200

_FIRST: Final = 8
_INTEGER: Final = re.compile(r"(?<==)-?\d+|\d+")
_MONTHS: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
_VARIABLE: Final = re.compile(rf"[0-9a-f]{{8,}}|\d+|(?<![a-z])(?:{_MONTHS})(?![a-z])", re.IGNORECASE)
_WORDS: Final = re.compile(
    r"(?:;(?P<name>[a-z_]{1,32})=)?(?P<open>\((?:[a-z]\()?)?(?<![0-9a-z])(?P<word>[0-9a-z]{8,})\)*", re.IGNORECASE
)
"""Words that may be session ids in a path or a query: path parameters and ASP.NET's ``(S(...))`` as a whole. Each
position is looked at once, whatever a site writes: what a word is made of is counted afterwards."""
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")
_LONG: Final = 16
_LONGER: Final = 20
_DIGITS: Final = 3
_TEN: Final = "0123456789"
MAX_SHAPED: Final = 1024
"""Characters of a path with its query that are looked at."""
_NAMED: Final = re.compile(rf"(?<=[?&;])(?:{SESSION_NAME})=[^&;/]*", re.IGNORECASE)
_CALENDAR: Final = re.compile(
    r"(?:^|[/?&;_.-])(?:cal|calendars?|dates?|days?|events?|months?|weeks?|years?|agenda|schedule|timetable"
    r"|kalender|termine?|veranstaltung(?:en)?|datum|tage?|woche|monate?|jahr"
    r"|calendrier|evenements?|jour|semaine|mois|annee|calendario|eventos?|eventi|fecha|dia|giorno|semana|settimana"
    r"|mese?s?|mes|ano|anno|kalendarz|kalendar|takvim)(?=[/?&=_.-])",
    re.IGNORECASE,
)
"""Names of what is by days, weeks or months, in some languages."""
_DATED: Final = re.compile(
    r"(?:^|[=/_-])(?:19|20)\d\d([-_./]?)(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12]\d|3[01]))?(?=&|/?(?:\.[a-z]{2,5})?$)"
    r"|=1\d{9}(?:\d{3})?(?=&|$)",
    re.IGNORECASE,
)
"""A date that a URL ends in, or that a parameter has; unix seconds."""
_BELOW_NOTHING: Final = re.compile(r"[=/]-\d+(?=[&/]|$)")
"""A number that no page counts."""
_DIGIT: Final = re.compile(r"\d")
_RELEASE: Final = re.compile(r"/v?\d{1,2}(?:\.\d{1,2}){1,3}(?=/)", re.IGNORECASE)
"""A folder for a release of what a site documents: its numbers are no date."""
_PART: Final = re.compile(r"([&;=])")
"""What stands between the names and values of a query."""


def _session(match: re.Match[str]) -> bool:
    """Whether a word is made as session ids are: hexadecimal with letters and digits, long with some digits, the longer
    the fewer, or very long and all of capitals."""
    word = match["word"]
    if match["open"] is not None and len(word) > _LONG:
        return True
    digits = sum(map(word.count, _TEN))
    if not digits or digits == len(word):
        return not digits and len(word) >= _LONGER and word.isupper()
    return _HEXADECIMAL.issuperset(word) or len(word) >= (_LONG if digits >= _DIGITS else _LONGER)


def _first_session(text: str) -> re.Match[str] | None:
    return next(filter(_session, _WORDS.finditer(text)), None)


@lru_cache(maxsize=_IN_A_ROW)
def _without_sessions(text: str) -> str:
    return _WORDS.sub(lambda match: "" if _session(match) else match[0], text)


def host_of_key(key: str) -> str:
    """The host of a canonical URL, as :attr:`Url.host` has it: with its port unless that is 80 or 443."""
    return key.split("/", 3)[2] if "://" in key else ""


def target_of(href: str) -> str:
    """Path and query of an http(s) URL as it is serialised."""
    return href[href.find("/", 8) :]


def sessionless(target: str) -> str:
    """A path with its query without what may be session ids in it, by the look of the values or by their names."""
    bare = _without_sessions(target)
    return _NAMED.sub("", bare) if "?" in bare or ";" in bare or "&" in bare else bare


class View(NamedTuple):
    """What a path with its query shows by itself."""

    shapes: tuple[str, ...]
    section: str
    """The part of its site that it belongs to: the first segment of its path, without what varies."""
    endless: bool
    """Whether its text is of a kind that endless spaces are made of, though most such URLs are honest: session ids,
    dates of a calendar, segments that repeat."""
    dated: bool
    """Whether nothing but a date, or a name for what is by dates, makes it look endless."""
    below: bool
    """Whether it counts below nothing, as a calendar that goes back from today does."""
    frame: str
    """Where nothing but one word that may be an id makes it look endless: all else of it. Empty for others."""
    combines: bool
    """Whether it has several parameters of which more than one number, or none, varies as far as it shows itself."""


@lru_cache(maxsize=_TARGETS)
def view(target: str) -> View:
    """What is to be seen of a path with its query."""
    path, _, query = target[:MAX_SHAPED].partition("?")
    session = _first_session(path)
    names = _names(path, query, session)
    section = _VARIABLE.sub("N", target.partition("?")[0].split("/", 2)[1])
    if session is not None and session["name"] and session.start() <= len(target.split("/", 2)[1]):
        section = names[0]  # whatever page has a new id each time
    below = _BELOW_NOTHING.search(target) is not None
    odd = bool(names) and (
        REPEATING in names
        or session is not None
        or below
        or (len(target) > len(path) and _first_session(target) is not None)
    )
    dated = bool(names) and not odd and _DIGIT.search(_RELEASE.sub("", target)) is not None
    dated = dated and (_CALENDAR.search(target) or _DATED.search(target)) is not None
    frame = "" if REPEATING in names or not odd or below else _frame(target)
    return View(names, section, odd or dated, dated, below, frame, "&" in target and not _one_number(target))


def _frame(target: str) -> str:
    """A target without the words in it that may be ids, each with the whole of its segment or value, and without what
    only repeats how they begin, as the folders of a store do. Empty where a session is told by its place or name."""
    target = target[:MAX_SHAPED]
    words = [match for match in _WORDS.finditer(target) if _session(match)]
    if _NAMED.search(target) or any(match["name"] or match["open"] for match in words):
        return ""
    ids = [match["word"] for match in words]
    path, mark, query = target.partition("?")
    at, segments = 0, path.split("/")
    for number, segment in enumerate(segments):
        if any(word in segment for word in ids):
            segments[number] = "N"
        elif number > 1 and segment and any(word.startswith(segment) or word.startswith(segment, at) for word in ids):
            segments[number], at = "N", at + len(segment)
    values = ("N" if any(word in part for word in ids) else part for part in _PART.split(query))
    return f"{'/'.join(segments)}{mark}{''.join(values)}"


def section(target: str) -> str:
    """The part of its site that a URL belongs to."""
    return view(target).section


def shapes(target: str) -> tuple[str, ...]:
    """The shapes of a path with its query, none if nothing in it is variable.

    Numbers, long hexadecimal words, session ids and names of months in a path are variable. A query counts twice: with
    its path, whatever it says (for facets combine), and by its parameters, wherever they stand (a session goes
    everywhere; months and days may differ in one word). What is below a session id in a path is one shape. So are all
    paths in which a segment comes twice: relative links on a page that answers under any path make them. A path of two
    segments or more has that of its section as well, whatever else it says.
    """
    return view(target).shapes


def narrow(target: str) -> tuple[str, ...]:
    """The shapes of a URL but for that of its whole section: its path, and its parameters."""
    return tuple(name for name in view(target).shapes if not name.endswith("/*"))


def _names(path: str, query: str, session: re.Match[str] | None) -> tuple[str, ...]:
    """The shapes of a path and a query; ``session`` is what may be a session id in the path."""
    if session is not None:
        shape = f";{session['name']}" if session["name"] else f"{_VARIABLE.sub('N', path[: session.start()])}N**"
    else:
        shape = _VARIABLE.sub("N", path)
    names: tuple[str, ...] = (shape[:_NAME],) if shape != path else ()
    if path.count("/") > 1:
        if path.count("/") > 2 and _repeats(shape):
            names = (REPEATING,)
        names += (f"{shape[: shape.find('/', 1)]}/*",) if session is None else ()
    if query:
        kinds = sorted({_kind(pair) for pair in pairs(query)})
        return (f"{shape[:_NAME]}?", "?" + ("&".join(kinds)[:_NAME] if len(kinds) <= _KINDS else "*"), *names[1:])
    return names


def _repeats(shape: str) -> bool:
    """Whether a segment with a letter of its own stands twice in a path whose numbers were left out."""
    words = [segment for segment in shape.split("/") if segment != "N" and LETTER.search(segment)]
    return len(set(words)) < len(words)


def numbers(target: str) -> tuple[int, ...]:
    """The first numbers of a URL, by which pages of one shape may be in a row; those of session ids are none."""
    return tuple(int(number[:18]) for number in _INTEGER.findall(_without_sessions(target))[:_FIRST])


def counted(target: str) -> bool:
    """Whether one whole number is all that varies in a URL: between two such URLs there are finitely many."""
    return "&" not in target and _one_number(target) and _first_session(target) is None


def _one_number(target: str) -> bool:
    varying = _VARIABLE.findall(target)
    return len(varying) == 1 and varying[0].isdigit()


def _kind(pair: str) -> str:
    """A parameter whose value is left out unless it is one short word."""
    name, _, value = pair.partition("=")
    return f"{_VARIABLE.sub('N', name)}={value if value.isalpha() and len(value) <= _WORD else ''}"
