"""The bare reference: what fetching and reading a web costs with the same C libraries and nothing around them.

pycurl's multi interface fetches, lexbor parses, ada resolves links; of each page it reads what the crawler reads:
title, text, and for each link its URL, its anchor text and whether it is to be followed. It knows what it has met in a
set, and that is all: no robots.txt, no politeness, no fingerprint, nothing stored, nothing that survives.
`python -m benchmarks.bare PORT SEEDS` crawls to the end of the web and prints {"pages", "links", "read": characters}.
"""

import json
import sys
from collections import deque
from io import BytesIO
from pathlib import Path

import ada_url
import pycurl
from selectolax.lexbor import LexborHTMLParser, LexborNode

CONNECTIONS = 64


class Bare:
    """One crawl over hosts that all listen on one port of the loopback address."""

    def __init__(self, port: int, seeds: list[str]) -> None:
        self._target = [f"::127.0.0.1:{port}"]
        self._seen = set(seeds)
        self._waiting = deque(seeds)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, CONNECTIONS)
        self._idle = [self._handle() for _ in range(CONNECTIONS)]
        self._bodies: dict[pycurl.Curl, tuple[str, BytesIO]] = {}
        self.pages = self.links = self.read = 0

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
        return handle

    def _start(self, handle: pycurl.Curl, url: str) -> None:
        body = BytesIO()
        self._bodies[handle] = url, body
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.WRITEDATA, body)
        self._multi.add_handle(handle)

    def _finish(self, handle: pycurl.Curl) -> None:
        url, body = self._bodies.pop(handle)
        self._multi.remove_handle(handle)
        self._idle.append(handle)
        if handle.getinfo(pycurl.RESPONSE_CODE) == 200:
            self.pages += 1
            self._read(url, body.getvalue())

    def _read(self, url: str, html: bytes) -> None:
        tree = LexborHTMLParser(html)
        title, body = tree.css_first("title"), tree.body
        self.read += len(_collapsed(title)) + len(_collapsed(body))
        for anchor in tree.css("a[href]"):
            attributes = anchor.attributes
            target = ada_url.join_url(url, attributes["href"] or "").partition("#")[0]
            self.links += 1
            self.read += len(_collapsed(anchor))
            if target not in self._seen and "nofollow" not in (attributes.get("rel") or ""):
                self._seen.add(target)
                self._waiting.append(target)


def _collapsed(node: LexborNode | None) -> str:
    return " ".join(node.text().split()) if node is not None else ""


def main() -> None:
    bare = Bare(int(sys.argv[1]), Path(sys.argv[2]).read_text().split())
    bare.run()
    print(json.dumps({"pages": bare.pages, "links": bare.links, "read": bare.read}))


if __name__ == "__main__":
    main()
