"""Which URLs a person means by what holds for them."""

from gregor.schemas.messages import Attempt
from gregor.worker.operate.choose import Choice
from gregor.worker.web.canonical import CanonicalRules
from gregor.worker.web.urls import Urls
from tests.reading import page, row

URLS = Urls(CanonicalRules())


def test_what_a_trap_rule_refused_is_asked_for_by_its_state_alone() -> None:
    refused = row(page("http://a.test/"), state="denied", rule="trap: endless", attempts=(Attempt(1.0, "denied"),))
    assert not Choice().takes(refused, URLS)
    assert not Choice(host="a.test").takes(refused, URLS)
    assert Choice(state="denied").takes(refused, URLS)
    assert Choice().takes(row(page("http://a.test/"), state="denied", rule="Disallow: /"), URLS)
