"""What is learnt of the URL space of one host: its shapes, sections and session ids. Pure, bounded in memory."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from gregor.schemas.messages import decode, encode
from gregor.schemas.parts import LearntShapes
from gregor.worker.links.chains import Chains
from gregor.worker.links.echoes import Words
from gregor.worker.links.session_ids import SessionIds
from gregor.worker.links.shape_score import LED, SPENT, STALE, SUNK, Shape
from gregor.worker.links.shapes import REPEATING, counted, numbers, shapes, target_of, view

SHAPES: Final = 64
"""Shapes of a host that are remembered, and sections."""
FEW_OTHERS: Final = 8
"""Of so many pages whose URLs have ids in one place, one may have them in another."""
KEPT_SHAPES: Final = 16
"""Shapes of a host that are kept in its record."""


class Frame:
    """What is around the words in the URLs of a section that may be ids: of a catalogue it is nearly always the same,
    while a session goes from page to page."""

    __slots__ = ("_common", "_others", "_same")

    def __init__(self, frame: str) -> None:
        self._common = frame
        self._same = self._others = 0

    def learn(self, frame: str) -> None:
        """A page of the section was stored."""
        if frame == self._common:
            self._same += 1
        else:
            self._others += 1

    def holds(self, frame: str) -> bool:
        """Whether a URL has the one that pages of its section have."""
        return frame == self._common and FEW_OTHERS * self._others <= self._same


class KnownHost:
    """The pages of a host, as far as they tell of its URL space."""

    __slots__ = ("changed", "copied", "echoes", "frames", "fresh", "sections", "sessions", "shapes", "trials")

    def __init__(self, copied: bool = False, echoes: bool = False) -> None:
        """``copied``: its first page has the content of another page; ``echoes``: and so has that of the host that led
        to it."""
        self.copied, self.echoes = copied, echoes
        self.shapes: OrderedDict[str, Shape] = OrderedDict()
        self.changed = False
        """A shape was spent, was found to be endless, or opened again since its record was made."""
        self.sections: dict[str, int] = {}
        self.frames: dict[str, Frame] = {}
        self.sessions = SessionIds()
        self.fresh = 0
        """Pages that brought something new."""
        self.trials = 0
        """Pages in vain of shapes that were spent."""

    def learn(
        self, key: str, target: str, words: Callable[[], Words] | None, *, copy_of: str, via: str, chains: Chains
    ) -> bool:
        """A page was stored: whether it brought something new. ``words`` gives those of its text, if it has any;
        ``copy_of``: the target of the page of this host that has the same content; ``via``: the key of the page of this
        host that led here; both may be empty. ``chains``: the lines of all hosts."""
        shown, copied = view(target), bool(copy_of)
        names, part = shown.shapes, shown.section
        if copied and _is_the_copy(copy_of, target, names):
            copied = False
            self._blame(copy_of)
        if part in self.sections or len(self.sections) < SHAPES:
            self.sections[part] = self.sections.get(part, 0) + 1
            if shown.frame:
                self.frames.setdefault(part, Frame(shown.frame)).learn(shown.frame)
        fresh = self._learn_shapes(target, names, words, copied, lambda step: chains.add(key, via, step))
        self.sessions.learn(target, fresh)
        self.fresh += fresh
        if fresh and via:
            self._credit(names, via)
        return fresh

    def note_nearly(self, target: str, near: bool) -> None:
        """A page was stored, and is a near-duplicate of another one or not: that orders its like and refuses none."""
        for name in shapes(target):
            if (shape := self.shapes.get(name)) is not None:
                shape.note_nearly(near)

    def kept(self, refused: tuple[tuple[str, str], ...]) -> bytes:
        """What of it a later owner should know, some thousand octets at most: those of its shapes that sank, the worst
        first, and what was ``refused`` last."""
        self.changed = False
        worst = sorted(self.shapes.items(), key=lambda entry: entry[1].score, reverse=True)[:KEPT_SHAPES]
        shapes = tuple(shape.kept(name) for name, shape in worst if shape.score >= SUNK)
        return encode(LearntShapes(self.fresh, self.trials, shapes, refused)) if shapes or refused else b""

    def recall(self, learnt: bytes) -> tuple[tuple[str, str], ...]:
        """Go on from what an earlier owner kept; gives what it refused last. Raises `msgspec.MsgspecError` or
        OverflowError if that is damaged."""
        kept = decode(learnt, LearntShapes)
        shapes = {shape.name: Shape.of(shape) for shape in kept.shapes[:KEPT_SHAPES]}
        self.shapes.update(shapes)
        self.fresh, self.trials = kept.fresh, kept.trials
        return kept.refused

    def line(self, shape: Shape, target: str, via: str) -> int:
        """How far pages in vain led on to a URL of a shape: what is below its own page is as endless as the paths in
        which segments repeat are."""
        repeating = self.shapes.get(REPEATING)
        if repeating is None or not target.startswith(f"{target_of(via).rpartition('/')[0]}/"):
            return shape.line
        return max(shape.line, repeating.line)

    def _learn_shapes(
        self,
        target: str,
        names: tuple[str, ...],
        words_of: Callable[[], Words] | None,
        copied: bool,
        chain: Callable[[int], int],
    ) -> bool:
        """Whether a page brought something new to all its shapes. ``chain``: makes it part of a line, by a step."""
        if not names:
            return not copied
        row = numbers(target)
        its_shapes = [self._shape(name) for name in names]
        if not copied and all(shape.calm for shape in its_shapes):
            for shape in its_shapes:
                shape.pass_by(row)
            return True
        words = None if words_of is None else words_of()
        states = [shape.state for shape in its_shapes]
        spent = any(shape.score >= SPENT for shape in its_shapes)
        brought = [shape.learn(copied, row, words) for shape in its_shapes]
        if not copied and all(page.fresh for page in brought):
            self._note(its_shapes, states)
            return True
        self.trials += spent
        length = chain(_step(target, names, brought[0].beyond))
        for shape, page in zip(its_shapes, brought, strict=True):
            if not page.fresh:
                shape.line = max(shape.line, length)
        self._note(its_shapes, states)
        return False

    def _note(self, its_shapes: list[Shape], before: list[tuple[bool, bool]]) -> None:
        """Shapes learnt of a page: whether that changed how their URLs stand."""
        self.changed = self.changed or [shape.state for shape in its_shapes] != before

    def _shape(self, name: str) -> Shape:
        if name in self.shapes:
            self.shapes.move_to_end(name)
        else:
            self.shapes[name] = Shape()
            if len(self.shapes) > SHAPES:
                self.shapes.popitem(last=False)
        return self.shapes[name]

    def _blame(self, target: str) -> None:
        """A page was the copy of one that came after it."""
        self._add(shapes(target), STALE)

    def _credit(self, names: tuple[str, ...], via: str) -> None:
        """What leads to something new is no trap itself."""
        led = shapes(target_of(via)) if any(shape.score for shape in self.shapes.values()) else ()
        if set(led).isdisjoint(names):
            self._add(led, -LED)

    def _add(self, names: tuple[str, ...], points: int) -> None:
        its_shapes = [self.shapes[name] for name in names if name in self.shapes]
        states = [shape.state for shape in its_shapes]
        for shape in its_shapes:
            shape.add(points)
        self._note(its_shapes, states)


def _step(target: str, names: tuple[str, ...], beyond: bool) -> int:
    """How far a page in vain leads on. Whole numbers between two others do not, since they have an end; a path in which
    a segment comes twice counts twice."""
    if REPEATING in names:
        return 2
    return int(beyond or not counted(target))


def _is_the_copy(there: str, target: str, names: tuple[str, ...]) -> bool:
    """Whether of two URLs of one host with the same content, the one that came first is the odd one."""
    return set(shapes(there)).isdisjoint(names) and _oddness(there) > _oddness(target)


def _oddness(target: str) -> tuple[bool, int]:
    shown = view(target)
    return shown.endless or shown.combines, len(target)
