"""Traps: made-up ones end soon, ordinary sites are crawled whole, and nothing a site does grows the memory."""

import re
from hashlib import sha256
from random import Random
from time import process_time
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.schemas.messages import Ticket
from gregor.worker.links.rank import LOOKS_DATED, LOOKS_ENDLESS, LOOKS_PAST, Rank
from gregor.worker.links.shape_score import FRESH, STALE
from gregor.worker.links.shapes import numbers, sessionless, shapes, view
from gregor.worker.links.traps import Traps
from gregor.worker.links.url_loops import malformed
from gregor.worker.web.urls import Url, Urls
from tests.unit import trap_sites
from tests.unit.trap_shapes import SPACES, beside
from tests.unit.trap_sites import Site, crawl
from tests.web.trap_web import TRAPS, TrapWeb

URLS = Urls()
WORDS = [chr(97 + number % 26) * (2 + number // 26) for number in range(400)]


def url(text: str) -> Url:
    parsed = URLS.parse(text)
    assert parsed is not None
    return parsed


def ticket(text: str, via: str = "http://a.test/", depth: int = 3) -> Ticket:
    found = url(text)
    return Ticket(found.href, found.key, found.host, 0, "new", 2, depth, 0, via, "a")


def months(traps: Traps, count: int, first: int = 0, text: str = "No events.") -> None:
    for month in range(first, first + count):
        said, via = f"{text} {month}" if text.strip() else text, f"http://a.test/cal?m={month - 1}"
        traps.learn(url(f"http://a.test/cal?m={month}"), text=said, via=via)


@pytest.mark.parametrize(
    ("site", "seed", "most", "reason"),
    [
        (trap_sites.month_numbers, "http://a.test/cal", 30, "endless numbers"),
        (trap_sites.timestamps, "http://a.test/week", 30, "endless numbers"),
        (trap_sites.soft_404, "http://a.test/list", 320, "endless numbers"),
        (trap_sites.month_names, "http://a.test/calendar", 40, "endless numbers"),
        (trap_sites.days_and_months, "http://a.test/events?view=month", 120, "endless numbers"),
        (trap_sites.sessions, "http://a.test/", 40, "session id"),
        (trap_sites.facets, "http://a.test/search?q=x", 40, "nothing new"),
        (trap_sites.named_facets, "http://a.test/shoes", 45, "nothing new"),
        (trap_sites.entities, "http://a.test/list?p=1", 70, "repeated parameters"),
        (trap_sites.copies, "http://a.test/?q=", 4, "repeated parameters"),
        (trap_sites.relative, "http://a.test/", 30, "repeated path segments"),
        (trap_sites.two_words, "http://a.test/", 40, "nothing new"),
        (trap_sites.any_path, "http://a.test/", 100, "nothing new"),
        (trap_sites.glued, "http://a.test/x/", 25, "repeated text"),
        (trap_sites.come_back, "http://a.test/login", 8, "escapes of escapes"),
        (trap_sites.wildcard, "http://x0.trap.test/", 100, "endless hosts"),
    ],
)
def test_a_trap_ends(site: Site, seed: str, most: int, reason: str) -> None:
    crawled = crawl(site, seed, limit=5000)
    assert reason in crawled.refused
    assert len(crawled.pages) <= most


@pytest.mark.parametrize(("site", "pages"), [(trap_sites.articles, 2000), (trap_sites.gallery, 501)])
def test_a_site_with_hundreds_of_numbered_pages_is_no_trap(site: Site, pages: int) -> None:
    crawled = crawl(site, "http://a.test/", limit=5000)
    assert len(crawled.pages) == pages
    assert not crawled.refused


WEBS = [
    TrapWeb(
        seed=seed, layout=layout, traps=traps, new_words=new, links=links, form=form, boilerplate=share, words=words
    )
    for seed, (layout, traps, new, links, form, share, words) in enumerate(
        [
            ("chain", tuple(TRAPS), False, 2, "/page/{}", 0.5, 40),
            ("tree", tuple(TRAPS), False, 20, "/news/2024/{}/x", 0.95, 12),
            ("index", tuple(TRAPS), False, 20, "/topic-{}.html", 0.0, 150),
            ("chain", ("session",), False, 10, "/page/{}", 0.95, 12),
            ("chain", tuple(TRAPS), True, 2, "/page/{}", 0.5, 40),
            ("tree", tuple(TRAPS), True, 10, "/news/2024/{}/x", 0.95, 6),
            ("index", tuple(TRAPS), True, 100, "/item?id={}&l=en", 0.0, 40),
            ("chain", tuple(TRAPS), True, 4, "/p.php?cat=7&id={}", 0.5, 6),
            ("pager", tuple(TRAPS), True, 100, "/p.php?cat=7&id={}", 0.5, 40),
            ("chain", tuple(TRAPS), True, 2, "/item/{sha:.16}", 0.5, 40),
            ("tree", tuple(TRAPS), True, 20, "/f/{sha:.2}/{sha:.40}", 0.5, 40),
            ("pager", tuple(TRAPS), True, 100, "/v?id={uuid}", 0.95, 8),
            ("chain", tuple(TRAPS), True, 4, "/obj/{base64}", 0.5, 6),
            ("tree", tuple(TRAPS), False, 2, "/obj/{base64}", 0.5, 40),
            ("chain", tuple(TRAPS), True, 2, "/docs/{}/docs/p", 0.5, 40),
            ("tree", tuple(TRAPS), True, 20, "/docs/{}/docs/p", 0.5, 40),
            ("pager", tuple(TRAPS), True, 40, "/list?cat=c{0}&sort=s{0}", 0.5, 40),
            ("tree", tuple(TRAPS), True, 2, "/list?cat=c{0}&sort=s{0}", 0.5, 40),
        ]
    )
]


@pytest.mark.parametrize("web", WEBS, ids=str)
def test_honest_pages_beside_endless_ones_are_all_fetched_and_soon(web: TrapWeb) -> None:
    fetched = [urlsplit(page) for page in trap_sites.crawl(trap_sites.of_web(web), "http://a.test/", 1000).pages]
    targets = [page.path + (f"?{page.query}" if page.query else "") for page in fetched]
    places = [place for place, target in enumerate(targets, 1) if target in web.honest]
    assert len(places) == web.pages
    if web.new_words:
        assert places[-1] <= 900
    else:
        assert len(places) >= 0.7 * len(targets)


@pytest.mark.parametrize(
    ("form", "seed", "layout", "links"),
    [
        ("/news/%Y-%m-%d", 1, "chain", 2),
        ("/news/%Y-%m-%d", 2, "pager", 20),
        ("/calendar/%Y/%m/%d", 3, "chain", 2),
        ("/calendar/%Y/%m/%d/title-{}", 3, "chain", 2),
        ("/events?date=%Y-%m-%d", 2, "chain", 2),
        ("/%Y/%m/%d/", 1, "tree", 2),
        ("/diary/%Y%m%d.html", 2, "chain", 2),
    ],
)
def test_a_dated_archive_beside_or_inside_an_endless_calendar_is_fetched_soon(
    form: str, seed: int, layout: str, links: int
) -> None:
    web = TrapWeb(seed=seed, layout=layout, new_words=True, links=links, form=form)
    fetched = [urlsplit(page) for page in trap_sites.crawl(trap_sites.of_web(web), "http://a.test/", 900).pages]
    targets = {page.path + (f"?{page.query}" if page.query else "") for page in fetched}
    assert web.honest.keys() <= targets


def test_a_calendar_that_left_the_times_that_pages_are_of_is_no_archive() -> None:
    def judged(text: str) -> str:
        return traps.judge(msgspec.structs.replace(ticket(text), at=trap_sites.NOW)).reason

    traps = Traps()
    for day, text in [("2025-01-01", "one"), ("2026-12-31", "two")]:
        traps.learn(url(f"http://a.test/news/{day}"), text=text)
    assert judged("http://a.test/news/2026-01-02") == LOOKS_DATED
    traps.learn(url("http://a.test/cal/2031/05"), text="three")
    traps.learn(url("http://a.test/week?n=-1"), text="four")
    assert judged("http://a.test/cal/2025/05") == judged("http://a.test/week?n=7") == LOOKS_PAST
    assert judged("http://a.test/news/2026-01-03") == judged("http://a.test/cal/2025/05/01") == LOOKS_DATED
    assert judged("http://a.test/news/-3") == judged("http://a.test/s/-1/366fcef96274d9b3") == LOOKS_PAST


@pytest.mark.parametrize(
    ("catalogue", "further"),
    [
        ("/item/{}", "/item/{}/reviews"),
        ("/v?id={}", "/v?id={}&lang=de"),
        ("/f/{0:.2}/{0}", "/f/{0:.2}/{0}/meta"),
        ("/u/{}/view.html", "/u/{}/help.html"),
        ("/get/{}.html", "/get/x/{}.html"),
    ],
)
def test_a_word_like_an_id_that_always_stands_in_one_place_is_the_name_of_a_page(catalogue: str, further: str) -> None:
    def judged(form: str) -> str:
        return traps.judge(ticket("http://a.test" + form.format(sha256(b"next").hexdigest()[:24]))).reason

    def own(name: str) -> str:
        return " ".join("ghijklmnopqrstuv"[int(digit, 16)] * 3 for digit in name)

    traps, names = Traps(), [sha256(b"%d" % number).hexdigest()[:24] for number in range(20)]
    for name in names[:16]:
        traps.learn(url("http://a.test" + catalogue.format(name)), text=own(name))
    assert (judged(catalogue), judged(further)) == ("", LOOKS_ENDLESS)
    traps.learn(url("http://a.test" + further.format(names[16])), text=own(names[16]))
    assert judged(catalogue) == "", "one in so many may stand elsewhere"
    for name in names[17:]:
        traps.learn(url("http://a.test" + further.format(name)), text=own(name))
    assert judged(catalogue) == LOOKS_ENDLESS, "a session goes from page to page"


@pytest.mark.parametrize("session", ["/s;jsessionid={}", "/(S({}))/a", "/p?PHPSESSID={}"])
def test_a_session_is_told_by_its_place_or_its_name(session: str) -> None:
    name = sha256(b"a").hexdigest()[:24]
    assert Traps().judge(ticket("http://a.test" + session.format(name))).reason == LOOKS_ENDLESS


@pytest.mark.parametrize(
    ("entrances", "form", "links", "new_words"),
    [
        (list(SPACES)[:2], "/topic-{}.html", 4, False),
        (list(SPACES)[2:4], "/watch?v=a{}", 20, False),
        (list(SPACES)[4:], "/docs/v2/section-{}", 10, False),
        (list(SPACES)[::2], "/docs/v2/section-{}", 10, True),
        (list(SPACES)[1::2], "/view?lang=en&id={}&mode=full", 30, True),
    ],
)
def test_spaces_of_further_shapes_are_no_harm_to_honest_pages_either(
    entrances: list[str], form: str, links: int, new_words: bool
) -> None:
    honest = [form.format(number) for number in range(299)]
    site = beside(entrances, honest, links, new_words)
    fetched = [urlsplit(page) for page in crawl(site, "http://a.test/", 900).pages]
    targets = [page.path + (f"?{page.query}" if page.query else "") for page in fetched]
    assert set(honest) <= set(targets)
    assert new_words or len(targets) <= 300 / 0.7


@pytest.mark.parametrize(("share", "layout"), [(0.0, "chain"), (0.5, "pager"), (0.95, "chain")])
def test_short_texts_in_much_that_all_share_are_no_trap(share: float, layout: str) -> None:
    web = TrapWeb(seed=5, layout=layout, traps=(), boilerplate=share, words=12, pages=400)
    crawled = trap_sites.crawl(trap_sites.of_web(web), "http://a.test/", 2000)
    assert len(crawled.pages) == web.pages
    assert not crawled.refused


def test_what_a_spent_shape_has_left_waits_is_tried_and_then_refused() -> None:
    traps = Traps()
    month = ticket("http://a.test/cal?m=99", via="http://a.test/cal?m=98")
    assert traps.judge(ticket("http://a.test/news/61")).rank is Rank.OPEN
    months(traps, 10)
    assert traps.judge(month).rank is Rank.SUNK
    months(traps, 7, 10)
    assert traps.judge(month).rank is Rank.SPENT
    months(traps, 20, 17)
    assert traps.judge(month)[:3] == (Rank.REFUSED, "endless numbers", "cal")
    assert traps.judge(ticket("http://a.test/news/61")).rank is Rank.OPEN
    assert traps.judge(ticket("http://b.test/cal/2")).rank is not Rank.REFUSED
    assert traps.judge(ticket("http://a.test/cal?m=61", depth=0)).rank is Rank.OPEN
    assert traps.judge(ticket("http://a.test/cal?m=61")).rank is Rank.SPENT, "somebody else lists it"


def test_something_new_opens_a_shape_again() -> None:
    traps = Traps()
    months(traps, 60)
    month = ticket("http://a.test/cal?m=99", via="http://a.test/cal?m=98")
    traps.learn(url("http://a.test/cal?m=61"), text="A concert!")
    assert traps.judge(month).rank is Rank.SUNK
    traps.learn(url("http://a.test/cal?m=62"), text="A reading!")
    assert traps._hosts["a.test"].shapes["/cal?"].score == 0


def test_one_new_page_in_eight_is_enough() -> None:
    assert 7 * STALE <= FRESH
    traps = Traps()
    for number in range(1000):
        page = f"http://a.test/p/{number}"
        copy = "http://a.test/p/0" if number % 8 else ""
        traps.learn(url(page), text=f"{'xy' * number} of a site", copy_of=copy)
        assert traps.judge(ticket(f"http://a.test/p/{number + 1}", via=page)).rank < Rank.SPENT


def test_nearly_the_same_words_are_no_evidence() -> None:
    traps = Traps()
    for number in range(200):
        traps.learn(
            url(f"http://a.test/p/{number}"), text=f"{'menu ' * 300} {chr(97 + number % 26) * (1 + number // 26)}"
        )
    assert traps.judge(ticket("http://a.test/p/201")).rank is Rank.LARGE


def test_a_shape_that_mostly_brings_near_duplicates_sinks_and_is_never_refused_for_it() -> None:
    traps = Traps()

    def come(count: int, near: bool, first: int) -> None:
        for page in range(first, first + count):
            traps.learn(url(f"http://a.test/items/{page}"), text=" ".join(Random(page).choices(WORDS, k=9)), near=near)

    def judged() -> tuple[Rank, str]:
        told = traps.judge(ticket("http://a.test/items/999", via="http://a.test/items/998"))
        return told.rank, told.reason

    come(7, True, 0)
    assert judged()[0] < Rank.SUNK
    come(500, True, 7)
    assert judged() == (Rank.SUNK, "near-duplicates")
    assert traps.ranked(ticket("http://a.test/items/999")).priority == 4
    assert traps.judge(ticket("http://a.test/other")).rank < Rank.SUNK
    come(5, False, 600)  # most are others now
    assert judged()[0] < Rank.SUNK


def test_other_pictures_make_another_page() -> None:
    traps = Traps()
    for number in range(200):
        traps.learn(url(f"http://a.test/p/{number}"), text=f"photo {number}", media=[f"/photos/{number}.jpg"])
    assert traps.judge(ticket("http://a.test/p/201")).rank is Rank.LARGE


def test_what_leads_to_something_new_is_no_trap() -> None:
    traps = Traps()
    for number in range(200):
        page = f"http://a.test/list?page={number}"
        traps.learn(url(page), text=f"page {number}")
        traps.learn(url(f"http://a.test/item/{chr(97 + number % 26) * (number + 1)}"), text="x" * number, via=page)
    assert traps.judge(ticket("http://a.test/list?page=201", via="http://a.test/list?page=200")).rank < Rank.SPENT


def test_of_two_pages_with_one_content_the_odd_one_is_blamed() -> None:
    traps = Traps()
    for number in range(100):
        odd = f"http://a.test/s/0123456789abcdef{number:02}/page/{number}"
        traps.learn(url(odd), text=f"{'x' * number} page")
        traps.learn(url(f"http://a.test/page/{number}"), text=f"{'x' * number} page", copy_of=odd)
    assert traps.judge(ticket("http://a.test/page/101")).rank < Rank.SUNK


@pytest.mark.parametrize(
    "form",
    [
        "/page{}.php?osCsid={:032x}",
        "/page{}.php?zenid={:026x}",
        "/page{}?visit={:032x}",
        "/page{};jsessionid={:032X}",
        "/(S({1:024x}))/page{0}.aspx",
        "/s/{1:024x}/page{0}",
        "/page{}?MSCSID=A{}",
    ],
)
def test_session_ids_are_learnt_and_each_page_is_fetched_under_one_of_them(form: str) -> None:
    """300 pages whose links have a new session id each time, as shops without cookies make them."""

    def site(address: str) -> tuple[str, list[str]]:
        chance = Random(address)
        found = re.search(r"page(\d+)", address)
        number = int(found[1]) if found else 0
        others = [number + 1, *(chance.randrange(300) for _ in range(9))]
        links = [form.format(other % 300, chance.getrandbits(90) | 1 << 90) for other in others]
        return f"Page about {'x' * number}", links

    pages = crawl(site, "http://a.test/", 2000).pages
    numbers = {found[1] for page in pages if (found := re.search(r"page(\d+)", page))}
    assert len(numbers) == 300
    assert len(pages) <= 380


@pytest.mark.parametrize("part", ["x", "/day", "a1", "(", ";a=", "(S(a", "%C3%A9", "?&=", "f/0", ";jsessionid="])
def test_a_long_url_is_judged_in_linear_time(part: str) -> None:
    target = f"/{part * (4000 // len(part))}"
    begun = process_time()
    for _ in range(10):
        view.__wrapped__(target)
        numbers(target)
        sessionless(target)
    assert process_time() - begun < 1.0


def test_long_words_that_name_pages_are_no_sessions() -> None:
    traps = Traps()
    for number in range(100):
        traps.learn(url(f"http://a.test/item/{number * 7919:016x}a"), text="x" * number)
    assert traps.judge(ticket(f"http://a.test/item/{1:016x}a")).rank < Rank.SPENT


def test_pages_without_text_are_new_when_their_bytes_are() -> None:
    traps = Traps()
    months(traps, 500, text="\n")
    assert traps.judge(ticket("http://a.test/cal?m=501")).rank < Rank.SPENT


def test_shapes_leave_out_what_varies() -> None:
    assert shapes("/news/2024/may/12") == ("/news/N/N/N", "/news/*")
    assert shapes("/cal?m=-3&view=month") == ("/cal?", "?m=&view=month")
    assert shapes("/s/366fcef96274d9b3/help") == ("/s/N**",)
    assert shapes("/(S(lit3py55t21z5v55vlm25s55))/x.aspx") == ("/N**",)
    assert shapes("/page.jsp;jsessionid=0123456789ABCDEF") == (";jsessionid",)
    assert shapes("/about") == ()
    assert shapes("/a/b/a/") == ("/**", "/a/*")
    assert shapes("/mayor/marble") == ("/mayor/*",)


SEGMENTS = st.lists(st.sampled_from(["a", "b", "2024", "x1", "", "%25", "may", "0000000a", "é"]), max_size=12)
PAIRS = st.lists(st.sampled_from(["q=", "q=1", "m=-3", "f[1]=x", "&", ";", "=", "date=2024-01-01", "%"]), max_size=8)
ANY_URL = st.builds(
    lambda host, path, query: url(f"http://{host}/{'/'.join(path)}?{'&'.join(query)}"),
    st.sampled_from(["a.test", "x1.b.test", "x2.b.test", "192.0.2.1:81", "[2001:db8::1]"]),
    SEGMENTS,
    PAIRS,
)
STEPS = st.lists(st.tuples(ANY_URL, ANY_URL, st.booleans(), st.sampled_from(["", "same", "\ud800 7", "page 12"])))


@given(STEPS, st.integers(1, 20))
def test_never_fails_never_grows_and_always_decides_alike(steps: list[tuple[Url, Url, bool, str]], most: int) -> None:
    first, second = Traps(most), Traps(most)
    for source, target, copied, text in steps:
        follow = Ticket(target.href, target.key, target.host, 0, "new", 2, 2, 0, source.key, "a")
        assert first.refuses(source, target, target.key) == second.refuses(source, target, target.key)
        assert first.judge(follow) == second.judge(follow)
        for traps in (first, second):
            traps.learn(source, text=text, copy_of=target.key if copied else "", via=target.key)
        assert len(first) <= max(most, 66)


@given(st.text(max_size=300))
def test_any_text_of_a_url_can_be_judged(text: str) -> None:
    traps, page = Traps(), url("http://a.test/")
    if (target := URLS.resolve(text, page.href)) is not None:
        traps.learn(target, text=text, copy_of=page.key, via=target.key)
        malformed(target)
        traps.judge(Ticket(target.href, target.key, target.host, 0, "new", 2, 2, 0, page.key, "a"))


def test_many_hosts_and_shapes_are_forgotten_in_turn() -> None:
    traps = Traps(500)
    for host in range(300):
        for path in range(5):
            traps.learn(url(f"http://h{host}.test/{'x' * path}/{path}"), text="text")
    for path in range(1000):
        traps.learn(url(f"http://flood.test/{'x' * path}/1"), text="text")
    assert len(traps) <= 500


@pytest.mark.parametrize(
    ("target", "dated"),
    [
        ("/5.0/api/event-dom.html", False),
        ("/docs/v2.4.1/events/handling", False),
        ("/5.0/calendar/2031/05", True),
        ("/calendar/2031.05.01/day", True),
        ("/event-12.html/more", True),
    ],
)
def test_the_numbers_of_a_release_are_no_date(target: str, dated: bool) -> None:
    assert view(target).dated is dated
