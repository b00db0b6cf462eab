"""The sections of a site take turns, and in each section the shapes of its URLs."""

from collections import Counter
from hashlib import sha256
from heapq import heappop, heappush
from itertools import count

from gregor.worker.frontier.section_turns import MOST_SECTIONS, SectionTurns


def served(spaces: dict[str, tuple[str, str, int]], pages: int) -> Counter[str]:
    """How many of so many pages are those of each space: its section, the form of its URLs, and how many of these each
    page leads to."""
    turns, heap = SectionTurns(), list[tuple[int, int, str]]()
    numbers, waiting, taken = count(), Counter[str](), Counter[str]()

    def put(name: str) -> None:
        section, form, _ = spaces[name]
        waiting[section] += 1
        number = next(numbers)
        heappush(heap, (turns.place(section, form.format(number), waiting[section]), number, name))

    for name in spaces:
        put(name)
    for _ in range(pages):
        place, _, name = heappop(heap)
        turns.serve(place)
        waiting[spaces[name][0]] -= 1
        taken[name] += 1
        for _ in range(spaces[name][2]):
            put(name)
    return taken


GROWING = {"shop": ("shop", "/shop/{}", 8), "sessions": ("s", "/s/{}", 8), "loops": ("a", "/a/{}", 8)}


def test_a_row_beside_what_grows_in_its_own_section_has_its_turn_each_few_pages() -> None:
    row = {"row": ("events", "/events/2024/{}", 1), "calendar": ("events", "/events?y={}&m=1", 8)}
    assert served(GROWING | row, 1000)["row"] >= 200


def test_what_has_a_turn_more_often_than_other_sections_has_it() -> None:
    turns, taken = SectionTurns(), Counter[str]()
    waiting = {name: turns.place(name, f"/{name}/1", 1, often) for name, often in (("news", 6), ("shop", 1))}
    for _ in range(700):
        name = min(waiting, key=lambda each: waiting[each])
        turns.serve(waiting[name])
        taken[name] += 1
        waiting[name] = turns.place(name, f"/{name}/1", 1, 6 if name == "news" else 1)
    assert 5 * taken["shop"] < taken["news"] < 7 * taken["shop"]


def test_a_section_of_many_shapes_has_no_more_turns_than_one_of_one() -> None:
    many = {f"shape {n}": ("many", f"/many/{'x' * n}/{{}}", 8) for n in range(1, 5)}
    taken = served(GROWING | many, 1000)
    assert sum(taken[name] for name in many) < 1.5 * taken["shop"]


def test_the_folders_of_a_store_by_ids_are_one_shape() -> None:
    turns, places = SectionTurns(), list[int]()
    for number in range(64):
        name = sha256(b"%d" % number).hexdigest()[:32]
        places.append(turns.place("f", f"/f/{name[:2]}/{name}", 1))
    assert places == sorted(set(places))


def test_sections_of_which_nothing_waits_are_forgotten() -> None:
    turns = SectionTurns()
    for number in range(4 * MOST_SECTIONS):
        turns.serve(turns.place(f"section {number}", f"/section-{number}/1", 1))
    assert len(turns._last) <= MOST_SECTIONS + 1
