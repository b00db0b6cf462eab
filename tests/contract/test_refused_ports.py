"""No way leads to a port of another protocol: seeds, links, redirects, sitemaps, the redirect of a robots.txt."""

import asyncio
from pathlib import Path

from tests.endtoend.operated import operated
from tests.memory_transport import Scripted

PORTS = (25, 6667, 22, 110, 993)


def moved(location: str) -> Scripted:
    return Scripted(302, (("Location", location), ("Content-Type", "text/html")))


def test_whatever_names_a_blocked_port_it_is_not_asked(tmp_path: Path) -> None:
    async def play() -> None:
        async with operated(tmp_path, hosts=0, retries=0, sitemaps=True, retry_pause=0.1) as worker:
            script = worker.transport.script
            script("http://a.example/", Scripted(body=b'<a href="http://a.example:25/">m</a><a href="/moved">x</a>'))
            script("http://a.example/moved", moved("http://a.example:6667/"))
            script("http://a.example/robots.txt", Scripted(body=b"Sitemap: http://a.example:110/sitemap.xml\n"))
            script("http://b.example/robots.txt", moved("http://b.example:22/robots.txt"))
            refused = [f"http://a.example:{port}/" for port in (25, 6667, 993)]
            seeds = ["http://a.example/", "http://b.example/", "http://a.example:993/"]
            await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": seed} for seed in seeds]})
            for url in (*refused, "http://a.example:110/sitemap.xml"):
                await worker.until_state(url)
                row = (await worker.engine.store.rows([url]))[0]
                assert row is not None
                assert (row.state, row.outcome) == ("refused", "port not allowed")
                assert "allow_ports" in row.rule
            await worker.until(lambda: worker.asked("b.example") > 0)
            asked = [request.href for request in worker.transport.requests]
            assert not any(f":{port}/" in href for href in asked for port in PORTS)

    asyncio.run(asyncio.wait_for(play(), 60))


def test_an_allowed_port_is_asked_as_any_other(tmp_path: Path) -> None:
    async def play() -> None:
        async with operated(tmp_path, hosts=0, allow_ports=(6667,)) as worker:
            worker.transport.script("http://a.example:6667/", Scripted(body=b"here"))
            await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": "http://a.example:6667/"}]})
            await worker.until_state("http://a.example:6667/")
            row = (await worker.engine.store.rows(["http://a.example:6667/"]))[0]
            assert row is not None
            assert row.state == "fetched"

    asyncio.run(asyncio.wait_for(play(), 60))


def test_a_redirect_is_followed_no_sooner_than_it_says(tmp_path: Path) -> None:
    """RFC 9110 section 10.2.3; the target may be another host's, and have another owner."""

    async def play() -> None:
        asked: dict[str, float] = {}
        async with operated(tmp_path, hosts=0) as worker:
            loop = asyncio.get_running_loop()

            def noted(name: str, answer: Scripted) -> None:
                def say(_: object) -> Scripted:
                    asked.setdefault(name, loop.time())
                    return answer

                worker.transport.script(name, say)

            for source, target in (
                ("http://a.example/", "http://a.example/x"),
                ("http://b.example/", "http://c.example/"),
            ):
                wait = (("Location", target), ("Retry-After", "2"), ("Content-Type", "text/html"))
                noted(source, Scripted(301, wait))
                noted(target, Scripted(body=target.encode()))
            seeds = ["http://a.example/", "http://b.example/"]
            await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": seed} for seed in seeds]})
            for url in (*seeds, "http://a.example/x", "http://c.example/"):
                await worker.until_state(url)
        assert asked["http://a.example/x"] - asked["http://a.example/"] >= 2.0
        assert asked["http://c.example/"] - asked["http://b.example/"] >= 2.0

    asyncio.run(asyncio.wait_for(play(), 60))
