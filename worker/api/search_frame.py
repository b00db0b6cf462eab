"""The frame of every page of the search: its form, its style, and what a browser may do with it. Pure."""

from html import escape
from typing import Final

from gregor.search.snippets import plain
from gregor.worker.api import console

STYLE: Final = """
:root { color-scheme: light dark; --page: light-dark(#fff, #101216); --ink: light-dark(#1b1f26, #e6e8ec);
  --quiet: light-dark(#59616e, #9aa3b0); --link: light-dark(#0a56c2, #7db3ff); --line: light-dark(#767d88, #7d8794);
  --mark: light-dark(#fff0b8, #5a4a00); --note: light-dark(#fff6e0, #2a2310) }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 0 auto;
  max-width: 50rem; padding: 1rem; overflow-wrap: anywhere }
a { color: var(--link) } a:focus-visible, input:focus-visible, button:focus-visible { outline: 3px solid var(--link);
  outline-offset: 2px }
.skip:not(:focus) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center }
form label { flex-basis: 100%; font-weight: 600 }
input { flex: 1 1 12rem; min-width: 0 } input, button { font: inherit; color: inherit; background: var(--page);
  border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .7rem }
h1 { font-size: 1.1rem } h2 { font-size: 1.1rem; font-weight: 600; margin: 0 } .hits { list-style: none; padding: 0 }
.hits li { margin: 1.2rem 0 } .hits p { margin: .1rem 0 } .quiet, .url { color: var(--quiet); font-size: .9rem }
mark { background: var(--mark); color: inherit; font-weight: 600; padding: 0 .1em }
.note { background: var(--note); border-inline-start: 4px solid var(--line); padding: .6rem .9rem }
nav ul { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0 }
.narrow ul { display: flex; flex-wrap: wrap; gap: .3rem 1rem; list-style: none; padding: 0; margin: .3rem 0 1rem }
.narrow h3 { font-size: 1rem; margin: 0 } .narrow a { display: inline-block; padding: .15rem 0 }
@media (min-width: 64rem) { body { max-width: 70rem } header, h1, .note { max-width: 48rem }
  .columns { display: grid; grid-template-columns: minmax(0, 48rem) minmax(0, 1fr); gap: 2rem }
  .to-narrow { display: none } .narrow ul { display: block } }
table { border-collapse: collapse } th, td { text-align: start; padding: .2rem .9rem .2rem 0 }
pre { white-space: pre-wrap; font: inherit }
"""


def document(heading: str, body: str, *, query: str = "", head: str = "", focus: bool = False) -> str:
    """A whole page; ``heading``, ``body`` and ``head`` are HTML."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        '<link rel="search" type="application/opensearchdescription+xml" title="Gregor" href="opensearch.xml">'
        f"{head}<style>{STYLE}</style></head><body>"
        '<a class="skip" href="#results">Skip to the results</a><header><form role="search" action="." method="get">'
        '<label for="q">Search what was crawled</label><input type="search" id="q" name="q" maxlength="1000" '
        f'autocomplete="off" value="{escape(plain(query))}"{" autofocus" if focus else ""}><button>Search</button>'
        "</form></header>"
        f'<main id="results" tabindex="-1"><h1 dir="auto">{heading}</h1>{body}</main></body></html>'
    )


POLICY: Final = console.policy(document("", "")).replace("form-action 'none'", "form-action 'self'")
"""The Content-Security-Policy of every page: its own style, its own form, nothing else."""
