"""How a refusal leaves: as a page where a browser goes to one, as problem details otherwise."""

from html import escape
from http import HTTPStatus
from typing import Final

from starlette.responses import Response
from starlette.types import Scope

from gregor.worker.api import console, problems
from gregor.worker.api.problems import Problem

_FOR_PROGRAMS: Final = "/api/"
_STYLE: Final = (
    ":root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 0 auto;"
    " padding: 1rem; overflow-wrap: anywhere } h1 { font-size: 1.2rem }"
)


def refuse(scope: Scope, problem: Problem) -> Response:
    """The answer: a page if it is what the request accepts by name, outside the API."""
    if scope.get("path", "").startswith(_FOR_PROGRAMS) or not accepts_pages(scope):
        return problems.response(problem)
    text = _page(f"{problem.status} {HTTPStatus(problem.status).phrase}", problem.detail)
    answer = console.response(text)
    answer.status_code = problem.status
    answer.headers.update(problem.headers)
    return answer


def accepts_pages(scope: Scope) -> bool:
    """Whether a page is among what the request accepts by name: it is a browser's that goes somewhere."""
    accepted = b",".join(value for name, value in scope.get("headers", ()) if name == b"accept")
    return b"text/html" in accepted.lower()


def coded(text: str) -> str:
    """Text as HTML, in which `backticks` mark what is to be typed."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if at % 2 else piece for at, piece in enumerate(pieces))


def _page(title: str, detail: str) -> str:
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>"
        f'<p role="alert">{coded(detail)}</p></main></body></html>'
    )
