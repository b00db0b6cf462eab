"""The page for webmasters, served by a worker to everybody, if it is told to."""

from tests.endtoend.operated import Operated, over


async def served(worker: Operated) -> None:
    answer = await worker.ask("GET", "/about-us/bot", token="")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "The &lt;Library&gt;" in answer.text
    assert (await worker.ask("HEAD", "/about-us/bot", token="")).status_code == 200
    assert (await worker.ask("POST", "/about-us/bot", token="")).status_code == 405
    assert (await worker.ask("GET", "/about-us", token="")).status_code == 401
    assert (await worker.ask("GET", "/", token="")).status_code == 200


async def not_served(worker: Operated) -> None:
    assert (await worker.ask("GET", "/about", token="")).status_code == 401
    assert (await worker.ask("GET", "/about")).status_code == 404


test_served = over(served, about_path="/about-us/bot", about_operator="The <Library>")
test_not_served = over(not_served)
