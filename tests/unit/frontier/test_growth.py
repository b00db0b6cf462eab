"""How sections grow: what has an end is told from what may have none."""

from gregor.worker.frontier.growth import FEW, MANY, Growth


def visited(growth: Growth, section: str, *, pages: int, links: int, room: int = 10**9) -> None:
    """So many pages of a section, each with so many links to new ones, until there are no more."""
    for _ in range(pages):
        growth.taken(section)
        for _ in range(min(links, max(0, room - growth.of(section).came))):
            growth.came(section, section)


def test_a_list_and_a_tree_end_and_what_leads_on_does_not() -> None:
    growth = Growth()
    for _ in range(300):
        growth.came("list", "")
    visited(growth, "list", pages=100, links=0)
    visited(growth, "tree", pages=MANY + 30, links=3, room=300)
    visited(growth, "trap", pages=MANY + 30, links=3)
    visited(growth, "chain", pages=200, links=1)
    assert [growth.of(name).ends for name in ("list", "tree", "trap", "chain")] == [True, True, False, False]
    assert [growth.of(name).grows for name in ("list", "tree", "trap", "chain")] == [False, False, True, False]


def test_of_few_pages_nothing_is_said_and_at_first_a_section_is_taken_to_grow() -> None:
    growth = Growth()
    visited(growth, "list", pages=FEW - 1, links=0)
    assert not growth.of("list").ends
    visited(growth, "chain", pages=FEW, links=1)
    assert not growth.of("chain").ends


def test_a_section_of_which_a_part_looks_endless_does_as_a_whole_unless_it_ends() -> None:
    growth = Growth()
    for number in range(100):
        growth.came("shifts", "shifts", odd=number % 10 == 0)
        growth.came("news", "news", odd=number < 3)
        growth.taken("shifts")
    assert growth.of("shifts").odd
    assert not growth.of("news").odd
    visited(growth, "shifts", pages=40, links=0)
    assert not growth.of("shifts").odd


def test_sections_beyond_some_are_one() -> None:
    growth = Growth()
    for number in range(1000):
        growth.came(f"s{number}", "")
    assert len(growth._sections) <= 65
    assert sum(section.waiting for section in growth._sections.values()) == 1000
