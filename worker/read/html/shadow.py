"""Declarative shadow roots (HTML Standard, 13.2.6.4.4): templates whose content is shown, so it is text and links.

They are opened before a page is read: the template becomes a ``div``, whose content any reader finds.
"""

import re
from typing import Final

from gregor.worker.read.html.collector import names

MAX_TOKENS: Final = 60_000
"""Templates, comments and elements without tags that are looked at (some 0.1 s); there the rest of a page is cut."""
ATTRIBUTE: Final = "shadowrootmode"
_SPELLINGS: Final = (ATTRIBUTE, "SHADOWROOTMODE", "shadowRootMode")
_HOSTS: Final = names("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span")
"""Elements, beside those with a hyphen in their name, that can have a shadow root (DOM Standard)."""
_ATTRIBUTES = r"""(?:[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+)*+[\s/]*+"""
_TOKEN = re.compile(
    rf"<!--|<(script|style|title|textarea|xmp|iframe|noembed|noframes)(?=[\s/>]){_ATTRIBUTES}>?"
    rf"|<template(?=[\s/>])({_ATTRIBUTES})>?|</(template)(?=[\s/>])[^>]*+>?",
    re.IGNORECASE,
)
_MODE = re.compile(r"""(?:^|[\s/"'])shadowrootmode\s*+=\s*+["']?(?:open|closed)(?=["'\s/]|$)""", re.IGNORECASE)
_COMMENT_END = re.compile(r"--!?>")
_START = re.compile(rf"<([A-Za-z][^\s/>]*+){_ATTRIBUTES}>\s*+")


def opened(html: str) -> tuple[str, bool]:
    """A page whose shadow roots are open, and whether it was looked at to its end. A page without any is itself."""
    if not any(map(html.__contains__, _SPELLINGS)):
        return html, True
    parts: list[str] = []
    roots: list[bool] = []  # of the open templates, whether each is a shadow root
    at = done = ended = inert = 0
    for _ in range(MAX_TOKENS):
        token = _TOKEN.search(html, at)
        if token is None or not token[0].endswith((">", "<!--")):
            return "".join([*parts, html[done:]]), True
        at = token.end()
        if token[3]:
            was_root = roots.pop() if roots else None
            inert -= was_root is False
            if was_root:
                parts += html[done : token.start()], "</div>"
                done = ended = at
        elif token[2] is not None:
            root = not inert and bool(_MODE.search(token[2])) and _is_first_of_host(html, ended, token.start())
            roots.append(root)
            inert += not root
            if root:
                parts += html[done : token.start()], "<div>"
                done = at
        else:
            at = _behind(html, token)
    return "".join([*parts, html[done:at]]), False


def _behind(html: str, token: re.Match[str]) -> int:
    """Where a comment ends, or the content of an element without tags."""
    if token[1] is None:
        if html.startswith((">", "->"), token.end()):
            return html.index(">", token.end()) + 1
        ends = _COMMENT_END.search(html, token.end())
        return len(html) if ends is None else ends.end()
    ends = re.compile(rf"</{token[1]}(?=[\s/>])", re.IGNORECASE).search(html, token.end())
    return len(html) if ends is None else ends.start()


def _is_first_of_host(html: str, ended: int, start: int) -> bool:
    """Whether a template at ``start`` may be a shadow root: not directly behind another one, which ``ended`` there, nor
    directly in an element that can't have one. What stands elsewhere is given the benefit of the doubt."""
    if ended and not html[ended:start].strip():
        return False
    before = html.rfind("<", 0, start)
    parent = _START.match(html, before, start) if before >= 0 else None
    if parent is None or parent.end() != start:
        return True
    name = parent[1].lower()
    return name in _HOSTS or "-" in name or name == "template"
