"""The file of a model: data, safe to read from anyone. Pure.

A line names the format, its version and the sha256 of what follows: a record in msgpack of which every number is
checked before it is used. Nothing in it is code, and none of it is run.
"""

import hashlib
import math
import re
import sys
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.topic.features import BITS

VERSION: Final = 1
"""Of the format, and of what features are: a model holds for the words that it was made of alone."""
LARGEST: Final = 64 << 20
"""Bytes of a file."""
MOST_CLASSES: Final = 64
MOST_WEIGHTS: Final = 2_000_000
"""In all: each takes some 30 bytes of a worker's memory at most."""
LONGEST_NAME: Final = 100
"""Characters of a class."""
_HEAD: Final = re.compile(rb"gregor page model ([0-9]{1,9}) sha256=([0-9a-f]{64})\n")


class ModelData(msgspec.Struct, frozen=True, kw_only=True):
    """What a model knows: how much each feature speaks for each class."""

    classes: Annotated[tuple[str, ...], Meta(max_length=MOST_CLASSES)]
    """Their names."""
    examples: Annotated[tuple[int, ...], Meta(max_length=MOST_CLASSES)]
    """How many pages of each it was made of."""
    bias: Annotated[tuple[float, ...], Meta(max_length=MOST_CLASSES)]
    """What each class has before anything is known of a page."""
    features: bytes
    """Numbers of features, ascending, 4 bytes each, the lowest first."""
    weights: bytes
    """For each class those of all features, 4 bytes each, as IEEE 754 has them, the lowest first."""

    def numbers(self) -> Sequence[int]:
        """The numbers of features."""
        numbers: Sequence[int] = _read("I", self.features)
        return numbers

    def of_classes(self) -> list[Sequence[float]]:
        """The weights of each class, by feature."""
        size = len(self.features)
        return [_read("f", self.weights[at * size : (at + 1) * size]) for at in range(len(self.classes))]


def model_data(
    classes: tuple[str, ...],
    examples: tuple[int, ...],
    bias: tuple[float, ...],
    numbers: list[int],
    weights: list[list[float]],
) -> ModelData:
    """That of numbers."""
    return ModelData(
        classes=classes,
        examples=examples,
        bias=bias,
        features=_packed("I", numbers),
        weights=b"".join(_packed("f", of_class) for of_class in weights),
    )


def encode(model: ModelData) -> bytes:
    """The file."""
    data = msgspec.msgpack.encode(model)
    return f"gregor page model {VERSION} sha256={hashlib.sha256(data).hexdigest()}\n".encode() + data


def decode(file: bytes, name: str) -> ModelData:
    """Read it; ``name``: of the file. Raises `BadInput` with one line."""
    head = _HEAD.match(file)
    name = one_line(name, 200)
    if head is None:
        raise BadInput(f"{name} is no model: `gregor classify train` makes one")
    if int(head[1]) != VERSION:
        raise BadInput(
            f"{name} is a model of version {int(head[1])}, and version {VERSION} is read here: train it again"
        )
    data = file[head.end() :]
    if hashlib.sha256(data).hexdigest().encode() != head[2]:
        raise BadInput(f"{name} is damaged: its checksum does not hold; take a whole copy, or train it again")
    try:
        model = msgspec.msgpack.decode(data, type=ModelData)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadInput(f"{name} is damaged: {one_line(str(error))}") from None
    if wrong := _wrong(model):
        raise BadInput(f"{name} is damaged: {wrong}")
    return model


def _wrong(model: ModelData) -> str:
    """What cannot be in a model."""
    count = len(model.classes)
    if not 2 <= count <= MOST_CLASSES or len(set(model.classes)) != count:
        return f"it wants 2 to {MOST_CLASSES} different classes"
    if any(wrong_class(name) for name in model.classes):
        return "a class has no name that can be shown"
    if len(model.examples) != count or len(model.bias) != count or min(model.examples) < 0:
        return "its classes and their numbers do not go together"
    if len(model.features) % 4 or len(model.weights) != count * len(model.features):
        return "its features and weights do not go together"
    if len(model.weights) > 4 * MOST_WEIGHTS:
        return f"it has more than {MOST_WEIGHTS} weights"
    numbers = model.numbers()
    if numbers and (numbers[-1] >> BITS or any(before >= after for before, after in pairwise(numbers))):
        return "its features are out of order"
    if not all(map(math.isfinite, model.bias)) or not all(map(math.isfinite, _read("f", model.weights))):
        return "a weight is no finite number"
    return ""


def wrong_class(name: str) -> str:
    """Why a text cannot name a class; "" if it can."""
    if not name.strip() or name != name.strip():
        return "it is empty, or has white space around it"
    if len(name) > LONGEST_NAME:
        return f"it has more than {LONGEST_NAME} characters"
    return "" if name.isprintable() else "it has characters that cannot be shown"


def _read(kind: Literal["I", "f"], data: bytes) -> Any:
    numbers = array(kind, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _packed(kind: Literal["I", "f"], values: list[Any]) -> bytes:
    numbers = array(kind, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
