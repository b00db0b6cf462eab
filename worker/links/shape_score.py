"""What the pages of one shape brought lately: its score, and how far its pages lead on. Pure, bounded in memory."""

from array import array
from typing import Final, NamedTuple

from gregor.schemas.parts import LearntShape
from gregor.worker.links.echoes import Words

Numbers = tuple[int, ...]

SPENT: Final = 240
"""The score from which on a shape is spent."""
SUNK: Final = 80
"""The score from which on a shape's URLs are visited after those of others."""
STALE: Final = 20
"""What a page adds that has the words and numbers of another one: 12 in a row spend a shape."""
STEP: Final = 16
"""What a page adds whose words were there before and whose number lies beyond all others': 15 steps spend a shape."""
BETWEEN: Final = 8
"""What a page adds whose words were there before and whose number lies between others."""
FRESH: Final = 160
"""What a page with something new takes off: one in eight keeps its shape from being spent."""
LED: Final = 40
"""What a page with something new takes off the shape of the page that led to it, if that is another shape."""
LINE: Final = 6
"""Pages in vain, each found on the one before, from which on a shape leads on without end, as far as anybody can tell:
a tree of pages with the same words has so many levels when it has a thousand pages."""

NEARLY: Final = 8
"""By so much near-duplicates outweigh other pages, which count twice, in a shape whose URLs come after others."""
ALIKE: Final = 4
"""Pages that tell which of the numbers of their URLs vary."""

CALM: Final = 12
"""Pages in a row that brought something new, from which on a shape is not suspected: the words of few are looked at."""
LOOKED_AT: Final = 7
"""One page in so many then is. The number is a prime, so that hardly any rhythm of a site hides from it."""

_LAST_YEAR: Final = 9999
_TEXTS: Final = 128
_KEPT_TEXTS: Final = 8


class Brought(NamedTuple):
    """Whether a page brought something new, and whether its numbers lie beyond those of all before."""

    fresh: bool
    beyond: bool


class Shape:
    """The pages of one shape: how much new they brought lately, and how far their numbers reach."""

    __slots__ = (
        "_bare",
        "_first",
        "_full",
        "_high",
        "_low",
        "_varied",
        "fresh",
        "fresh_in_a_row",
        "line",
        "nearly",
        "pages",
        "score",
        "trials",
        "walks",
    )

    def __init__(self) -> None:
        self.score = 0
        self.walks = False
        """Its last page in vain had another number than those before, and else the same words."""
        self.pages = self.fresh = 0
        self.fresh_in_a_row = 0
        self.trials = 0
        """Pages in vain since it was spent."""
        self.line = 0
        """The longest line of pages in vain, each found on the one before, since something new came."""
        self.nearly = 0
        """Near-duplicates lately, less twice the other pages."""
        self._full = array("Q")
        self._bare = array("Q")
        self._first: Numbers = ()
        self._low: Numbers = ()
        self._high: Numbers = ()
        self._varied = 0
        """Which numbers of its URLs are not those of the first one, as bits."""

    @classmethod
    def of(cls, learnt: LearntShape) -> "Shape":
        """As it was kept. Raises OverflowError for hashes of more than 64 bits or less than none."""
        shape = cls()
        shape.score, shape.line, shape.trials = max(0, min(SPENT, learnt.score)), learnt.line, learnt.trials
        shape.pages, shape.fresh, shape.walks = learnt.pages, learnt.fresh, learnt.walks
        shape._low, shape._high = learnt.low, learnt.high
        shape._full, shape._bare = array("Q", learnt.full[-_TEXTS:]), array("Q", learnt.bare[-_TEXTS:])
        return shape

    def kept(self, name: str) -> LearntShape:
        """What of it is kept: some texts are enough, since the pages of a trap have the same words again and again."""
        return LearntShape(
            name,
            self.score,
            self.line,
            self.trials,
            self.pages,
            self.fresh,
            self.walks,
            self._low,
            self._high,
            tuple(self._full[-_KEPT_TEXTS:]),
            tuple(self._bare[-_KEPT_TEXTS:]),
        )

    @property
    def state(self) -> tuple[bool, bool]:
        """What decides how its URLs stand, but for the trials: whether it is spent, and leads on without end."""
        spent = self.score >= SPENT
        return spent, spent and self.line >= LINE

    @property
    def calm(self) -> bool:
        """Whether a page more may be taken for new unseen: words are the most that a page costs here."""
        return self.fresh_in_a_row >= CALM and self.fresh_in_a_row % LOOKED_AT != 0

    def pass_by(self, numbers: Numbers) -> None:
        """Count a page that is taken for new."""
        self.pages += 1
        self.fresh += 1
        self.fresh_in_a_row += 1
        self._reaches(numbers)

    def learn(self, copy: bool, numbers: Numbers, words: Words | None) -> Brought:
        """Count a page, ``copy`` being whether its content is another page's; ``words`` is None if it has no text."""
        self.pages += 1
        spent = self.score >= SPENT
        is_echo = words is not None and self._remember(self._bare, words.bare)
        same = words is not None and self._remember(self._full, words.full)
        beyond = self._reaches(numbers)
        if not (copy or is_echo):
            self.fresh += 1
            self.fresh_in_a_row += 1
            self.add(-FRESH)
            return Brought(True, beyond)
        self.walks = bool(numbers) and not (copy or same)
        self.add(STALE if not self.walks else STEP if beyond else BETWEEN)
        self.trials += spent
        return Brought(False, beyond)

    def note_nearly(self, near: bool) -> None:
        """A page of the shape is a near-duplicate of another page, or not."""
        self.nearly = min(2 * NEARLY, self.nearly + 1) if near else max(0, self.nearly - 2)

    def add(self, points: int) -> None:
        """Change the score."""
        self.score = max(0, min(SPENT, self.score + points))
        if self.score < SPENT:
            self.trials = 0
        if points < 0:
            self.line = 0
        else:
            self.fresh_in_a_row = 0

    def one_varies(self, numbers: Numbers) -> bool:
        """Whether all its URLs, and one with these numbers, differ in one number at most, as far as is known."""
        return self.pages >= ALIKE and bool(self._first) and (self._varied | self._unlike(numbers)).bit_count() <= 1

    def leaves(self, year: int) -> bool:
        """Whether its pages go on to dates after a year, or count below nothing, as no archive does."""
        return any(number < 0 for number in self._low) or any(year < number <= _LAST_YEAR for number in self._high)

    def _unlike(self, numbers: Numbers) -> int:
        if len(numbers) != len(self._first):
            return -1
        return sum((one != other) << place for place, (one, other) in enumerate(zip(numbers, self._first, strict=True)))

    def _remember(self, texts: "array[int]", text: int) -> bool:
        """Whether a text is one of the last ones; remembers it."""
        if text in texts:
            return True
        if len(texts) < _TEXTS:
            texts.append(text)
        else:
            texts[self.pages % _TEXTS] = text
        return False

    def _reaches(self, numbers: Numbers) -> bool:
        """Whether the numbers lie beyond those of all pages before."""
        if self.pages == 1:
            self._first = numbers
        self._varied |= self._unlike(numbers)
        if self.pages > 1 and self._low <= numbers <= self._high:
            return False
        self._low = numbers if self.pages == 1 else min(self._low, numbers)
        self._high = max(self._high, numbers)
        return True
