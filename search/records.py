"""What happened in a crawl, as documents: how its URLs and hosts stand, what was given up and ordered, its log. Pure.

A document of these is shown by its title, which holds all that is said of it; there is no text to cut a snippet from.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, get_args
from urllib.parse import urlsplit

import msgspec
import xxhash

from gregor.schemas.messages import DeadLetter, Row, State
from gregor.search.documents import IndexedDocument

LONGEST: Final = 1000
"""Characters of what is shown and found of a record."""
_USUAL_PORTS: Final = {"http": 80, "https": 443}
_KNOWN: Final = frozenset({"time", "level", "source", "event", "crawl", "worker"})


def of_row(row: Row) -> IndexedDocument:
    """How a URL stands after its last visit. ``type:`` finds its state."""
    at = row.attempts[-1].at if row.attempts else row.first_seen
    details = [row.rule, f"to {row.target}" if row.target else "", f"from {row.via}" if row.via else ""]
    said = [row.state, str(row.status or ""), row.outcome, *details, f"visit {row.visits}"]
    return _document(row.key, row.key, row.href, row.host, said, row.state, at, row.label)


def of_letter(letter: DeadLetter) -> IndexedDocument:
    """A URL that was given up, or a message that could not be read. ``type:`` finds its cause."""
    place = letter.key or letter.source
    name = f"{place} {letter.at}"  # a URL may be given up again
    said = [letter.cause, letter.detail, f"{letter.attempts} attempts" if letter.attempts else "", letter.source]
    return _document(name, place, letter.href, letter.host, said, letter.cause, letter.at)


def of_host(host: Mapping[str, Any]) -> IndexedDocument:
    """What a crawl has of a host: a row of the table `hosts`. ``type:`` finds the state of most of its URLs."""
    states = {state: int(host[state]) for state in get_args(State) if host[state]}
    said = [
        *(host["host"], f"{host['urls']} URLs", *(f"{count} {state}" for state, count in states.items())),
        *(f"{host['pages']} pages", f"{host['bytes']} bytes", f"{host['errors']} errors"),
    ]
    most = max(states, key=states.__getitem__, default="")
    name = host["host"]
    return _document(name, name, "", name, said, most, host["last_visit"] or 0.0)


def of_change(change: Mapping[str, Any]) -> IndexedDocument:
    """An order, or what a person had done once: the fields of a change of the orders. ``type:`` finds what it was,
    ``label:`` who gave it."""
    what, who, moved = change["what"], change["who"], change["count"]
    said = [what, f"by {who}", change["where"], change["why"], f"{moved} moved" if moved else ""]
    name, kind = str(change["number"]), what.partition(" ")[0]
    return _document(name, name, "", "", said, kind, change["at"], "-".join(who.split()))


def of_line(line: bytes, place: int) -> IndexedDocument | None:
    """A line of the log in JSON, that began at a place of its file; None for what is none.

    ``type:`` finds its level, ``label:`` the part of the program that wrote it. Its host is that of its URL where it
    says none, so that it is taken out with others of a host that opts out. Its name is made of both, so that the
    same line read again is the same document.
    """
    try:
        fields = msgspec.json.decode(line, type=dict[str, Any])
        at = datetime.fromisoformat(str(fields["time"])).timestamp()
    except (msgspec.MsgspecError, KeyError, ValueError, OverflowError):
        return None
    more = [f"{name}={value}" for name, value in fields.items() if name not in _KNOWN and value not in (None, "")]
    said = [str(fields.get("level", "")), str(fields.get("source", "")), str(fields.get("event", "")), *more]
    name = f"{place:x}-{xxhash.xxh3_64_hexdigest(line)}"
    url = str(fields.get("url") or "")
    host = str(fields.get("host") or "") or _host_of(url)
    level, source = str(fields.get("level", "")), str(fields.get("source", ""))
    return _document(name, url or name, url, host, said, level, at, source)


def _host_of(url: str) -> str:
    """The host of a URL as the log has it, which is canonical; "" where there is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    host = f"[{host}]" if ":" in host else host
    return host if port in (None, _USUAL_PORTS.get(parts.scheme)) else f"{host}:{port}"


def _document(
    name: str, key: str, href: str, host: str, said: list[str], kind: str, at: float, label: str = ""
) -> IndexedDocument:
    title = " · ".join(part for part in said if part)[:LONGEST]
    kind = "-".join(kind.lower().replace("_", "-").split())[:80]
    return IndexedDocument(name, ((key, 1),), href, host, title, "", content_type=kind, at=at, label=label)
