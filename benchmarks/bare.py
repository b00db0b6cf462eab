"""The bare reference: what fetching and reading a web costs with the same C libraries and nothing around them.

pycurl's multi interface fetches, lexbor parses, ada resolves links, Protego obeys robots.txt; of each page it writes
what the crawler reads as a line of JSON: title, text, and for each link its URL, its anchor text and whether it is to
be followed. It knows what it has met in a set, and that is all: no politeness, no fingerprint, nothing that survives.
`python -m benchmarks.bare PORT SEEDS OUTPUT` crawls to the end of the web and prints {"pages", "links"};
with a CA file as one more argument hosts are asked over TLS, and the seeds alone.
"""

import json
import sys
from collections import deque
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import ada_url
import msgspec
import pycurl
from protego import Protego
from selectolax.lexbor import LexborHTMLParser, LexborNode

CONNECTIONS = 64
AGENT = "bare"


class Bare:
    """One crawl over hosts that all listen on one port of the loopback address."""

    def __init__(self, port: int, seeds: list[str], output: BinaryIO, ca_file: str | None = None) -> None:
        self._output = output
        self._encode = msgspec.json.Encoder().encode
        self._robots: dict[str, Protego] = {}
        self._held: dict[str, list[str]] = {}
        self._target = [f"::127.0.0.1:{port}"]
        self._ca_file = ca_file
        self._seen = set(seeds)
        self._waiting: deque[str] = deque()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, CONNECTIONS)
        self._idle = [self._handle() for _ in range(CONNECTIONS)]
        self._bodies: dict[pycurl.Curl, tuple[str, BytesIO]] = {}
        self.pages = self.links = 0
        for seed in seeds:
            self._ask(seed)

    def run(self) -> None:
        """Crawl until nothing is left."""
        while self._waiting or self._bodies:
            while self._waiting and self._idle:
                self._start(self._idle.pop(), self._waiting.popleft())
            self._multi.perform()
            _, done, failed = self._multi.info_read()
            if failed:
                raise RuntimeError(f"a fetch failed: {failed[0][1:]}")
            for handle in done:
                self._finish(handle)
            if not done:
                self._multi.select(1.0)

    def _handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.CONNECT_TO, self._target)
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.ACCEPT_ENCODING, "gzip")
        if self._ca_file is not None:
            handle.setopt(pycurl.CAINFO, self._ca_file)
        return handle

    def _start(self, handle: pycurl.Curl, url: str) -> None:
        body = BytesIO()
        self._bodies[handle] = url, body
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.WRITEDATA, body)
        self._multi.add_handle(handle)

    def _ask(self, url: str) -> None:
        """Queue a URL if its host's robots.txt allows it, after robots.txt itself if that is not known."""
        root = url[: url.index("/", 8)]
        if (robots := self._robots.get(root)) is not None:
            if robots.can_fetch(url, AGENT):
                self._waiting.append(url)
        elif root in self._held:
            self._held[root].append(url)
        else:
            self._held[root] = [url]
            self._waiting.append(f"{root}/robots.txt")

    def _finish(self, handle: pycurl.Curl) -> None:
        url, body = self._bodies.pop(handle)
        self._multi.remove_handle(handle)
        self._idle.append(handle)
        answered = handle.getinfo(pycurl.RESPONSE_CODE) == 200
        if url.endswith("/robots.txt"):
            root = url.removesuffix("/robots.txt")
            self._robots[root] = Protego.parse(body.getvalue().decode(errors="replace") if answered else "")
            for held in self._held.pop(root):
                self._ask(held)
        elif answered:
            self.pages += 1
            self._read(url, body.getvalue())

    def _read(self, url: str, html: bytes) -> None:
        tree = LexborHTMLParser(html)
        links = []
        for anchor in tree.css("a[href]"):
            attributes = anchor.attributes
            try:
                target = ada_url.join_url(url, attributes.get("href") or "").partition("#")[0]
            except ValueError:
                continue
            follow = "nofollow" not in (attributes.get("rel") or "")
            links.append((target, follow, _collapsed(anchor)))
            if self._ca_file is None and target not in self._seen and follow:
                self._seen.add(target)
                self._ask(target)
        self.links += len(links)
        page = {"url": url, "title": _collapsed(tree.css_first("title")), "text": _collapsed(tree.body), "links": links}
        self._output.write(self._encode(page) + b"\n")


def _collapsed(node: LexborNode | None) -> str:
    return " ".join(node.text().split()) if node is not None else ""


def main() -> None:
    with Path(sys.argv[3]).open("wb") as output:
        ca_file = sys.argv[4] if len(sys.argv) > 4 else None
        bare = Bare(int(sys.argv[1]), Path(sys.argv[2]).read_text().split(), output, ca_file)
        bare.run()
    print(json.dumps({"pages": bare.pages, "links": bare.links}))


if __name__ == "__main__":
    main()
