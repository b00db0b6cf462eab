"""Pages: the console, and others without outside resources, their script and style allowed by their hashes alone."""

import base64
import hashlib
import re
from importlib import resources
from typing import Final

from starlette.responses import Response

NOTHING = "'none'"
_SCRIPTS: Final = ("base", "words", "overview", "hosts", "pages", "search", "dead", "workers", "orders", "main")
"""In this order: each may use what stands in those before it."""
_INLINE: Final = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def page() -> str:
    """The page."""
    folder = resources.files(__package__) / "page"
    text, style = ((folder / name).read_text("utf-8") for name in ("index.html", "style.css"))
    scripts = "".join((folder / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    return text.replace("/* style.css */", style).replace("/* scripts */", scripts)


def policy(text: str) -> str:
    """The Content-Security-Policy (level 3) under which a page runs its own script and nothing else."""
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, source in _INLINE.findall(text):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        allowed[kind].append(f"'sha256-{digest}'")
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(allowed['script']) or NOTHING}",
            f"style-src {' '.join(allowed['style']) or NOTHING}",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        )
    )


def response(text: str) -> Response:
    """A page as the answer to a browser."""
    headers = {"Content-Security-Policy": policy(text), "X-Frame-Options": "DENY"}
    return Response(text, headers=headers, media_type="text/html")
