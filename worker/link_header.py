"""The Link header (RFC 8288, section 3), read as leniently as its section B.2 asks for."""

import re
from collections.abc import Iterator

_LINK = re.compile(r"<([^<>]*+)>((?:[^,\"<]++|\"(?:[^\"\\]++|\\.)*+\"?)*+)")
_PARAMETER = re.compile(r"([^=;\s]++)(?:\s*+=\s*+(?:\"((?:[^\"\\]++|\\.)*+)\"?|([^;\s]*+)))?")
"""One without a value is read too, as section B.3 does; sought beyond it, a long header would take its square."""


def links(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Target reference and parameters (names lower case, first of each) of every link in a header value."""
    for link in _LINK.finditer(value):
        parameters: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(link[2]):
            parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or bare)
        yield link[1].strip(), parameters


def canonical(value: str) -> str | None:
    """The reference of the first ``rel=canonical`` link (RFC 6596), not resolved.

    One with an anchor speaks of something else than the answer (RFC 8288 section 3.2).
    """
    for target, found in links(value):
        if "canonical" in found.get("rel", "").lower().split() and "anchor" not in found:
            return target
    return None
