"""Generated inputs for the fuzzer: words of each format put together, samples of it damaged, small ones blown up.

An input is determined by its kind, seed and number, so that a failing one can be made again.
"""

import base64
import json
import random
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 65536
"""Size to which one input in a hundred is blown up; most are below 2 KB."""


@dataclass(frozen=True, slots=True)
class Language:
    """What inputs of a kind are made of: `words` are put together at random, `samples` are damaged."""

    words: tuple[bytes, ...]
    samples: tuple[bytes, ...]


def make(kind: str, seed: int, number: int) -> bytes:
    """Input `number` of a kind under a seed."""
    chance = random.Random(f"{kind} {seed} {number}")
    language = LANGUAGES[kind]
    if chance.random() < 0.5:
        data = _spoken(language, chance)
    else:
        data = chance.choice(language.samples)
        for _ in range(chance.randint(1, 8)):
            data = _damaged(data, language, chance)
    if chance.random() < 0.01:
        data = data * (MAX_BYTES // (len(data) + 1) + 1)
    return data[:MAX_BYTES]


def _spoken(language: Language, chance: random.Random) -> bytes:
    words = chance.choices(language.words, k=chance.randint(1, 40))
    return b"".join(word if chance.random() < 0.95 else _noise(chance) for word in words)


def _damaged(data: bytes, language: Language, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    to = min(len(data), at + chance.randint(0, 20))
    match chance.randrange(6):
        case 0:
            return data[:at] + data[to:]
        case 1:
            return data[:at] + chance.choice(language.words) + data[at:]
        case 2:
            return data[:at] + data[at:to] * chance.randint(2, 50) + data[to:]
        case 3:
            return data[:at] + _noise(chance) + data[to:]
        case 4:
            return data[:at]
        case _:
            other = chance.choice(language.samples)
            return data[:at] + other[chance.randint(0, len(other)) :]


def _noise(chance: random.Random) -> bytes:
    """Random bytes, or characters of the kind that break text handling."""
    if chance.random() < 0.5:
        return chance.randbytes(chance.randint(1, 8))
    return chance.choice(ODD)


ODD = (
    *(
        character.encode()
        for character in "\u2028\u200b\u202e\ufeff\ufffd\U0001f600éßİı\u0301ﬀ。\u3000\x00\x1b\x7f\x85"
    ),
    *(b"\xed\xa0\x80", b"\xff\xfe", b"\xfe\xff", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"%00", b"%", b"%zz", b"\r", b"\n"),
    *(b"9" * 400, b"-1", b"1e999", b"0x7f", b"&#0;", b"&#x110000;", b"\\", b"//", b"..", b"A" * 300),
)


def _languages() -> dict[str, Language]:
    """The languages of fuzz_languages.json: words and samples as text, samples that are none in base64."""
    told = json.loads(Path(__file__).with_name("fuzz_languages.json").read_text(encoding="utf-8"))
    return {
        kind: Language(
            words=tuple(word.encode() for word in parts["words"]),
            samples=(*map(str.encode, parts["samples"]), *map(base64.b64decode, parts["binary"])),
        )
        for kind, parts in told.items()
    }


LANGUAGES = _languages()
