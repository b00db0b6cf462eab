"""What webmasters are told of the crawl: a part of its settings, which `about.py` makes a page of."""

import ipaddress
from typing import Annotated

from msgspec import Meta

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.config.servers import Servers


class About(Servers, frozen=True, kw_only=True):
    """Who crawls, why, from where, and where that can be read."""

    about_operator: Annotated[str, Meta(max_length=500, description="who crawls, for webmasters")] = ""
    about_purpose: Annotated[str, Meta(max_length=5000, description="what for, for webmasters")] = ""
    about_contact: Annotated[
        str, Meta(max_length=500, description="mail address or URL for webmasters; default: that in user_agent")
    ] = ""
    about_addresses: Annotated[
        tuple[str, ...], Meta(description="addresses or networks (CIDR) that the crawl comes from, for webmasters")
    ] = ()
    about_path: Annotated[
        str,
        Meta(
            pattern=r"^$|^/[a-z0-9_-]+(/[a-z0-9_-]+)*$",
            description="where the API serves the page for webmasters, to everybody; empty: nowhere",
        ),
    ] = ""


def check_about(about: About) -> None:
    """What types cannot say. Raises `BadInput`."""
    if about.about_path in ("/healthz", "/readyz", "/metrics") or about.about_path.startswith("/api/"):
        raise BadInput(f"about_path {about.about_path} is a path of the API: use another one, such as /about")
    for address in about.about_addresses:
        try:
            ipaddress.ip_network(address)
        except ValueError as error:
            raise BadInput(f"about_addresses: {one_line(str(error))}") from None
