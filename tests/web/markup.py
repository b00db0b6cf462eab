"""Generated pages: elements that say something of a page, with odd attributes, nested and cut at random.

A page is determined by its seed and number, so that one that is read wrongly can be made again.
"""

import random
from typing import Final

from gregor.worker.read.html.collector import BLOCKS, HANDLERS, HIDDEN

_NAMES: Final = (
    *sorted({*BLOCKS, *HIDDEN, *HANDLERS}),
    *("svg", "g", "math", "mi", "desc", "foreignObject", "b", "i", "span", "font", "head", "frameset", "plaintext"),
    *("unheard-of", "noscript", "a", "a", "p", "div", "td", "link", "meta", "base", "title", "h1"),
)
_ATTRIBUTES: Final = (
    *("href", "HREF", "src", "srcset", "imagesrcset", "alt", "rel", "type", "content", "name", "http-equiv", "lang"),
    *("action", "method", "data", "poster", "background", "cite", "xlink:href", "srcdoc", "shadowrootmode", "class"),
)
_VALUES: Final = (
    *(
        "",
        " ",
        "/a",
        " http://a.example/?b=1&amp;c ",
        "\u00a0x\u2003",
        "a.png 1x, b.png 2x",
        "x 1w,,y (",
        ",",
        "nofollow",
    ),
    *("NoFollow\u00a0ugc", "canonical", "next alternate", "alternate", "icon stylesheet", "application/rss+xml"),
    *("refresh", "Refresh", "5; url=/later", "0", "x", "robots", " GoogleBot\u2028", "noindex", "post", "DIALOG"),
    *("de", " en\u0085", "open", "\u0130\u212a\u03a3", "\ufffd", "<b>c</b><a href=d>e</a>", "&#0;&#xD800;&nGt;"),
)
_TEXTS: Final = (
    *(
        " ",
        "\n",
        "word",
        "two words",
        "\u00a0",
        "\u2028\u3000",
        "\u65e5\u672c",
        "caf\u00e9",
        "\u0391\u03a3",
        "&nbsp;",
        "&lt;a&gt;",
    ),
    *(
        "&#x1F600;",
        "\0",
        "\r\n",
        "<!-- c -->",
        "<![CDATA[ d ]]>",
        "<",
        "</",
        "<?php ?>",
        "&",
        "\x0b\x1c",
        "\x85",
        "x" * 300,
    ),
)


def page(seed: int, number: int) -> str:
    """Page ``number`` under a seed: some hundred characters, seldom many more."""
    chance = random.Random(f"page {seed} {number}")
    parts: list[str] = []
    opened: list[str] = []
    for _ in range(chance.choice((3, 10, 30, 80, 300))):
        match chance.randrange(5):
            case 0 | 1:
                opened.append(name := chance.choice(_NAMES))
                parts.append(f"<{name}{_attributes(chance)}{chance.choice(('', '', '', '/'))}>")
            case 2 if opened:
                name = opened.pop() if chance.random() < 0.8 else chance.choice(opened)
                parts.append(f"</{name}>")
            case _:
                parts.append(chance.choice(_TEXTS))
    text = "".join(parts)
    return text[: chance.randrange(len(text) + 1)] if chance.random() < 0.1 else text


def _attributes(chance: random.Random) -> str:
    parts = []
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        name, value = chance.choice(_ATTRIBUTES), chance.choice(_VALUES)
        quote = chance.choice(('"', "'", '"', ""))
        parts.append(f" {name}={quote}{value}{quote}" if chance.random() < 0.95 else f" {name}")
    return "".join(parts)
