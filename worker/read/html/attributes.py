"""The attributes of a tag, as it stands in a page that is read without a tree."""

import html as entities
import re
from html.entities import html5
from itertools import islice
from typing import Final

MAX_ATTRIBUTES: Final = 512
"""Attributes of one tag that are read."""
MAX_REFERENCES: Final = 100_000
"""References to characters that are looked up (some 0.1 s), a tenth of them in one tag."""
_HANDLING, _CHARACTERS, _CANDIDATE = 2, 32, 5
"""What a tag costs that refers to something, how many characters of its attributes cost 1 more, and what a srcset does,
and each comma, since there may be a candidate of one behind it."""

_ATTRIBUTE = r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+(=)\s*+(?:"([^"]*+)"?|'([^']*+)'?|([^\s>]*+)))?+"""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_CHARACTER = re.compile(r"&(?:#[0-9A-Za-z]+;?|([A-Za-z][0-9A-Za-z]*)(;?)(=?))")


def cost_of(attributes: str) -> int:
    """What those of a tag that refers to something cost, as `linear` counts it."""
    candidates = attributes.count(",") + attributes.count("srcset")
    return _HANDLING + len(attributes) // _CHARACTERS + _CANDIDATE * candidates


def attributes_of(text: str) -> dict[str, str | None]:
    """The attributes of a tag; the first of each name counts."""
    if len(text) > MAX_ATTRIBUTES:
        some = [attribute.groups("") for attribute in islice(_ATTRIBUTES.finditer(text), MAX_ATTRIBUTES)]
    else:
        some = _ATTRIBUTES.findall(text)
    attributes: dict[str, str | None] = {}
    few = text.count("&") <= MAX_REFERENCES // 10
    for name, equals, *values in some:
        value = "".join(values) if equals else None
        if value and few and "&" in value:
            value = _CHARACTER.sub(_of_attribute, value)
        attributes.setdefault(name.lower(), value)
    return attributes


def _of_attribute(reference: re.Match[str]) -> str:
    """HTML Standard, "named character reference state": in an attribute, what goes on like a parameter is none."""
    name, semicolon, equals = reference.groups()
    if name is None:
        return entities.unescape(reference[0])
    if semicolon:
        return html5[f"{name};"] + equals if f"{name};" in html5 else reference[0]
    return html5[name] if name in html5 and not equals else reference[0]
