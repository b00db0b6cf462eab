"""Which host a text means, in orders and on the command line."""

from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.web.urls import Urls

_URLS: Final = Urls()
_EVERYWHERE: Final = "*"


def host_of(text: str) -> str:
    """The host, "*.domain" or "*" that a person means, a host also by a URL of it. Raises `BadInput`."""
    if text == _EVERYWHERE:
        return _EVERYWHERE
    domain, bare = text.startswith("*."), text.removeprefix("*.")
    url = _URLS.parse(bare if "://" in bare else f"http://{bare}/")
    written_wrongly = not bare.isprintable() or (set("/?#@\\ ") & set(bare) and (domain or "://" not in bare))
    if url is None or written_wrongly or "*" in url.host or (domain and ":" in url.host):
        raise BadInput(
            "not a host: write www.example.org, www.example.org:8080, *.example.org for a domain, * for the crawl"
        )
    return f"*.{url.host}" if domain else url.host


def one_host(text: str) -> str | None:
    """The one host that a person means, as URLs have it; None for what is no host, or many."""
    try:
        host = host_of(text)
    except BadInput:
        return None
    return None if host.startswith("*") else host
