"""How the sections of a host grow while they are visited: what has an end can be told from what may have none. Pure.

Whatever words its pages have, an endless space is one in which each page leads to new ones: what waits of it never gets
less. The pages of a list, of an archive, of a tree lead to new ones until all are known.
"""

from typing import Final

FEW: Final = 8
"""Pages of a section that tell nothing yet."""
MANY: Final = 112
"""Pages of a section after which it can be said to grow: a site of some hundreds has led to most of them by then."""
ROW: Final = 4
"""Tickets of a row of pages that wait at once at most: each page leads to the next and to the one before, and some to
the first and the last."""
_MEAN: Final = 1 / 16
"""Weight of one page in the mean."""
_SETTLED: Final = 0.6
_SECTIONS: Final = 64


class Section:
    """What came and went of one section of a host."""

    __slots__ = ("_odd", "came", "forks", "inner", "outer", "taken", "waiting")

    def __init__(self) -> None:
        self.waiting = 0
        """Tickets that came, here or into the backlog, less those that were taken."""
        self.came = self.taken = self._odd = 0
        self.forks = False
        """Many tickets waited when it was to be refused: it is no row of pages that lead to the next few."""
        self.inner, self.outer = 1.0, 0.0
        """Tickets that came lately for each that was taken: found on pages of the section, and on others. At first it
        is taken to grow."""

    @property
    def ends(self) -> bool:
        """Whether fewer come than are taken, as far as can be seen."""
        return self.taken >= FEW and self.inner + self.outer < _SETTLED

    @property
    def grows(self) -> bool:
        """Whether its own pages lead to more than are taken, and have done so for long."""
        return self.taken >= MANY and self.inner >= 1.0 and 2 * self.waiting > self.taken

    @property
    def odd(self) -> bool:
        """Whether a good part of its URLs look endless: then the rest is no better, unless the section ends."""
        return self._odd >= FEW and 16 * self._odd >= self.came and not self.ends

    def add(self, inner: bool, odd: bool) -> None:
        """A ticket came."""
        self.waiting += 1
        self.came += 1
        self._odd += odd
        if inner:
            self.inner += _MEAN
        else:
            self.outer += _MEAN


class Growth:
    """The sections of a host; those beyond so many are one."""

    def __init__(self) -> None:
        self._sections: dict[str, Section] = {}

    def of(self, section: str) -> Section:
        """A section, made on first sight."""
        if section not in self._sections:
            if len(self._sections) >= _SECTIONS:
                section = "*"
            self._sections.setdefault(section, Section())
        return self._sections[section]

    def came(self, section: str, found_on: str, odd: bool = False) -> None:
        """A ticket came, which a page of a section led to; ``odd``: it looks endless."""
        self.of(section).add(section == found_on, odd)

    def taken(self, section: str) -> None:
        """A ticket is visited, or refused."""
        grown = self.of(section)
        grown.waiting = max(0, grown.waiting - 1)
        grown.taken += 1
        grown.inner -= grown.inner * _MEAN
        grown.outer -= grown.outer * _MEAN
