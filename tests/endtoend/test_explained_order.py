"""What a URL is worth, and where that came from, is said of a crawl by a policy."""

import json

from tests.endtoend.site import Here, Web


def test_the_worth_of_a_url_is_that_of_its_links(web: Web, here: Here) -> None:
    links = "".join(f'<a href="/{name}">{name}</a>' for name in ("a", "b", "c", "shared"))
    web.page("www.test/", f"<title>first</title>{links}")
    for name in "abc":
        web.page(f"www.test/{name}", f"<title>{name}</title><p>the words of {name}<a href='/shared'>shared</a>")
    web.page("www.test/shared", "<title>shared</title>the words of shared")
    here.said("crawl", "http://www.test/", "--set", "ordering=opic", *web.flags)
    data = web.flags[:2]
    found = {
        name: json.loads(here.said("explain", f"http://www.test/{name}", "--json", *data)) for name in ("a", "shared")
    }
    for each in found.values():
        assert each["worth_by"] == "opic"
        assert 0 < each["worth_of_link"] <= each["worth"]
    assert found["a"]["worth_of_link"] == found["shared"]["worth_of_link"], "links of a page bring alike"
    assert found["shared"]["worth"] > found["a"]["worth"], "further pages link to it"
    assert "by further links" in here.said("explain", "http://www.test/shared", *data)
