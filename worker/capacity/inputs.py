"""The figures that a plan is made of, read and checked: prices, and what a page costs. BadInput for what cannot be."""

import tomllib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from gregor.worker.base.errors import BadInput, why
from gregor.worker.capacity.types import Costs, Prices

LEAST: Final = 1e-9
MOST: Final = 1e12
"""Beyond these nothing is a cost, and the arithmetic would overflow."""


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One cost: measured (``date``, ``command``) or ``assumed``, why. ``bench``: its name in build/bench.json."""

    value: float
    unit: str
    date: str = ""
    command: str = ""
    assumed: str = ""
    bench: str = ""

    @property
    def source(self) -> str:
        """Where it is from, for people."""
        return f"assumed: {self.assumed}" if self.assumed else f"measured {self.date}: {self.command}"


Figures = dict[str, Figure]


class Inputs(NamedTuple):
    """Prices, and costs each with its source."""

    prices: Prices
    figures: Figures

    @property
    def costs(self) -> Costs:
        """The bare numbers."""
        return msgspec.convert({name: figure.value for name, figure in self.figures.items()}, Costs)


class _Benched(msgspec.Struct, frozen=True):
    value: float


def read(bench: str | None = None, assumed: Iterable[str] = ()) -> Inputs:
    """The files beside this one, then what a file of `make bench` measured, then what is given as NAME=VALUE."""
    figures = msgspec.convert(_toml("costs.toml"), Figures)
    if bench is not None:
        figures |= _measured(figures, bench)
    for text in assumed:
        figures |= _assumed(figures, text)
    return Inputs(msgspec.convert(_toml("prices.toml"), Prices), figures)


def _toml(name: str) -> dict[str, object]:
    return tomllib.loads((resources.files(__package__) / name).read_text("utf-8"))


def _measured(figures: Figures, file: str) -> Figures:
    """What the file measured anew."""
    try:
        benched = msgspec.json.decode(Path(file).read_bytes(), type=dict[str, _Benched])
    except OSError as error:
        raise BadInput(f"--bench: {file}: {why(error)}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"--bench: {file} is not what `make bench` writes: {error}") from error
    fresh = {
        name: Figure(
            _sane(f"{file}: {figure.bench}", benched[figure.bench].value), figure.unit, command=file, date="--bench"
        )
        for name, figure in figures.items()
        if figure.bench in benched
    }
    if not fresh:
        names = ", ".join(figure.bench for figure in figures.values() if figure.bench)
        raise BadInput(f"--bench: {file} has none of {names}")
    return fresh


def _assumed(figures: Figures, text: str) -> Figures:
    name, separator, value = text.partition("=")
    if not separator:
        raise BadInput(f"--assume wants NAME=VALUE, not {text!r}")
    if name not in figures:
        raise BadInput(f"--assume: {name!r} is none of {', '.join(figures)}")
    try:
        number = float(value)
    except ValueError as error:
        raise BadInput(f"--assume: {name} must be a number, not {value!r}") from error
    number = _sane(f"--assume: {name}", number)
    if number > 1 and name in Costs.SHARES:
        raise BadInput(f"--assume: {name} must be at most 1, not {value}")
    return {name: Figure(number, figures[name].unit, assumed="--assume")}


def _sane(name: str, number: float) -> float:
    if not LEAST <= number <= MOST:  # also what is no number
        raise BadInput(f"{name} must be from {LEAST:g} to {MOST:g}, not {number:g}")
    return number
