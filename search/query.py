"""What a person typed, understood: words, phrases, what is left out, and filters. Pure.

    words              are looked for; of four or more one may be missing
    "two words"        next to each other, in this order
    -word  -"a b"      not with it
    site:example.org   of this domain and all below it        host:www.example.org   of this host, at any port
    lang:de            in this language                       type:pdf               of this media type
    before:2026-11     fetched before that began              after:2026             fetched then or later
    inurl:word         in its address                         intitle:word           in its title
    label:word         found from a seed of this label       item:field=value   with an item (see docs/extraction.md)

Filters take a minus too; several of one name mean any of them, of items several of one field. Nothing that can be typed
is an error: what cannot be read is left out or taken as words, and a hint says so. Length and number of words are
bounded.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import msgspec

from gregor.search.hints import misread, unknown
from gregor.search.query_text import LONGEST, PIECE, facet, item_parts, readable
from gregor.search.terms import terms
from gregor.search.typed_values import ascii_host, moment, without_port

MOST_TERMS: Final = 32
"""Terms of a query that are looked for, in all its parts."""
MOST_FILTERS: Final = 16
_REMEMBERED: Final = 4096
"""Filters whose text is remembered: those of a crawl are met again and again."""

_EXAMPLES: Final = {
    "lang": "a language as de or pt-br",
    "type": "a type as html, pdf or text/plain",
    "label": "one word, as a seed's label is",
}

Phrase = tuple[str, ...]


class QueryFilter(msgspec.Struct, frozen=True):
    """A condition that is met or not: ``name`` is site, host, lang, type, label, item, inurl or intitle.

    ``value`` is one exact value, or the terms that stand next to each other.
    """

    name: str
    value: Phrase
    without: bool = False

    @property
    def group(self) -> str:
        """Of those with the same one any has to be met: filters of a name; of items, those of a field, or of names."""
        return f"item:{item_parts(self.value[0])[0]}" if self.name == "item" else self.name


class ParsedQuery(msgspec.Struct, frozen=True):
    """A query as it was understood."""

    words: Phrase = ()  # the terms that are looked for, those of the phrases among them
    phrases: tuple[Phrase, ...] = ()  # which must be there as they are
    without: tuple[Phrase, ...] = ()  # which must not be there
    filters: tuple[QueryFilter, ...] = ()
    since: float | None = None  # fetched then or later, unix seconds
    until: float | None = None  # fetched before, unix seconds
    said: str = ""  # what was understood, as a query
    hints: tuple[str, ...] = ()  # what was not, for people
    newest: bool = False  # in the order of when they were fetched, the newest first
    least: int = 0  # so many of the words have to be there; 0: all, or nearly

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        dated = self.since is not None or self.until is not None
        return not self.words and not dated and all(condition.without for condition in self.filters)


_HOST: Final = re.compile(r"(?:\*\.)?([^\s/?#@\\]{1,255})")
_TOKEN: Final = re.compile(r"[a-z0-9][a-z0-9.+/_-]{0,79}")
_OTHER_NAMES: Final = {
    "filetype": "type",
    "language": "lang",
    "title": "intitle",
    "allintitle": "intitle",
    "url": "inurl",
}


def parse(text: str) -> ParsedQuery:
    """Understand a query, whatever it is."""
    return _Parser(text).asked()


@lru_cache(_REMEMBERED)
def typed(name: str, value: str) -> str:
    """The filter for an exact value as it is typed; "" where none can be."""
    text = _typed(name, (value,))
    return text if parse(text).filters == (QueryFilter(name, (value,)),) else ""


def pieces(text: str) -> list[tuple[str, QueryFilter | None]]:
    """The parts of a query, as far as it is read, as they are typed, each with the filter that it says, if it does."""
    parts = [(match[0], parse(match[0]).filters if match[2] else ()) for match in PIECE.finditer(readable(text))]
    return [(part, filters[0] if filters else None) for part, filters in parts]


def _typed(name: str, value: Phrase) -> str:
    is_plain = len(value) == 1 and " " not in value[0]
    return f"{name}:{value[0]}" if is_plain else f'{name}:"{" ".join(value)}"'


class _Parser:
    def __init__(self, text: str) -> None:
        self._words: dict[str, None] = {}
        self._phrases: list[Phrase] = []
        self._without: list[Phrase] = []
        self._filters: list[QueryFilter] = []
        self._dates: dict[str, float] = {}
        self._said: list[str] = []
        self._hints: dict[str, None] = {}
        self._room = MOST_TERMS
        self._text = self._cleaned(text)

    def asked(self) -> ParsedQuery:
        operators, plain = self._operators(), list[str]()
        for minus, name, rest in PIECE.findall(self._text):
            if not (minus or name or rest[0] == '"' or rest[-1] == ":"):
                plain.append(rest)  # words that follow each other are understood at once: most queries are nothing else
                continue
            self._look_for_all(plain)
            operator = _OTHER_NAMES.get(name.lower(), name.lower())
            read = operators.get(operator)
            if read is not None:
                read(operator, rest.strip('"'), bool(minus))
            elif name:
                self._hint(unknown(name))
                self._look_for(f"{name}:{rest}", rest.startswith('"'), bool(minus))
            else:
                self._look_for(rest, rest.startswith('"'), bool(minus))
        self._look_for_all(plain)
        asked = ParsedQuery(
            words=tuple(self._words),
            phrases=tuple(dict.fromkeys(self._phrases)),
            without=tuple(dict.fromkeys(self._without)),
            filters=tuple(dict.fromkeys(self._filters)),
            since=self._dates.get("after"),
            until=self._dates.get("before"),
            said=" ".join(self._said),
            hints=tuple(self._hints),
        )
        if asked.is_empty:
            nothing = "nothing is asked for but what is to be left out" if self._said else "nothing is asked for"
            asked = msgspec.structs.replace(asked, hints=(*asked.hints, f"{nothing}: type some words"))
        return asked

    def _operators(self) -> dict[str, Callable[[str, str, bool], None]]:
        return {
            "site": self._of_host,
            "host": self._of_host,
            "lang": self._exact,
            "type": self._exact,
            "label": self._exact,
            "item": self._facet,
            "inurl": self._within,
            "intitle": self._within,
            "before": self._dated,
            "after": self._dated,
        }

    def _cleaned(self, text: str) -> str:
        if len(text) > LONGEST:
            self._hint(f"only the first {LONGEST} characters were read")
        read = readable(text)
        for hint in misread(read):
            self._hint(hint)
        if read.count('"') % 2:
            self._hint("a quote is not closed: it ends where the query does")
        return read

    def _hint(self, text: str) -> None:
        self._hints[text] = None

    def _bounded(self, text: str) -> Phrase:
        """The terms of a part of the query, as far as there is room for them."""
        all_terms = terms(text)
        if len(all_terms) > self._room:
            self._hint(f"only the first {MOST_TERMS} words are looked for")
        taken = tuple(all_terms[: self._room])
        self._room -= len(taken)
        return taken

    def _look_for_all(self, plain: list[str]) -> None:
        """Words without signs, which are taken out of the list."""
        if plain:
            self._look_for(" ".join(plain), quoted=False, without=False)
            plain.clear()

    def _look_for(self, text: str, quoted: bool, without: bool) -> None:
        if not quoted and text.endswith(":") and text[:-1].lower() in self._operators():
            self._hint(f"{text.lower()} wants its value right behind it; left out")
            return
        looked_for = self._bounded(text)
        if not looked_for:
            return
        is_phrase = quoted and len(looked_for) > 1
        self._said.append(
            "-" * without + (f'"{" ".join(looked_for)}"' if is_phrase or without else " ".join(looked_for))
        )
        if without:
            self._without.append(looked_for)
            return
        self._words |= dict.fromkeys(looked_for)
        if is_phrase:
            self._phrases.append(looked_for)

    def _filter(self, name: str, value: Phrase, without: bool) -> None:
        if len(self._filters) >= MOST_FILTERS:
            self._hint(f"only the first {MOST_FILTERS} filters were read")
            return
        self._filters.append(QueryFilter(name, value, without))
        self._said.append("-" * without + _typed(name, value))

    def _of_host(self, name: str, text: str, without: bool) -> None:
        bare = re.sub(r"^[A-Za-z]+://", "", text)
        host = _HOST.match(bare)
        if host is None:
            self._hint(f"{name}: wants a name as example.org; left out")
            return
        if bare[host.end() :].strip("/"):
            self._hint(f"{name}: is for names alone: the path was left out (inurl: looks into addresses)")
        value = ascii_host(host[1])
        if name == "site" and (bare := without_port(value)) != value:
            self._hint("site: is for names alone: the port was left out (host: tells ports apart)")
            value = bare
        self._filter(name, (value,), without)

    def _exact(self, name: str, text: str, without: bool) -> None:
        value = text.lower() if name == "label" else text.lower().replace("_", "-")
        if not _TOKEN.fullmatch(value):
            self._hint(f"{name}: wants {_EXAMPLES[name]}; left out")
            return
        self._filter(name, (value,), without)

    def _facet(self, name: str, text: str, without: bool) -> None:
        value = facet(text)
        if not value:
            self._hint(f"{name}: wants what items are called, or field=value; left out")
            return
        self._filter(name, (value,), without)

    def _within(self, name: str, text: str, without: bool) -> None:
        looked_for = self._bounded(text)
        if not looked_for:
            self._hint(f"{name}: wants a word; left out")
            return
        self._filter(name, looked_for, without)

    def _dated(self, name: str, text: str, without: bool) -> None:
        at = moment(text)
        if at is None:
            self._hint(f"{name}: wants a date as 2026, 2026-11 or 2026-11-29; left out")
            return
        if without:
            name = {"before": "after", "after": "before"}[name]
        narrower = max if name == "after" else min
        self._dates[name] = narrower(at, self._dates.get(name, at))
        self._said.append(f"{name}:{text}")
