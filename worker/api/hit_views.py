"""The pages about one hit: the text that was stored of it, and why it is where it is. Pure."""

from html import escape

from gregor.schemas.messages import Row
from gregor.search.borders import Hit, ScorePart
from gregor.search.snippets import plain
from gregor.worker.api import search_frame as frame
from gregor.worker.api.search_views import date, title_of


def stored_text(title: str, url: str, text: str, at: float, refusal: str = "") -> str:
    """A copy of the text that was stored, framed as such."""
    heading = escape(title_of(title, url))
    of = f'<a href="{escape(url)}" rel="noreferrer nofollow"><bdi>{escape(url)}</bdi></a>'
    note = (
        f'<p class="note">The text of {of} as it was fetched on {date(at)}; the page itself may say otherwise now.</p>'
    )
    if refusal:
        return frame.document(heading, f'<p class="note">{escape(refusal)} {of}</p>')
    return frame.document(heading, f'{note}<pre dir="auto">{escape(plain(text))}</pre>')


def why(hit: Hit, query: str, parts: list[ScorePart], row: Row | None) -> str:
    """What a hit's place comes from, and what became of its URL in the crawl, as far as that is known."""
    rows = "".join(
        f'<tr><td>{escape(part.what)}</td><td dir="auto">{escape(part.words)}</td><td>{part.score:.3f}</td></tr>'
        for part in parts
    )
    table = f"<table><thead><tr><th>Where<th>Words<th>Worth</tr></thead><tbody>{rows}</tbody></table>"
    score = sum(part.score for part in parts)
    body = f"<p>Score {score:.3f} for <bdi>{escape(plain(query))}</bdi></p>{table}{_crawled(hit, row)}"
    heading = escape(title_of(hit.title, hit.href))
    return frame.document(f"Why here: {heading}", body, query=query)


def _crawled(hit: Hit, row: Row | None) -> str:
    """What `gregor explain` says of a URL in short."""
    if row is None:
        return ""
    visits = f"{row.visits} visit{'' if row.visits == 1 else 's'}, the first settled on {date(row.first_seen) or '?'}"
    facts = {
        "Address": row.href,
        "Found on": row.via or "it is a seed",
        "Links from a seed": str(row.depth),
        "Visited": f"{visits}; {row.changed} changed it, {row.unchanged} did not",
        "State": " · ".join(filter(None, (row.state, row.outcome, row.rule))),
        "Next visit": date(row.due) or "none is planned",
        "Addresses of this content": str(len(hit.keys)),
    }
    rows = "".join(f'<tr><th scope="row">{name}</th><td><bdi>{escape(plain(said))}</bdi></td></tr>'
                   for name, said in facts.items())  # fmt: skip
    command = escape(f"gregor explain {row.href}")
    return f"<h2>In the crawl</h2><table><tbody>{rows}</tbody></table><p>All of it: <code>{command}</code></p>"
