"""The web of a round: hosts, pages, links, robots.txt, redirects, duplicates and refusals, all from one seed. Pure."""

import hashlib
import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Host:
    """One host: how many pages it has, and what its robots.txt asks for (seconds)."""

    name: str
    pages: int
    crawl_delay: float


@dataclass
class Web:
    """Everything that exists. `links` by path are absolute URLs; `busy` are pages that answer 503 once."""

    hosts: dict[str, Host] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    busy: set[str] = field(default_factory=set)
    bodies: dict[str, bytes] = field(default_factory=dict)

    @property
    def seeds(self) -> list[str]:
        """The hosts' start pages."""
        return [f"http://{name}/" for name in self.hosts]

    def robots(self, host: str) -> bytes:
        """A host's robots.txt."""
        delay = self.hosts[host].crawl_delay
        return f"User-agent: *\nDisallow: /private/\n{f'Crawl-delay: {delay:g}' if delay else ''}\n".encode()


def make(seed: int, hosts: int, pages: int) -> Web:
    """A web of about so many pages: log-normal hosts, a tree of links on each, and links across."""
    chance = random.Random(seed)
    shares = [chance.lognormvariate(0.0, 0.7) for _ in range(hosts)]
    web = Web()
    for number, share in enumerate(shares):
        name = f"h{number:03}.chaos.example"
        size = max(3, round(pages * share / sum(shares)))
        web.hosts[name] = Host(name, size, chance.choice([0.0] * 9 + [1.0]))
    names = list(web.hosts)
    for host in web.hosts.values():
        for number in range(host.pages):
            _page(web, host, number, names, chance)
    return web


def url(host: str, number: int) -> str:
    """A page of a host; page 0 is its start page."""
    return f"http://{host}/" if number == 0 else f"http://{host}/p{number}"


def _page(web: Web, host: Host, number: int, names: list[str], chance: random.Random) -> None:
    links = [url(host.name, child) for child in range(number * 4 + 1, number * 4 + 5) if child < host.pages]
    other = chance.choice(names)
    links.append(url(other, chance.randrange(web.hosts[other].pages)))
    links.append(f"http://{host.name}/private/{number}")
    here = url(host.name, number)
    if chance.random() < 0.05:
        away = f"http://{host.name}/moved{number}"
        web.redirects[away] = links[-2]
        links.append(away)
    if number and chance.random() < 0.02:
        web.busy.add(here)
    words = "the same words on every copy" if chance.random() < 0.03 else f"page {number} of {host.name}"
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    filler = " ".join(f"w{chance.randrange(5000)}" for _ in range(60)) if "copy" not in words else ""
    web.links[here] = links
    web.bodies[here] = f"<title>{words}</title><p>{words} {filler}</p>{anchors}".encode()


def expected(web: Web) -> dict[str, str]:
    """What a crawl must store: the sha256 of its body by URL, of every page that is reached."""
    found: dict[str, str] = {}
    waiting = list(web.seeds)
    while waiting:
        here = waiting.pop()
        here = web.redirects.get(here, here)
        if here in found or here not in web.bodies:
            continue
        found[here] = hashlib.sha256(web.bodies[here]).hexdigest()
        waiting += web.links[here]
    return found
